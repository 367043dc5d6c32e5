"""Joint ratings of many players from the games between them, relative to anchors.

A maximum-likelihood fit by Newton's method: the expected score of a game is the logistic curve of
the Elo difference, and a draw counts as half a win and half a loss (Bradley-Terry, as in rating
lists). No draw rate is assumed: it differs from pair to pair, and a random mover draws nine games
in ten.

The intervals come from the information matrix. They treat every game as a win or a loss, so with
draws they are too wide rather than too narrow.

A player who won or lost every game has no finite rating, so `virtual_draws` draws are added to
each pair that met. The default is small: 0.2 draws compressed a ladder of 2000 Elo by a fifth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from rookery.arena.elo import ELO_PER_NATURAL_UNIT, UNBOUNDED_ELO

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Encounter:
    """All games between two players, from the first player's point of view."""

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
    """One player's rating."""

    name: str
    elo: float
    low: float  # ends of the interval; equal to `elo` for an anchor
    high: float
    games: float
    score: float  # points per game over all opponents, [0, 1]
    anchor: bool


@dataclass(frozen=True)
class Fit:
    """Joint ratings with their errors; the order of names is alphabetical."""

    names: list[str]
    elos: Floats  # [N]
    covariance: Floats  # [N, N], in Elo squared; zero for anchors


def rate(
    encounters: Iterable[Encounter],
    anchors: Mapping[str, float],
    *,
    virtual_draws: float = 0.01,
) -> dict[str, Rating]:
    """Ratings by name, best first, with 95 % intervals.

    Args:
        encounters: results; several entries for one pair are added up.
        anchors: ratings that are held fixed; at least one.
        virtual_draws: draws added to each pair that met.
    """
    merged = _merge(encounters)
    found = fit(merged, anchors, virtual_draws=virtual_draws)
    z = NormalDist().inv_cdf(0.975)
    totals = _totals(merged)
    ratings = []
    for i, name in enumerate(found.names):
        elo = float(found.elos[i])
        half = min(z * float(np.sqrt(found.covariance[i, i])), UNBOUNDED_ELO)
        games, points = totals.get(name, (0.0, 0.0))
        score = points / games if games else 0.5
        ratings.append(Rating(name, elo, elo - half, elo + half, games, score, name in anchors))
    return {rating.name: rating for rating in sorted(ratings, key=lambda r: -r.elo)}


def fit(
    encounters: Iterable[Encounter],
    anchors: Mapping[str, float],
    *,
    virtual_draws: float = 0.01,
    players: Iterable[str] = (),
    spread: float = 0.0,
) -> Fit:
    """Fit all ratings at once.

    Args:
        encounters: results.
        anchors: ratings that are held fixed; at least one.
        virtual_draws: draws added to each pair that met.
        players: further players, who may not have played yet.
        spread: standard deviation in Elo of a normal prior around the anchors' mean; 0: none, and
            then a chain of games must join every player to an anchor.
    """
    if not anchors:
        raise ValueError("ratings need at least one anchor, a player whose rating is given")
    if virtual_draws <= 0:
        raise ValueError(f"virtual_draws must be above 0, got {virtual_draws!r}")
    merged = _merge(encounters)
    met = {name for each in merged for name in (each.first, each.second)}
    names = sorted(met | set(anchors) | set(players))
    if not spread:
        _check_connected(names, merged, anchors)
    middle = sum(anchors.values()) / len(anchors)
    strengths = np.array([anchors.get(name, middle) for name in names]) / ELO_PER_NATURAL_UNIT
    covariance = np.zeros((len(names), len(names)))
    free = [i for i, name in enumerate(names) if name not in anchors]
    if free:
        precision = (ELO_PER_NATURAL_UNIT / spread) ** 2 if spread else 0.0
        prior = (middle / ELO_PER_NATURAL_UNIT, precision)
        index = {name: i for i, name in enumerate(names)}
        covariance[np.ix_(free, free)] = _fit(strengths, free, merged, index, virtual_draws, prior)
    elos = strengths * ELO_PER_NATURAL_UNIT
    for i, name in enumerate(names):
        elos[i] = anchors.get(name, elos[i])  # without rounding
    return Fit(names, elos, covariance * ELO_PER_NATURAL_UNIT**2)


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
    reached, before = set(anchors), 0
    while len(reached) > before:
        before = len(reached)
        for e in encounters:
            if e.first in reached or e.second in reached:
                reached |= {e.first, e.second}
    lost = [name for name in names if name not in reached]
    if lost:
        raise ValueError(
            f"no chain of games joins {', '.join(lost)} to an anchor ({', '.join(anchors)}); "
            "play at least one of them against a rated opponent"
        )


def _totals(encounters: Sequence[Encounter]) -> dict[str, tuple[float, float]]:
    """Games and points by name."""
    totals: dict[str, tuple[float, float]] = {}
    for e in encounters:
        for name, points in ((e.first, e.points), (e.second, e.games - e.points)):
            games, before = totals.get(name, (0.0, 0.0))
            totals[name] = (games + e.games, before + points)
    return totals


def _fit(
    strengths: Floats,
    free: list[int],
    encounters: Sequence[Encounter],
    index: Mapping[str, int],
    virtual_draws: float,
    prior: tuple[float, float],
) -> Floats:
    """Fit `strengths[free]` by Newton's method on the concave log-likelihood; their covariance.

    `prior` is the mean and the precision (0: none) of each of them.
    """
    size, (mean, precision) = len(strengths), prior
    first = np.array([index[e.first] for e in encounters], np.int64)
    second = np.array([index[e.second] for e in encounters], np.int64)
    games = np.array([e.games for e in encounters]) + virtual_draws
    points = np.array([e.points for e in encounters]) + virtual_draws / 2
    for _ in range(500):
        expected = 1.0 / (1.0 + np.exp(strengths[second] - strengths[first]))
        surplus = points - games * expected
        weight = games * expected * (1 - expected)
        slope = np.bincount(first, surplus, size) - np.bincount(second, surplus, size)
        information = np.diag(np.bincount(first, weight, size) + np.bincount(second, weight, size))
        np.add.at(information, (first, second), -weight)
        np.add.at(information, (second, first), -weight)
        gradient: Floats = slope[free] + precision * (mean - strengths[free])
        curvature = information[np.ix_(free, free)] + (precision + 1e-12) * np.eye(len(free))
        step = np.linalg.solve(curvature, gradient)
        # Far from the solution the curve is flat and Newton overshoots: at most 260 Elo a step.
        largest = float(np.max(np.abs(step)))
        strengths[free] += step / max(1.0, largest / 1.5)
        if largest < 1e-10:
            break
    return np.asarray(np.linalg.inv(curvature))
