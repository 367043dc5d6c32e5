"""Elo differences with intervals, from single games or from colour-swapped pairs.

Two games from one opening are not independent, so a match is summarised by its *pentanomial*: the
number of pairs in which the first player scored 0, 1/2, 1, 3/2 and 2 points. The error of the match
follows from the variance of the pair scores; the variance of single games overstates it.

Everything is finite at 0 % and 100 %: the score has a Wilson interval in which the number of games
is replaced by the effective number that the pair variance implies.

A few pairs that happen to agree would claim false certainty. While the observed variance is below
that of a single virtual pair, half lost and half won, such a pair is added: with full weight at
zero variance, falling to none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

ELO_PER_NATURAL_UNIT = 400.0 / math.log(10.0)
# Normalised Elo is this times the distance of the score from one half in standard deviations of
# one game (M. Van den Bergh, "Comments on Normalized Elo").
NORMALIZED_ELO_PER_SIGMA = 800.0 / math.log(10.0)
# The end of an interval that a score of 0 % or 100 % leaves open; finite, so that it fits in JSON.
UNBOUNDED_ELO = 4000.0

TRINOMIAL_SCORES = (0.0, 0.5, 1.0)
PENTANOMIAL_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)


def expected_score(elo: float) -> float:
    """Return the expected score in [0, 1] of a player who is `elo` points stronger (logistic)."""
    if elo >= 0:
        return 1.0 / (1.0 + math.exp(-elo / ELO_PER_NATURAL_UNIT))
    power = math.exp(elo / ELO_PER_NATURAL_UNIT)
    return power / (1.0 + power)


def elo_of_score(score: float) -> float:
    """Return the Elo difference at which `score` is expected, within +-`UNBOUNDED_ELO`."""
    if not 0.0 <= score <= 1.0:
        raise ValueError(f"score {score!r} is outside [0, 1]")
    if score <= 0.0:
        return -UNBOUNDED_ELO
    if score >= 1.0:
        return UNBOUNDED_ELO
    elo = ELO_PER_NATURAL_UNIT * (math.log(score) - math.log1p(-score))
    return max(-UNBOUNDED_ELO, min(UNBOUNDED_ELO, elo))


@dataclass(frozen=True)
class EloEstimate:
    """Strength of the first player relative to the second."""

    score: float  # mean points per game, [0, 1]
    elo: float  # logistic Elo difference; at 0 % and 100 % of a score half a game closer to 50 %
    elo_low: float  # ends of the interval
    elo_high: float
    normalized_elo: float  # see NORMALIZED_ELO_PER_SIGMA
    normalized_error: float  # half the interval of `normalized_elo`
    los: float  # likelihood of superiority, [0, 1]
    confidence: float  # coverage of the interval, for example 0.95
    unbounded: str  # "", "above" (scored 100 %) or "below" (scored 0 %)


def estimate_from_games(
    wins: int, draws: int, losses: int, confidence: float = 0.95
) -> EloEstimate:
    """Estimate from independent games (trinomial counts)."""
    _check_counts((losses, draws, wins))
    return _estimate((losses, draws, wins), TRINOMIAL_SCORES, 1, confidence)


def estimate_from_pairs(pentanomial: Sequence[int], confidence: float = 0.95) -> EloEstimate:
    """Estimate from colour-swapped pairs, counted by points: 0, 1/2, 1, 3/2, 2."""
    if len(pentanomial) != 5:
        raise ValueError(f"a pentanomial has 5 counts, got {list(pentanomial)!r}")
    _check_counts(pentanomial)
    return _estimate(pentanomial, PENTANOMIAL_SCORES, 2, confidence)


def pentanomial_of(pair_points: Sequence[float]) -> list[int]:
    """Count pairs by points (0, 1/2, 1, 3/2, 2) of the first player."""
    counts = [0] * 5
    for points in pair_points:
        index = points * 2
        if index != int(index) or not 0 <= index <= 4:
            raise ValueError(f"a pair cannot score {points!r} points")
        counts[int(index)] += 1
    return counts


def moments(counts: Sequence[float], scores: Sequence[float]) -> tuple[float, float, float]:
    """Return total, mean and (population) variance of an outcome distribution."""
    total = float(sum(counts))
    if total <= 0:
        return 0.0, 0.5, 0.0
    mean = sum(c * s for c, s in zip(counts, scores, strict=True)) / total
    variance = sum(c * (s - mean) ** 2 for c, s in zip(counts, scores, strict=True)) / total
    return total, mean, variance


def wilson_interval(score: float, effective_games: float, z: float) -> tuple[float, float]:
    """Return the Wilson score interval of a proportion, a subset of [0, 1]."""
    if effective_games <= 0:
        return 0.0, 1.0
    z2 = z * z / effective_games
    centre = (score + z2 / 2) / (1 + z2)
    half = math.sqrt(z2 * score * (1 - score) + z2 * z2 / 4) / (1 + z2)
    return max(0.0, centre - half), min(1.0, centre + half)


def _check_counts(counts: Sequence[int]) -> None:
    if any(count < 0 for count in counts):
        raise ValueError(f"counts must not be negative, got {list(counts)!r}")


def _estimate(
    counts: Sequence[int], scores: Sequence[float], games_each: int, confidence: float
) -> EloEstimate:
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence {confidence!r} is outside (0, 1)")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    total, score, variance = moments(counts, scores)
    games = total * games_each
    if total == 0:
        return EloEstimate(
            0.5, 0.0, -UNBOUNDED_ELO, UNBOUNDED_ELO, 0.0, UNBOUNDED_ELO, 0.5, confidence, ""
        )
    unbounded = "above" if score == 1.0 else "below" if score == 0.0 else ""
    units, mean, spread = moments(_with_virtual_unit(counts, total, score, variance), scores)
    # The effective number of independent games is the binomial variance of one game divided by the
    # variance of one unit (a game, or a pair's mean). At 0 % and 100 % it is the number of games.
    if unbounded:
        low, high = wilson_interval(score, games, z)
    else:
        low, high = wilson_interval(mean, units * mean * (1 - mean) / spread, z)
    # At 0 % and 100 % subtract half a game, so that more games still mean more Elo.
    shrunk = min(max(score, 0.5 / games), 1 - 0.5 / games)
    elo_low = -UNBOUNDED_ELO if unbounded == "below" else elo_of_score(low)
    elo_high = UNBOUNDED_ELO if unbounded == "above" else elo_of_score(high)
    elo = min(max(elo_of_score(shrunk), elo_low), elo_high)

    sigma_game = math.sqrt(spread * games_each)
    los = NormalDist().cdf((mean - 0.5) / math.sqrt(spread / units))
    return EloEstimate(
        score=score,
        elo=elo,
        elo_low=elo_low,
        elo_high=elo_high,
        normalized_elo=(mean - 0.5) / sigma_game * NORMALIZED_ELO_PER_SIGMA,
        normalized_error=z * NORMALIZED_ELO_PER_SIGMA / math.sqrt(units * games_each),
        los=los,
        confidence=confidence,
        unbounded=unbounded,
    )


def _with_virtual_unit(
    counts: Sequence[int], total: float, score: float, variance: float
) -> list[float]:
    """Add a virtual unit (game or pair), half lost, half won, if the variance is tiny."""
    # The variance that one such unit among `total` causes by itself.
    floor = (0.25 + (score - 0.5) ** 2) / total
    weight = max(0.0, 1.0 - variance / floor)
    padded = [float(count) for count in counts]
    padded[0] += weight / 2
    padded[-1] += weight / 2
    return padded
