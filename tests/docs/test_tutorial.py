"""The commands of docs/tutorial.md run in their order, with budgets of seconds."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from support.paths import PROJECT
from support.tiny_recipes import TINY_RECIPES

pytest.importorskip("torch", reason="needs the extra train")
TEXT = (PROJECT / "docs" / "tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```console\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
COMMANDS = [line[2:] for block in BLOCKS for line in block.splitlines() if line.startswith("$ ")]
ROOKERY = str(Path(sys.executable).with_name("rookery"))
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def smaller(command: str) -> list[str]:
    """The same with two iterations, two games and a tiny network."""
    words = shlex.split(command)
    for option, value in (("--budget", "2it"), ("--games", "2")):
        if option in words:
            words[words.index(option) + 1] = value
    if words[1] == "train":
        for setting in TINY_RECIPES["engine"].settings:
            words += ["--set", setting]
    return [ROOKERY, *words[1:]]


def test_the_tutorial_runs(tmp_path: Path) -> None:
    assert [shlex.split(command)[1] for command in COMMANDS] == [
        "doctor", "players", "train", "arena", "arena", "tree", "report", "play",
    ]  # fmt: skip
    for command in COMMANDS[:-1]:
        done = subprocess.run(
            smaller(command),
            cwd=tmp_path,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, (command, done.stderr)
        if shlex.split(command)[1] == "train":
            for words in ("play it   rookery play runs/first", "rate it", "report"):
                assert words in done.stdout
    assert (tmp_path / "tree.svg").stat().st_size > 100
    assert (tmp_path / "report.html").stat().st_size > 1000
    arguments = [*smaller(COMMANDS[-1]), "--no-browser", "--port", "8340", "--games", str(tmp_path)]
    server = subprocess.Popen(arguments, cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        found = re.search(rb"http://\S+", server.stdout.readline())
        assert found is not None
        with urllib.request.urlopen(found.group().decode(), timeout=60) as answer:
            assert answer.status == 200
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)
