#!/usr/bin/env bash
# Install a wheel into a new virtual environment, without a compiler, npm or the checkout, and play
# everything that ships. Usage: check_wheel.sh WHEEL PYTHON
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
wheel=$(realpath "$1")
python=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

signature=$(sed -n 's/^SIGNATURE = //p' "$here/tests/core/test_alphabeta.py")
began=$(date +%s)
"$python" -m venv "$folder/venv"
# Programs of the system that could compile or fetch are out of reach.
mkdir "$folder/bin"
for name in env sh bash uname; do ln -s "$(command -v $name)" "$folder/bin/$name"; done
cd "$folder"
env PATH="$folder/bin" "$folder/venv/bin/python" -m pip install --quiet \
    --disable-pip-version-check --no-compile --only-binary rookery,numpy -c "$here/constraints.txt" "$wheel"
echo "installed in $(($(date +%s) - began)) s: $(du -sm "$folder/venv" | cut -f1) MB with Python's" \
    "own packages, the wheel $(du -k "$wheel" | cut -f1) kB"
env PATH="$folder/bin" "$folder/venv/bin/python" "$here/scripts/check_installation.py" "$signature"
