"""Training an nnue768 network: positions per second of the native learner.

Peer: the same network in torch (`rookery.nets.nnue`, embedding bags and fused AdamW) on the same
batches. Its features are extracted beforehand; the native learner's time includes that.
"""

from __future__ import annotations

import numpy as np
import torch

from rookery._core import Game, NnueLearner, pack_samples, play_random_plies
from rookery.base.cores import usable_cores
from rookery.bench.measure import Comparison, Participant, Result, interleave, rate
from rookery.nets import make_network
from rookery.nets.nnue import MAX_PIECES, sparse_rows
from rookery.runs.positions import Samples, results

HIDDEN = 64
BATCH = 16384
POSITIONS = 4096  # distinct; repeated to fill a batch
RATE = 1e-3


def make_samples() -> Samples:
    """Make positions from random games with random results."""
    games: list[Game] = []
    seed = 0
    while len(games) < POSITIONS:
        game = Game()
        play_random_plies(game, 10 + seed % 100, seed)
        seed += 1
        if game.outcome() is None:
            games.append(game)
    outcomes = np.random.default_rng(1).integers(-1, 2, POSITIONS).tolist()
    samples = pack_samples(games, [0] * POSITIONS, outcomes, list(range(POSITIONS)))
    return np.tile(samples, (BATCH // POSITIONS, 1))


def native(samples: Samples, hidden: int, threads: int) -> Participant:
    """Train with the native learner."""
    learner = NnueLearner(hidden, 8, threads)
    rng = np.random.default_rng(1)
    for array in learner.weights().values():
        array[:] = 0.1 * rng.standard_normal(array.shape)
    rates = np.full(1, RATE, dtype=np.float32)

    def work() -> int:
        learner.train(samples, 1, BATCH, 0, rates)
        return BATCH

    return lambda seconds: rate(work, seconds)


def with_torch(samples: Samples) -> Participant:
    """Train with torch on one thread."""
    network = make_network("nnue", "nnue768", "none", {"hidden": HIDDEN})
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE, fused=True)
    rows = sparse_rows(samples[:POSITIONS]).repeat(BATCH // POSITIONS, 1)
    target = torch.from_numpy(results(samples))
    mover, opponent, counts = rows[:, :MAX_PIECES], rows[:, MAX_PIECES:-1], rows[:, -1]

    def work() -> int:
        optimizer.zero_grad()
        loss = (torch.sigmoid(network.raw(mover, opponent, counts)) - target).square().mean()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        return BATCH

    return lambda seconds: rate(work, seconds)


def run() -> Result:
    """Run the benchmark."""
    torch.set_num_threads(1)
    samples, cores = make_samples(), usable_cores()
    participants = {
        "native": native(samples, HIDDEN, 1),
        "torch": with_torch(samples),
        f"{cores} threads": native(samples, HIDDEN, cores),
        "128 wide": native(samples, 128, 1),
    }
    values = interleave(participants)
    conditions = f"{HIDDEN} wide, batches of {BATCH}, one thread"
    comparison = Comparison("torch", values["torch"], values["native"], conditions)
    details = {name: values[name] for name in (f"{cores} threads", "128 wide")}
    return Result(values["native"], "positions/s", conditions, [comparison], details=details)
