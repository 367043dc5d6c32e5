"""Engines that label positions: started anew after a fault, not after being stopped."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rookery import Game
from rookery.engines.faults import EngineFault
from rookery.engines.label_engine import LabelEngine, SteadyEngine
from rookery.engines.process import kill_engines

ENGINE = """
import os, sys
for line in sys.stdin:
    if line.startswith("uci\\n"):
        print("uciok", flush=True)
    elif line.startswith("go"):
        print("info depth 1 score cp 20 pv e2e4", flush=True)
        print("bestmove e2e4", flush=True)
    elif line.startswith("ucinewgame"):
        os._exit(3)
"""


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture
def engine(tmp_path: Path, log: list[str]) -> SteadyEngine:
    path = tmp_path / "engine.py"
    path.write_text(ENGINE)
    found = SteadyEngine([sys.executable, str(path)], 1, 1, log.append)
    assert found.ask(lambda one: one.rank(Game()))[0].move == "e2e4"
    return found


def test_an_engine_that_crashes_is_started_anew(engine: SteadyEngine, log: list[str]) -> None:
    crashes = [True]

    def work(one: LabelEngine) -> str:
        if crashes.pop() if crashes else False:
            one.new_game()
        return one.rank(Game())[0].move

    assert engine.ask(work) == "e2e4"
    assert len(log) == 1 and "exit code 3; it is started anew" in log[0]
    engine.close()


def test_an_engine_that_we_stop_is_not(engine: SteadyEngine, log: list[str]) -> None:
    """As Ctrl-C does, from another thread."""

    def work(one: LabelEngine) -> str:
        kill_engines()
        for _ in range(1000):  # its guard ends it, which may take longer than an answer
            one.rank(Game())
        return "still there"

    with pytest.raises(EngineFault):
        engine.ask(work)
    assert log == []
