"""Conversions between scores and values.

A value is the expected result of the side to move in [-1, 1]; an expected score is the same in
[0, 1]. There are two scales of scores:

- Engine scores of the native search, its networks and its training samples: SCORE_SCALE units
  per unit of logit, so that the expected score is sigmoid(score / 400) and the value
  tanh(score / 800). Labels from other engines use this scale as well.
- Centipawns of UCI, for display: tanh(centipawns / 347), the logistic curve of Elo ratings with a
  centipawn worth one Elo.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import value_of_score

__all__ = [
    "CENTIPAWN_SCALE", "LARGEST_CENTIPAWNS", "SCORE_SCALE", "centipawns_of_value",
    "expected_of_logits", "expected_of_scores", "scores_of_values", "value_of_centipawns",
    "value_of_score",
]  # fmt: skip

SCORE_SCALE = 400.0  # VALUE_SCALE of core/nnue/network.h
CENTIPAWN_SCALE = 800.0 / math.log(10.0)
LARGEST_CENTIPAWNS = 20_000  # clamp of displayed values

Numbers = NDArray[np.float64]


def scores_of_values(values: Numbers) -> Numbers:
    """Engine scores of values in (-1, 1), the inverse of `value_of_score`."""
    return 2.0 * SCORE_SCALE * np.arctanh(values)


def expected_of_logits(logits: NDArray[Any]) -> Numbers:
    """Expected scores in [0, 1] of a network's raw output."""
    return np.asarray(1.0 / (1.0 + np.exp(-logits)))


def expected_of_scores(scores: NDArray[Any]) -> Numbers:
    """Expected scores in [0, 1] of engine scores."""
    return expected_of_logits(scores / SCORE_SCALE)


def value_of_centipawns(centipawns: float) -> float:
    """Value of a UCI score in centipawns."""
    return float(np.tanh(centipawns / CENTIPAWN_SCALE))


def centipawns_of_value(value: float) -> int:
    """Centipawns to display for a value; 0 for a value that is not finite."""
    if not math.isfinite(value):
        return 0
    if abs(value) >= 1.0:
        return LARGEST_CENTIPAWNS if value > 0 else -LARGEST_CENTIPAWNS
    centipawns = round(CENTIPAWN_SCALE * math.atanh(value))
    return max(-LARGEST_CENTIPAWNS, min(LARGEST_CENTIPAWNS, centipawns))
