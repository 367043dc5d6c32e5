"""docs/blind.md says what is true: its examples run, its table lists the players."""

import re
import subprocess
import sys

import pytest

from rookery.blind.registry import KINDS
from support.paths import PROJECT

TEXT = (PROJECT / "docs" / "blind.md").read_text()


@pytest.mark.parametrize("code", re.findall(r"^```python\n(.*?)^```$", TEXT, re.M | re.S))
def test_example_runs(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout, done.stderr


def test_every_player_is_in_the_table() -> None:
    named = {name.split(",")[0] for name in re.findall(r"^\| `([^`]+)` \|", TEXT, re.M)}
    assert set(KINDS) <= named
