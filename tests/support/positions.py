"""Batches of positions of random games, as evaluators take them."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from rookery import VectorGames

Batch = tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int64]]


def random_batches(
    observation: str, plies: int, dtype: Literal["uint8", "float32"], games: int = 32
) -> list[Batch]:
    """Observations, legal actions and offsets of `games` games after each of so many plies.

    Both colours are to move, and there are endings: games begin with up to 80 random plies.
    """
    played = VectorGames(games, observation, seed=3, dtype=dtype, random_plies=(0, 80))
    played.reset(3)
    rng = np.random.default_rng(1)
    found: list[Batch] = []
    for _ in range(plies):
        legal, offsets = played.legal_actions.copy(), played.legal_offsets.copy()
        found.append((played.observations.copy(), legal, offsets))
        places = rng.integers(offsets[:-1], offsets[1:])
        played.step(legal[places].astype(np.int64))
    return found
