"""A UCI engine around a player of `support.thinkers`, as a program: uci_driver.py [KIND]."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rookery._core import Game
from rookery.players.base import Decision, Limits, Player
from rookery.players.bots import RandomPlayer
from rookery.uci.stream import serve
from support.thinkers import SlowThinker


class Stuck(RandomPlayer):
    """Never answers."""

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Sleep for longer than any test waits."""
        time.sleep(3600)
        raise AssertionError("the test should have ended this process")


def slow_to_load() -> Player:
    """Take two seconds, as a large network does."""
    time.sleep(2.0)
    return SlowThinker()


def fail_to_load() -> Player:
    """Fail as a player without its network does."""
    raise ValueError("the network is missing; train one")


KINDS: dict[str, Callable[[], Player]] = {
    "slow": SlowThinker,
    "quick": lambda: SlowThinker(depth_seconds=0.0),
    "deaf": lambda: SlowThinker(deaf=True),
    "stuck": lambda: Stuck("stuck"),
    "loading": slow_to_load,
    "failing": fail_to_load,
}

if __name__ == "__main__":
    kind = sys.argv[1] if len(sys.argv) > 1 else "slow"
    serve(KINDS[kind], name=kind, seed=1)
