"""Values and policies of networks without torch, as the players of the base install use them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rookery._core import BatchEvaluator, Game, legal_actions_batch
from rookery.base.extras import how_to_install
from rookery.base.scales import SCORE_SCALE
from rookery.nets.evaluator import short_name, without_torch
from rookery.nets.model_file import info_of
from rookery.players.alphabeta import read_network

NEEDS_TORCH = f"needs torch: {how_to_install('train')}"


class PlainNetwork:
    """A network in its native form or in NumPy."""

    def __init__(self, name: str, origin: str, data: bytes) -> None:
        """Load it; a ValueError if its family has no such form."""
        self._engine = read_network(name) if info_of(data, origin).family == "nnue" else None
        self._evaluator: Any = None if self._engine is not None else without_torch(name)
        if self._engine is None and self._evaluator is None:
            raise ValueError(f"looking into {short_name(name)} {NEEDS_TORCH}")

    def evaluate(self, games: Sequence[Game]) -> tuple[list[float], list[float] | None]:
        """Values in [-1, 1] for the sides to move, and the logits of the first position's moves."""
        if self._engine is not None:
            scores = np.array([self._engine.evaluate(game) for game in games])
            return [float(value) for value in np.tanh(scores / (2.0 * SCORE_SCALE))], None
        evaluator = self._evaluator
        if isinstance(evaluator, BatchEvaluator):
            return [float(value) for value in evaluator.values(games)], None
        legal, offsets = legal_actions_batch(games, evaluator.actions)
        observations = np.stack([game.encode(evaluator.observation) for game in games])
        logits, values = evaluator.evaluate(observations, legal, offsets)
        return [float(value) for value in values], [float(logit) for logit in logits[: offsets[1]]]
