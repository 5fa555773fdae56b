#!/usr/bin/env bash
# Checks on Linux that the program compiles for macOS, as far as possible without linking it. It needs rustup, and Python
# with pip and venv. The C libraries are compiled by zig, which has the headers of macOS.
set -euo pipefail
cd "$(dirname "$0")/.."

target=aarch64-apple-darwin
python=$(tools/python_packages.sh release)
tools=$(dirname "$python")
export PATH="$tools:$PATH"
rustup target add "$target"
CC_aarch64_apple_darwin="$tools/maturin zig cc -- -target aarch64-macos-none"
AR_aarch64_apple_darwin="$tools/maturin zig ar --"
export CC_aarch64_apple_darwin AR_aarch64_apple_darwin
RUSTFLAGS="-D warnings" cargo check --locked --target "$target"
