"""Play, train and measure on Linux without the calls that macOS and Windows lack."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from support.needs import needs_stockfish
from support.paths import PROJECT
from support.tiny_recipes import TINY_RECIPES

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(PROJECT / "tests"), "OMP_NUM_THREADS": "1"}
pytestmark = pytest.mark.parametrize("system", ["macos", "windows"])


def command(system: str, *words: str) -> list[str]:
    return [sys.executable, "-m", "support.other_system", system, *words]


def run(system: str, folder: Path, *words: str, given: str = "") -> str:
    done = subprocess.run(
        command(system, *words),
        cwd=folder,
        env=ENVIRONMENT,
        input=given,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_page_opens(system: str, tmp_path: Path) -> None:
    words = command(system, "play", "--no-browser", "--port", "8320", "--games", str(tmp_path))
    server = subprocess.Popen(words, cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        found = re.search(rb"http://\S+", server.stdout.readline())
        assert found is not None
        with urllib.request.urlopen(found.group().decode(), timeout=60) as answer:
            assert b"Rookery" in answer.read()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)


def test_a_chess_program_can_use_the_engine(system: str, tmp_path: Path) -> None:
    given = "uci\nisready\nposition startpos moves e2e4\ngo nodes 500\n"
    text = run(system, tmp_path, "uci", "rookery", given=given)
    assert "uciok" in text and "readyok" in text


def test_a_match_is_played_and_kept(system: str, tmp_path: Path) -> None:
    words = ["arena", "rookery,nodes=200", "greedy", "--games", "2", "--pgn", "match.pgn", "--json"]
    result = json.loads(run(system, tmp_path, *words))
    assert result["games"] == 2 and not any(result["faults"].values())
    assert (tmp_path / "match.pgn").read_text().count("[Result ") == 2


@needs_stockfish
def test_other_engines_play(system: str, tmp_path: Path) -> None:
    words = ["arena", "stockfish,depth=1", "random", "--games", "2", "--json"]
    result = json.loads(run(system, tmp_path, *words))
    assert result["wins"] == 2 and not any(result["faults"].values())


@pytest.mark.parametrize("name", ["alphazero", "engine"])
def test_a_run_trains_and_resumes(system: str, name: str, tmp_path: Path) -> None:
    tiny = TINY_RECIPES[name]
    settings = [word for setting in tiny.settings for word in ("--set", setting)]
    words = ["train", tiny.recipe, "--run", "run", "--budget", "2it", *settings, "--json"]
    assert json.loads(run(system, tmp_path, *words))["iterations"] == 2
    more = json.loads(run(system, tmp_path, "resume", "run", "--budget", "+1it", "--json"))
    assert more["iterations"] == 3
