#!/usr/bin/env bash
# Check what must exist: for a virtual environment Python 3.11+, to compile its headers and a
# compiler. Prints how to install each missing one. Usage: prerequisites.sh PYTHON [venv|compiler]
set -euo pipefail
python=$1
which=${2:-all}

fail() {
    echo "rookery: $1" >&2
    exit 1
}

command -v "$python" > /dev/null ||
    fail "no '$python' found; install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "$("$python" --version) is too old; name a Python 3.11 or newer: make PYTHON=/path/to/python3"
"$python" -c 'import ensurepip, venv' 2> /dev/null ||
    fail "this Python cannot make virtual environments; on Debian: apt-get install python3-venv"
[ "$which" = venv ] && exit 0
"$python" -c 'import os, sysconfig, sys
sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' ||
    fail "Python.h is missing; on Debian: apt-get install python3-dev"
[ -n "${CXX:-}" ] || command -v c++ > /dev/null ||
    fail "no C++ compiler found; on Debian: apt-get install g++"
