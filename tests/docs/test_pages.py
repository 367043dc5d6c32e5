"""The examples of some pages of docs/ run, each in a process of its own.

That of RLlib is run by tests/envs/test_rllib.py.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.paths import PROJECT

DOCS = PROJECT / "docs"
PAGES = ("boards", "envs", "measuring", "probes")
# Packages that an example needs, by a word in its code.
NEEDS = {"aec": "pettingzoo", "sb3_contrib": "sb3_contrib", "torch": "torch"}
BLOCKS = [
    pytest.param(code, id=f"{name}-{number}")
    for name in PAGES
    for number, code in enumerate(
        re.findall(r"^```python\n(.*?)^```$", (DOCS / f"{name}.md").read_text(), re.M | re.S)
    )
    if "ray.rllib" not in code
]


@pytest.mark.parametrize("code", BLOCKS)
def test_example_runs(code: str, tmp_path: Path) -> None:
    for word, module in NEEDS.items():
        if word in code:
            pytest.importorskip(module)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},  # the other core has tests of its own
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout  # every example prints what came out


def test_every_example_is_found() -> None:
    texts = [(DOCS / f"{name}.md").read_text() for name in PAGES]
    fences = sum(len(re.findall(r"^```python$", text, re.M)) for text in texts)
    assert len(BLOCKS) == fences - 1 >= 9
