"""Observations per second of every layout, encoded in batches into one array."""

from __future__ import annotations

import numpy as np

from rookery._core import Game, encode_batch, play_random_plies, random_position
from rookery.bench.measure import Participant, Result, interleave, rate
from rookery.encodings import OBSERVATIONS, Layout

BATCH = 256
SECONDS = 0.4  # ten layouts share the time of a benchmark
MAIN_LAYOUT = "planes119"


def make_games(layout: Layout) -> list[Game]:
    """Make positions from random games (for kpk3, random KPK positions)."""
    if layout.name == "kpk3":
        return [Game(random_position("KPvK", seed, "random")) for seed in range(BATCH)]
    games = [Game() for _ in range(BATCH)]
    for seed, game in enumerate(games):
        play_random_plies(game, 10 + seed % 60, seed)
    return games


def encoder(layout: Layout, dtype: str) -> Participant:
    """Encode the same batch repeatedly."""
    games = make_games(layout)
    out = np.zeros((BATCH, *layout.shape), dtype=dtype)

    def work() -> int:
        encode_batch(games, layout.name, out)
        return BATCH

    return lambda seconds: rate(work, seconds)


def run() -> Result:
    """Measure all layouts in turn."""
    participants = {
        f"{layout.name} {dtype}": encoder(layout, dtype)
        for layout in OBSERVATIONS.values()
        for dtype in layout.dtypes
    }
    values = interleave(participants, seconds=SECONDS)
    conditions = f"{MAIN_LAYOUT} float32, batches of {BATCH}, one thread; details for the others"
    main = values[f"{MAIN_LAYOUT} float32"]
    return Result(main, "observations/s", conditions, details=values)
