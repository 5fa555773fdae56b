#!/usr/bin/env bash
# Builds the release of the last commit twice, in two folders, and verifies that the two programs are equal and contain
# no path of this machine. This takes as long as two cold builds.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
commit=$(git rev-parse HEAD)
trap 'rm -rf "$work"' EXIT

for name in one another/folder; do
    mkdir -p "$work/$name"
    git archive "$commit" | tar -x -C "$work/$name"
    (cd "$work/$name" && CARGO_TARGET_DIR=target cargo build --quiet --release --locked)
    sha256sum "$work/$name/target/release/tessera"
done

fail() { printf 'error: %s\n' "$1" >&2; exit 1; }
for path in "${CARGO_HOME:-$HOME/.cargo}" "$HOME/" "$work"; do
    if grep -qaF "$path" "$work/one/target/release/tessera"; then
        fail "the program contains the path $path"
    fi
done
cmp "$work/one/target/release/tessera" "$work/another/folder/target/release/tessera" \
    || fail "the two programs differ"
echo "The two programs are equal and contain no path of this machine."
