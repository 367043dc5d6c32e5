#!/usr/bin/env bash
# Install Rookery with some extras and nothing else: from a wheel of this version in dist/ if there
# is one that fits this machine, otherwise compiled here. Usage: install_small.sh PYTHON VENV EXTRA ...
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
venv=$2
shift 2
pip=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile)

scripts/prerequisites.sh "$python" venv
test -x "$venv/bin/python" || "$python" -m venv "$venv"
"$venv/bin/python" scripts/requirements.py "$@" > "$venv/requirements.txt"
"${pip[@]}" -c constraints.txt -r "$venv/requirements.txt"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
if ls "dist/rookery-$version"-*.whl > /dev/null 2>&1 &&
    "${pip[@]}" --no-index --find-links dist --no-deps --only-binary :all: "rookery==$version" \
        2> /dev/null; then
    exit 0
fi
scripts/prerequisites.sh "$python" compiler
# What only the build needs stays out of the environment.
PIP_CONSTRAINT=$PWD/constraints.txt "${pip[@]}" --no-deps --editable .
