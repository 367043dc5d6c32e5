"""docs/walkthrough.md runs as one program: each of its blocks continues the one before."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.paths import PROJECT

TEXT = (PROJECT / "docs" / "walkthrough.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def test_walkthrough_runs(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(BLOCKS)],
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "43 legal moves" in done.stdout
    assert "rookery,depth=6 h5f7" in done.stdout  # the mate that the page promises
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "runs" / "tiny" / "checkpoints" / "00000003").is_dir()
