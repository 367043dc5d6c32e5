"""Ratings of many players at once from the games between them, anchored to named opponents.

The fit is by maximum likelihood with Newton steps: the expected *score* of a game is the logistic
curve of the Elo difference, and a draw is half a win and half a loss (Bradley-Terry; the meaning of
Elo in rating lists). A draw rate is not assumed, so it may differ from pair to pair, as it does
between a random mover (nine draws in ten) and an engine.

Intervals come from the information matrix. With draws counted as half a win it takes every game
to vary like a win or a loss, which is too wide rather than too narrow.

A player who won or lost everything has no finite rating. `virtual_draws` draws a played pair
keep the fit finite; the default is next to nothing, because 0.2 of them were measured to squeeze
a ladder of 2000 Elo by a fifth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from rookery.arena.elo import ELO_PER_NATURAL_UNIT, UNBOUNDED_ELO, expected_score

VIRTUAL_DRAWS = 0.01
"""Draws added to each pair of players that met, so that clean sweeps stay finite."""


@dataclass(frozen=True)
class Encounter:
    """All games between two players, seen by the first."""

    first: str
    second: str
    wins: float
    draws: float
    losses: float

    @property
    def games(self) -> float:
        """Number of games."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """Points of the first player."""
        return self.wins + self.draws / 2


@dataclass(frozen=True)
class Rating:
    """One player's place on the scale."""

    name: str
    elo: float
    low: float  # ends of the interval; equal to `elo` for an anchor
    high: float
    games: float
    score: float  # points a game over all opponents, [0, 1]
    anchor: bool


def rate(
    encounters: Iterable[Encounter],
    anchors: Mapping[str, float],
    *,
    virtual_draws: float = VIRTUAL_DRAWS,
    confidence: float = 0.95,
) -> dict[str, Rating]:
    """Ratings by name, best first, with the anchors held at theirs.

    Args:
        encounters: results; several entries for one pair are added up.
        anchors: ratings that are held fixed; at least one.
        virtual_draws: draws added to each pair that met.
        confidence: coverage of the intervals.
    """
    if not anchors:
        raise ValueError("ratings need at least one anchor, a player whose rating is given")
    if virtual_draws <= 0:
        raise ValueError(f"virtual_draws must be above 0, got {virtual_draws!r}")
    merged = _merge(encounters)
    names = sorted({n for e in merged for n in (e.first, e.second)} | set(anchors))
    _check_connected(names, merged, anchors)
    index = {name: i for i, name in enumerate(names)}
    free = [i for i, name in enumerate(names) if name not in anchors]
    strengths = np.array([anchors.get(n, _first_guess(anchors)) for n in names], dtype=np.float64)
    strengths /= ELO_PER_NATURAL_UNIT

    covariance = _fit(strengths, free, merged, index, virtual_draws)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    errors = np.zeros(len(names))
    errors[free] = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    ratings = []
    for i, name in enumerate(names):
        elo = anchors.get(name, float(strengths[i]) * ELO_PER_NATURAL_UNIT)
        half = min(z * float(errors[i]) * ELO_PER_NATURAL_UNIT, UNBOUNDED_ELO)
        games, points = _totals(name, merged)
        score = points / games if games else 0.5
        ratings.append(Rating(name, elo, elo - half, elo + half, games, score, name in anchors))
    return {rating.name: rating for rating in sorted(ratings, key=lambda r: -r.elo)}


def _merge(encounters: Iterable[Encounter]) -> list[Encounter]:
    sums: dict[tuple[str, str], list[float]] = {}
    for e in encounters:
        if e.first == e.second:
            raise ValueError(f"{e.first!r} cannot be rated against itself")
        if min(e.wins, e.draws, e.losses) < 0:
            raise ValueError(f"negative counts in {e!r}")
        if e.first < e.second:
            key, counts = (e.first, e.second), (e.wins, e.draws, e.losses)
        else:
            key, counts = (e.second, e.first), (e.losses, e.draws, e.wins)
        total = sums.setdefault(key, [0.0, 0.0, 0.0])
        for k, count in enumerate(counts):
            total[k] += count
    return [Encounter(a, b, *counts) for (a, b), counts in sorted(sums.items()) if sum(counts)]


def _check_connected(
    names: Sequence[str], encounters: Sequence[Encounter], anchors: Mapping[str, float]
) -> None:
    reached = set(anchors)
    while True:
        more = {
            name
            for e in encounters
            for name in (e.first, e.second)
            if (e.first in reached or e.second in reached) and name not in reached
        }
        if not more:
            break
        reached |= more
    lost = [name for name in names if name not in reached]
    if lost:
        raise ValueError(
            f"no chain of games joins {', '.join(lost)} to an anchor ({', '.join(anchors)}); "
            "play at least one of them against a rated opponent"
        )


def _first_guess(anchors: Mapping[str, float]) -> float:
    return sum(anchors.values()) / len(anchors)


def _totals(name: str, encounters: Sequence[Encounter]) -> tuple[float, float]:
    games = points = 0.0
    for e in encounters:
        if name == e.first:
            games, points = games + e.games, points + e.points
        elif name == e.second:
            games, points = games + e.games, points + e.games - e.points
    return games, points


def _fit(
    strengths: NDArray[np.float64],
    free: Sequence[int],
    encounters: Sequence[Encounter],
    index: Mapping[str, int],
    virtual_draws: float,
) -> NDArray[np.float64]:
    """Newton's method on the concave log-likelihood; returns the covariance of the free ones."""
    size = len(strengths)
    information = np.zeros((size, size))
    for _ in range(500):
        gradient = np.zeros(size)
        information = np.zeros((size, size))
        for e in encounters:
            i, j = index[e.first], index[e.second]
            games = e.games + virtual_draws
            expected = expected_score((strengths[i] - strengths[j]) * ELO_PER_NATURAL_UNIT)
            surplus = e.points + virtual_draws / 2 - games * expected
            weight = games * expected * (1 - expected)
            gradient[i] += surplus
            gradient[j] -= surplus
            information[i, i] += weight
            information[j, j] += weight
            information[i, j] -= weight
            information[j, i] -= weight
        step = _newton_step(information[np.ix_(free, free)], gradient[free])
        strengths[list(free)] += step
        if len(free) == 0 or float(np.max(np.abs(step))) < 1e-10:
            break
    return _inverse(information[np.ix_(free, free)])


def _newton_step(
    information: NDArray[np.float64], gradient: NDArray[np.float64]
) -> NDArray[np.float64]:
    if gradient.size == 0:
        return gradient
    ridge = 1e-12 * np.eye(len(gradient))
    step = np.linalg.solve(information + ridge, gradient)
    # At most about 260 Elo a step: far from the solution the curve is flat and Newton leaps.
    largest = float(np.max(np.abs(step)))
    return np.asarray(step * min(1.0, 1.5 / largest) if largest > 0 else step, dtype=np.float64)


def _inverse(information: NDArray[np.float64]) -> NDArray[np.float64]:
    if information.size == 0:
        return information
    return np.asarray(
        np.linalg.inv(information + 1e-12 * np.eye(len(information))), dtype=np.float64
    )
