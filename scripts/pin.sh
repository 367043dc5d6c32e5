#!/usr/bin/env bash
# Install the newest versions that fit pyproject.toml into a virtual environment and write them
# to constraints.txt. torch keeps its version: some builds of it come with gigabytes of GPU
# libraries, so that changing it is a decision of its own. Usage: pin.sh VENV EXTRA ...
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1
shift

requirements=$(mktemp)
torch=$(mktemp)
trap 'rm -f "$requirements" "$torch"' EXIT
"$venv/bin/python" scripts/requirements.py "$@" > "$requirements"
grep '^torch==' constraints.txt > "$torch"
"$venv/bin/python" -m pip install --quiet -c "$torch" -r "$requirements"
{
    echo "# Exact versions of everything that .venv holds; every 'pip install' uses this file."
    echo "# Made by 'make constraints'. torch has no suffix, so that a CPU or a GPU build of it fits."
    "$venv/bin/python" -m pip freeze --all | grep -Ev '^(pip==|rookery|-e )' |
        sed -E 's/^(torch==[0-9.]+)\+.*/\1/'
} > constraints.new
mv constraints.new constraints.txt
