#!/usr/bin/env bash
# Installs the Python packages of tools/NAME.txt below the target folder, and prints the path of their Python. It needs
# Python with pip and venv.
#
# usage: tools/python_packages.sh NAME
set -euo pipefail
cd "$(dirname "$0")/.."

packages=tools/$1.txt folder=${CARGO_TARGET_DIR:-target}/tools/$1
if ! cmp --quiet "$packages" "$folder/installed.txt"; then
    python3 -m venv --clear "$folder" >&2
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$packages" >&2
    cp "$packages" "$folder/installed.txt"
fi
echo "$(cd "$folder" && pwd)/bin/python"
