"""Random play of blind chess: turns per second of the referee, with lists of requests and senses.

Choosing the random sense and request is part of every measurement. A turn is a sense and a move.
"""

from __future__ import annotations

import numpy as np

from rookery._core import BlindVectorGames
from rookery.bench.measure import Comparison, Participant, Result, rate
from rookery.bench.peer_process import interleave_with_peers

NUM_GAMES = 256  # few enough to stay in the caches
TURNS_PER_CALL = 20
PEER = "reconchess_random"


def random_play(observe: bool, seed: int = 1) -> Participant:
    """Uniformly random play in BlindVectorGames, one thread."""
    games = BlindVectorGames(NUM_GAMES, observe=observe)
    rng = np.random.default_rng(seed)

    def work() -> int:
        senses = rng.integers(0, 64, (TURNS_PER_CALL, NUM_GAMES))
        draws = rng.random((TURNS_PER_CALL, NUM_GAMES))
        for sense, draw in zip(senses, draws, strict=True):
            games.step(sense)
            offsets = games.legal_offsets
            chosen = offsets[:-1] + (draw * np.diff(offsets)).astype(np.int64)
            games.step(games.legal_actions[chosen])
        return TURNS_PER_CALL * NUM_GAMES

    return lambda seconds: rate(work, seconds)


def run() -> Result:
    """Run the benchmark."""
    participants = {"referee": random_play(False), "with observations": random_play(True)}
    values, peers, missing = interleave_with_peers(participants, {PEER: [PEER]})
    comparisons = [
        Comparison(
            peer.label, values[PEER], values["referee"], f"the referee alone; {peer.conditions}"
        )
        for peer in peers.values()
    ]
    conditions = f"{NUM_GAMES} games at once, one thread, requests and senses"
    details = {"with observations turns/s": values["with observations"]}
    return Result(values["referee"], "turns/s", conditions, comparisons, missing, details)
