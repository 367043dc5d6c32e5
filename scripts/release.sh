#!/usr/bin/env bash
# Check, build and verify a release into dist/: sdist, wheel (built from the sdist), documentation,
# checksums. Nothing is published and nothing is tagged: the last lines say how.
# Usage: release.sh BIN
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$PWD/$1
version=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)

fail() {
    echo "release: $1" >&2
    exit 1
}

[ -z "$(git status --porcelain)" ] || fail "there are uncommitted changes; commit them first"
git rev-parse -q --verify "refs/tags/v$version" > /dev/null &&
    fail "v$version exists; set the next version in pyproject.toml"
grep -q "^## $version\b" CHANGELOG.md ||
    fail "CHANGELOG.md has no section '## $version'; rename 'Unreleased' to it"
"$bin/python" -c "import importlib.metadata as m, sys; sys.exit(m.version('rookery') != '$version')" ||
    fail "the installed Rookery is another version; run 'make build'"

make check
rm -rf dist && mkdir dist
"$bin/python" -m build --sdist --no-isolation --outdir dist > /dev/null

# The wheel is made from the sdist, so that nothing in it depends on this checkout.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xzf "dist/rookery-$version.tar.gz" -C "$work"
(
    cd "$work/rookery-$version"
    ROOKERY_LEVELS=${LEVELS:-'baseline;avx2;avx512'} "$bin/python" -m pip wheel --quiet \
        --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$work/wheel" .
)
env PATH="$bin:$PATH" "$bin/auditwheel" repair --plat auto --wheel-dir dist "$work"/wheel/*.whl
scripts/check_wheel.sh dist/*.whl "${PYTHON:-python3}"

make docs
tar -czf "dist/rookery-$version-docs.tar.gz" site
(cd dist && sha256sum -- *.whl *.tar.gz > SHA256SUMS && cat SHA256SUMS)
echo "Rookery $version is in dist/. To sign off: git tag -s v$version, then publish dist/ and the tag."
