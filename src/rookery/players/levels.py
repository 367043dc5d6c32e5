"""Levels of strength for playing people: weaker, but not silly.

A weak level searches few nodes and adds noise to the score of each line before choosing the best.
Small differences are easily overlooked, large ones hardly ever, so that mistakes look like those of
a person who saw less. There are no random blunders: a move that loses a queen is only chosen if the
search did not see the loss.

The Elo figures of `LEVELS` were measured by `benchmarks/calibrate_levels.py`, in games against the
rungs of the ladder, with one network: they hold for that network alone (`CALIBRATED_FOR`). Any
other network can play at these levels too, but with a strength that nobody has measured.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Level:
    """One level; the choice among its lines is a softmax of score / noise."""

    elo: int  # measured with the network CALIBRATED_FOR
    nodes: int  # searched per move
    noise: float  # scale, in units of engine scores
    lines: int  # best moves to choose from (MultiPV)


CALIBRATED_FOR = "2d2431ced35d260aba121038bbb698e3e6511748e5e33f6f6fca1984699fe9f8"
"""SHA-256 of the model file with which the Elo figures of LEVELS were measured."""

# Levels 1 to 20. Nodes grow by half at each level, noise falls a little faster towards the top.
LEVELS: tuple[Level, ...] = (
    Level(920, 30, 340.0, 20),
    Level(1000, 45, 280.0, 18),
    Level(1070, 65, 235.0, 16),
    Level(1100, 95, 195.0, 14),
    Level(1120, 140, 165.0, 12),
    Level(1150, 200, 140.0, 11),
    Level(1180, 300, 105.0, 10),
    Level(1270, 500, 80.0, 8),
    Level(1370, 800, 60.0, 7),
    Level(1440, 1200, 47.0, 6),
    Level(1520, 1900, 36.0, 6),
    Level(1710, 3000, 28.0, 5),
    Level(1900, 4500, 22.0, 4),
    Level(1970, 7000, 17.0, 4),
    Level(2030, 10_000, 13.0, 4),
    Level(2170, 15_000, 9.0, 3),
    Level(2310, 22_000, 6.0, 3),
    Level(2430, 33_000, 3.0, 2),
    Level(2560, 50_000, 0.0, 1),
    Level(2680, 80_000, 0.0, 1),
)
LOWEST_ELO, HIGHEST_ELO = LEVELS[0].elo, LEVELS[-1].elo


def is_calibrated(model: bytes) -> bool:
    """Whether the Elo figures of the levels were measured with this model file."""
    return hashlib.sha256(model).hexdigest() == CALIBRATED_FOR


def level_parameters(level: int) -> Level:
    """Parameters of a level from 1 to 20."""
    if not 1 <= level <= len(LEVELS):
        raise ValueError(f"level {level} is not from 1 to {len(LEVELS)}")
    return LEVELS[level - 1]


def elo_parameters(elo: int) -> Level:
    """Parameters interpolated between the two nearest levels; nodes on a logarithmic scale."""
    if not LOWEST_ELO <= elo <= HIGHEST_ELO:
        raise ValueError(f"elo {elo} is not from {LOWEST_ELO} to {HIGHEST_ELO}")
    upper = next(level for level in LEVELS if level.elo >= elo)
    lower = LEVELS[max(0, LEVELS.index(upper) - 1)]
    if upper.elo == elo or lower is upper:
        return upper
    share = (elo - lower.elo) / (upper.elo - lower.elo)
    nodes = math.exp((1 - share) * math.log(lower.nodes) + share * math.log(upper.nodes))
    noise = (1 - share) * lower.noise + share * upper.noise
    return Level(elo, round(nodes), noise, max(lower.lines, upper.lines))


def choose_line(scores: Sequence[int], noise: float, rng: np.random.Generator) -> int:
    """Index of the line to play, given scores for the side to move, best first.

    Adding Gumbel noise and taking the maximum draws from a softmax of score / noise.
    """
    if noise <= 0 or len(scores) < 2:
        return 0
    noisy = np.asarray(scores, np.float64) + noise * rng.gumbel(size=len(scores))
    return int(noisy.argmax())
