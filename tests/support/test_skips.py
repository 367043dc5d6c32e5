"""Skipped tests are listed by reason, and CI refuses reasons that are not on the list."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.paths import TESTS

ALLOWED = "needs the data folder: set ROOKERY_DATA to it"
REFUSED = "needs a holiday"


def run_pytest(folder: Path, reason: str, ci: str, *options: str) -> tuple[int, str]:
    """Run three tests, two of them skipped, and a skipped module; exit status and output."""
    (folder / "test_some.py").write_text(
        "import pytest\n"
        f"@pytest.mark.skipif(True, reason={reason!r})\n"
        "def test_one(): pass\n"
        f"def test_two(): pytest.skip({reason!r})\n"
        "def test_three(): pass\n"
    )
    (folder / "test_module.py").write_text(
        f"import pytest\npytest.skip({reason!r}, allow_module_level=True)\n"
    )
    words = [sys.executable, "-m", "pytest", "-p", "support.skips", "-p", "no:cacheprovider"]
    environment = os.environ | {"CI": ci, "PYTHONPATH": str(TESTS)}
    done = subprocess.run(
        [*words, *options, str(folder)], cwd=folder, env=environment, capture_output=True, text=True
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("reason", "ci", "status", "options"),
    [
        (ALLOWED, "true", 0, ()),
        (REFUSED, "true", 1, ()),
        (REFUSED, "true", 1, ("-n", "2")),
        (REFUSED, "", 0, ()),
    ],
)
def test_skips_are_listed_and_ci_fails_on_others_than_agreed(
    tmp_path: Path, reason: str, ci: str, status: int, options: tuple[str, ...]
) -> None:
    found, output = run_pytest(tmp_path, reason, ci, *options)
    assert found == status, output
    assert f"    3  {reason}" in output
    assert ("not allowed in CI" in output) == (status == 1)
    assert "1 passed, 3 skipped" in output
