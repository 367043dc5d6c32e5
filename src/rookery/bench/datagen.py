"""Engine self-play: training positions per second, on all cores.

There is no peer: published numbers depend on the machine and the node limit.
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
GAMES = 8  # per call


def generator(threads: int, nodes: int) -> Participant:
    """Play games with a pseudo-random network."""
    weights = tensors_of(new_weights(HIDDEN, 8, torch.Generator().manual_seed(1)))
    games = DataGenerator(weights, seed=1, soft_nodes=nodes, adjudicate=False, threads=threads)
    numbers = itertools.count(0, GAMES)

    return lambda seconds: rate(lambda: len(games.run(next(numbers), GAMES).samples), seconds)


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
    conditions = f"pseudo-random network, {HIDDEN} wide, {NODES} nodes per move, {cores} threads"
    details = {name: value for name, value in values.items() if name != "all"}
    return Result(values["all"], "positions/s", conditions, details=details)
