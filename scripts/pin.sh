#!/usr/bin/env bash
# Install the newest versions that fit pyproject.toml into a virtual environment and write them
# to constraints.txt. torch keeps its version: some builds of it come with gigabytes of GPU
# libraries, so change it deliberately. Usage: pin.sh VENV EXTRA ...
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
    echo "# Exact versions of everything, for reproducible builds: every 'pip install' uses '-c constraints.txt'."
    echo "# Made by 'make constraints' from a working .venv. torch has no '+cpu' suffix so that any build of that version fits."
    "$venv/bin/python" -m pip freeze --all | grep -Ev '^(pip==|rookery|-e )' |
        sed -E 's/^(torch==[0-9.]+)\+.*/\1/'
} > constraints.new
mv constraints.new constraints.txt
