"""Networks and samples for tests of the engine's training."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rookery import Game
from rookery._core import pack_samples, play_random_plies

Weights = dict[str, NDArray[np.float32]]
PAWNS = np.array([1, 3, 3, 5, 9, 0], dtype=np.float32)


def random_games(count: int, seed: int = 0) -> list[Game]:
    """Play 1 to 120 random plies each; games that ended are replaced by others."""
    games: list[Game] = []
    while len(games) < count:
        game = Game()
        play_random_plies(game, 1 + (7 * seed) % 120, seed)
        seed += 1
        if game.outcome() is None:
            games.append(game)
    return games


def random_samples(count: int, seed: int = 0) -> NDArray[np.uint8]:
    """Pack the positions of such games with random scores and results."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(-900, 901, count).tolist()
    results = rng.integers(-1, 2, count).tolist()
    return pack_samples(random_games(count, seed), scores, results, list(range(count)))


def random_weights(hidden: int, seed: int = 0, buckets: int = 8, size: float = 0.1) -> Weights:
    """Draw weights that reach every range of the activation: clipped, linear and zero."""
    rng = np.random.default_rng(seed)

    def draw(*shape: int) -> NDArray[np.float32]:
        return (size * rng.standard_normal(shape)).astype(np.float32)

    return {
        "feature_weights": draw(768, hidden),
        "feature_bias": draw(hidden) + np.float32(0.3),
        "output_weights": draw(buckets, 2 * hidden),
        "output_bias": draw(buckets),
    }


def material_weights(hidden: int = 16, sign: float = 1.0) -> Weights:
    """Make a network that counts material and nothing else; with sign -1 it gives material away."""
    weights = {
        "feature_weights": np.zeros((768, hidden), dtype=np.float32),
        "feature_bias": np.zeros(hidden, dtype=np.float32),
        "output_weights": np.zeros((8, 2 * hidden), dtype=np.float32),
        "output_bias": np.zeros(8, dtype=np.float32),
    }
    # The first sum is the viewer's own material, about 40 pawns at the start.
    weights["feature_weights"][:384, 0] = np.repeat(PAWNS / 50, 64)
    weights["feature_bias"][0] = 0.1
    weights["output_weights"][:, 0] = 1.9 * sign
    weights["output_weights"][:, hidden] = -1.9 * sign
    return weights
