"""A UCI engine around a player of tests/support/thinkers.py, as a process: uci_driver.py [KIND]."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rookery._core import Game
from rookery.players.base import Decision, Limits, Player
from rookery.players.random import RandomPlayer
from rookery.uci.stream import serve
from support.thinkers import SlowThinker


class Stuck(RandomPlayer):
    """Never answers."""

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        time.sleep(3600)
        raise AssertionError


def slow_to_load() -> Player:
    time.sleep(2.0)
    return SlowThinker()


def refuses_to_load() -> Player:
    raise ValueError("the network is missing; train one")


KINDS = {
    "slow": SlowThinker,
    "quick": lambda: SlowThinker(depth_seconds=0.0),
    "deaf": lambda: SlowThinker(deaf=True),
    "stuck": lambda: Stuck("stuck"),
    "loading": slow_to_load,
    "failing": refuses_to_load,
}

if __name__ == "__main__":
    kind = sys.argv[1] if len(sys.argv) > 1 else "slow"
    serve(KINDS[kind], name=kind, seed=1)
