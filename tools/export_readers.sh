#!/usr/bin/env bash
# Installs the Python packages with which tests read exports, below the target folder, and prints the path of their
# Python. It needs Python with pip and venv.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=tools/export_readers.txt folder=${CARGO_TARGET_DIR:-target}/tools/export-readers
if ! cmp --quiet "$packages" "$folder/installed.txt"; then
    python3 -m venv --clear "$folder" >&2
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$packages" >&2
    cp "$packages" "$folder/installed.txt"
fi
echo "$(cd "$folder" && pwd)/bin/python"
