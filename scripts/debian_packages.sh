#!/usr/bin/env bash
# Install the Debian packages that some tests and benchmarks need, if this user may.
# What cannot be installed is named, and the tests that need it are skipped. That is a failure only
# with CI=true, where no such test may be skipped.
set -uo pipefail

give_up() {
    echo "$1"
    [ "${CI:-}" = true ] && exit 1
    exit 0
}

packages=(
    stockfish                # opponent, and the peer of the perft benchmark
    gnuchess-book            # Polyglot opening book
    gaviotatb                # Gaviota tablebases of up to three pieces
    polyglot xboard xvfb     # our UCI engine as other programs see it
    chromium chromium-driver # the browser that tests the web page
    nodejs                   # runs the script of the report page
)

command -v dpkg-query > /dev/null || {
    echo "Not a Debian system: tests that need ${packages[*]} look for them in the usual places."
    exit 0 # they may be there; if not, the skipped tests tell
}

missing=()
for package in "${packages[@]}"; do
    dpkg-query --show --showformat='${Status}' "$package" 2> /dev/null |
        grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -eq 0 ]; then
    as_root=(env)
elif sudo -n true 2> /dev/null; then
    as_root=(sudo -n env)
else
    give_up "Missing Debian packages, tests that need them will be skipped: ${missing[*]}
To install them: sudo apt-get install --no-install-recommends ${missing[*]}"
fi

echo "Installing Debian packages: ${missing[*]}"
install=("${as_root[@]}" DEBIAN_FRONTEND=noninteractive apt-get install --yes -qq
    --no-install-recommends "${missing[@]}")
# The package lists may be absent or old; fetch them only if the first attempt shows it.
"${install[@]}" > /dev/null 2>&1 ||
    { "${as_root[@]}" apt-get update -qq > /dev/null && "${install[@]}" > /dev/null; } ||
    give_up "Could not install ${missing[*]}; tests that need them will be skipped."
