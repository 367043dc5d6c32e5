"""Ratings of many players at once from the games between them, anchored to named opponents.

Two models, both fitted by maximum likelihood with Newton steps:

* `score` (default): the expected *score* of a game is the logistic curve of the Elo difference
  and a draw is half a win and half a loss (Bradley-Terry; the meaning of Elo in rating lists).
  A draw rate is not assumed, so it may differ from pair to pair, as it does between a random
  mover (nine draws in ten) and an engine.
* `davidson`: wins, draws and losses each have a probability, with one draw parameter for all
  (Davidson 1970). It uses more of the data when draws follow the model and misleads when not.

Intervals come from the information matrix. With draws counted as half a win it takes every game
to vary like a win or a loss, which is too wide rather than too narrow.

A player who won or lost everything has no finite rating. `virtual_draws` draws a played pair
keep the fit finite; the default is next to nothing, because 0.2 of them were measured to squeeze
a ladder of 2000 Elo by a fifth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from rookery.arena.elo import ELO_PER_NATURAL_UNIT, UNBOUNDED_ELO, expected_score

MODELS = ("score", "davidson")
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


@dataclass(frozen=True)
class RatingTable:
    """Ratings, best first, with what is needed to judge them."""

    ratings: tuple[Rating, ...]
    anchors: Mapping[str, float]
    model: str
    draw_parameter: float  # Davidson's nu; 0 for the score model
    misfits: tuple[tuple[str, str, float], ...] = field(default=())
    """(first, second, z): played minus expected points in standard errors, largest first."""

    def __getitem__(self, name: str) -> Rating:
        """The rating of one player by name."""
        for rating in self.ratings:
            if rating.name == name:
                return rating
        raise KeyError(name)


def rate(
    encounters: Iterable[Encounter],
    anchors: Mapping[str, float],
    *,
    model: str = "score",
    virtual_draws: float = VIRTUAL_DRAWS,
    confidence: float = 0.95,
) -> RatingTable:
    """Fit all players to the encounters with the anchors held at their ratings.

    Args:
        encounters: results; several entries for one pair are added up.
        anchors: ratings that are held fixed; at least one.
        model: `score` or `davidson`.
        virtual_draws: draws added to each pair that met.
        confidence: coverage of the intervals.
    """
    if model not in MODELS:
        raise ValueError(f"unknown rating model {model!r}; choose one of {MODELS}")
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

    if model == "score":
        covariance = _fit_score(strengths, free, merged, index, virtual_draws)
        draw_parameter = 0.0
    else:
        draw_parameter, covariance = _fit_davidson(strengths, free, merged, index, virtual_draws)

    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    errors = np.zeros(len(names))
    errors[free] = np.sqrt(np.maximum(np.diagonal(covariance)[: len(free)], 0.0))
    ratings = []
    for i, name in enumerate(names):
        elo = anchors.get(name, float(strengths[i]) * ELO_PER_NATURAL_UNIT)
        half = min(z * float(errors[i]) * ELO_PER_NATURAL_UNIT, UNBOUNDED_ELO)
        games, points = _totals(name, merged)
        score = points / games if games else 0.5
        ratings.append(Rating(name, elo, elo - half, elo + half, games, score, name in anchors))
    ratings.sort(key=lambda r: -r.elo)
    elos = {name: float(strengths[i]) * ELO_PER_NATURAL_UNIT for name, i in index.items()}
    return RatingTable(tuple(ratings), dict(anchors), model, draw_parameter, _misfits(merged, elos))


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


def _fit_score(
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


def _fit_davidson(
    strengths: NDArray[np.float64],
    free: Sequence[int],
    encounters: Sequence[Encounter],
    index: Mapping[str, int],
    virtual_draws: float,
) -> tuple[float, NDArray[np.float64]]:
    """The same with a common draw parameter nu: draw : win : loss = nu : e^(d/2) : e^(-d/2)."""
    size = len(strengths)
    log_nu = 0.0
    order = [*free, size]  # the draw parameter is the last unknown
    information = np.zeros((size + 1, size + 1))
    for _ in range(500):
        gradient = np.zeros(size + 1)
        information = np.zeros((size + 1, size + 1))
        for e in encounters:
            i, j = index[e.first], index[e.second]
            half = min(max((strengths[i] - strengths[j]) / 2, -40.0), 40.0)
            raw = np.array([math.exp(half), math.exp(log_nu), math.exp(-half)])
            probability = raw / raw.sum()
            # Draws alone would only feed nu: a quarter each goes to a win and a loss.
            spare = virtual_draws / 4
            counts = np.array([e.wins + spare, e.draws + 2 * spare, e.losses + spare])
            # Derivatives of the three exponents by (strength i, strength j, log nu).
            slopes = np.array([[0.5, -0.5, 0.0], [0.0, 0.0, 1.0], [-0.5, 0.5, 0.0]])
            where = [i, j, size]
            mean = probability @ slopes
            gradient[where] += counts @ slopes - counts.sum() * mean
            spread = (slopes - mean).T @ (probability[:, None] * (slopes - mean))
            information[np.ix_(where, where)] += counts.sum() * spread
        step = _newton_step(information[np.ix_(order, order)], gradient[order])
        strengths[list(free)] += step[:-1]
        log_nu = min(max(log_nu + float(step[-1]), -20.0), 20.0)
        if float(np.max(np.abs(step))) < 1e-10:
            break
    return math.exp(log_nu), _inverse(information[np.ix_(order, order)])


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


def _misfits(
    encounters: Sequence[Encounter], elos: Mapping[str, float]
) -> tuple[tuple[str, str, float], ...]:
    found = []
    for e in encounters:
        expected = expected_score(elos[e.first] - elos[e.second])
        spread = math.sqrt(max(e.games * expected * (1 - expected), 1e-9))
        found.append((e.first, e.second, (e.points - e.games * expected) / max(spread, 0.5)))
    return tuple(sorted(found, key=lambda item: -abs(item[2])))
