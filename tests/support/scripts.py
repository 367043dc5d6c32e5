"""Python code in a process of its own, for what may crash it."""

from __future__ import annotations

import subprocess
import sys


def words_of(code: str) -> list[str]:
    """The words that the code prints; it must end without an error."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()
