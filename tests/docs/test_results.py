"""The table of headline figures in docs/results.md is the recipes' own."""

from __future__ import annotations

import subprocess
import sys

from support.paths import PROJECT


def test_headline_figures_are_those_of_the_recipes() -> None:
    script = PROJECT / "scripts" / "results_table.py"
    done = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
