"""Games of a network against itself: positions kept per second, on all cores.

There is no peer: what others publish depends on their machines and node limits.
"""

from __future__ import annotations

import itertools

import torch

from rookery._core import DataGenerator
from rookery.algorithms.engine_learning import new_weights, tensors_of
from rookery.base.cores import usable_cores
from rookery.bench.measure import Participant, Result, interleave, rate

HIDDEN = 64
NODES = 200
GAMES = 8  # of one call


def generator(threads: int, nodes: int) -> Participant:
    """Games of a pseudo-random network."""
    weights = tensors_of(new_weights(HIDDEN, 8, torch.Generator().manual_seed(1)))
    games = DataGenerator(weights, seed=1, soft_nodes=nodes, adjudicate=False, threads=threads)
    numbers = itertools.count(0, GAMES)

    def work() -> int:
        return len(games.run(next(numbers), GAMES).samples)

    return lambda seconds: rate(work, seconds)


def run() -> Result:
    """Measure one thread and all cores."""
    cores = usable_cores()
    values = interleave(
        {
            "all": generator(cores, NODES),
            "one thread": generator(1, NODES),
            "one thread, 1000 nodes": generator(1, 1000),
        }
    )
    conditions = f"pseudo-random network, {HIDDEN} wide, {NODES} nodes a move, {cores} threads"
    details = {name: value for name, value in values.items() if name != "all"}
    return Result(values["all"], "positions/s", conditions, details=details)
