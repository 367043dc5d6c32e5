#!/usr/bin/env bash
# Install the Debian packages that some tests and benchmarks need, if this user may.
# Packages that cannot be installed are listed, and the tests that need them are skipped. With
# CI=true, where these tests may not be skipped, that is a failure.
set -uo pipefail

give_up() {
    echo "$1"
    [ "${CI:-}" = true ] && exit 1
    exit 0
}

packages=(
    stockfish                # opponent, and the peer of the perft benchmark
    gnuchess phalanx         # opponents of the outside scale of ratings
    hoichess fairymax        # the same
    fairy-stockfish          # opponent on small boards
    gnuchess-book            # Polyglot opening book
    gaviotatb                # Gaviota tablebases of up to three pieces
    polyglot xboard xvfb     # test our UCI engine in other programs
    chromium chromium-driver # the browser that tests the web page
    nodejs                   # runs the script of the report page
)

command -v dpkg-query > /dev/null || {
    echo "Not a Debian system: tests that need ${packages[*]} look for them in the usual places."
    exit 0 # they may be installed; if not, tests are skipped
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
# Update the package lists only if the first attempt fails.
"${install[@]}" > /dev/null 2>&1 ||
    { "${as_root[@]}" apt-get update -qq > /dev/null && "${install[@]}" > /dev/null; } ||
    give_up "Could not install ${missing[*]}; tests that need them will be skipped."
