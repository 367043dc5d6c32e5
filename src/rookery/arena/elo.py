"""Elo differences with intervals, from single games or from colour-swapped pairs.

Two games from one opening are not independent, so a match is summed up by its *pentanomial*:
how many pairs the first player finished with 0, 1/2, 1, 3/2 and 2 points. The spread of the
pair scores is the honest error of the match; the spread of single games overstates it.

Everything here is finite at 0 % and 100 %: the interval of the score is Wilson's, with the
number of games replaced by the effective number that the pair variance implies.

A few pairs that agree by chance would claim a certainty that nobody has, so a virtual pair, half
lost and half won, is added where the spread seen is smaller than such a pair alone would make it:
with its whole weight where there is no spread, with none from there on (all larger matches).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

ELO_PER_NATURAL_UNIT = 400.0 / math.log(10.0)
NORMALIZED_ELO_PER_SIGMA = 800.0 / math.log(10.0)
"""Normalised Elo: the distance of the score from one half in standard deviations of one game,
times this constant (M. Van den Bergh, "Comments on Normalized Elo")."""

UNBOUNDED_ELO = 4000.0
"""Stands for "no bound on this side": what is reported as the far end of an interval when a
score of 0 % or 100 % leaves that side open. Finite, so that every JSON reader can take it."""

TRINOMIAL_SCORES = (0.0, 0.5, 1.0)
PENTANOMIAL_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)


def expected_score(elo: float) -> float:
    """Expected score in [0, 1] of a player who is `elo` points stronger (logistic curve)."""
    if elo >= 0:
        return 1.0 / (1.0 + math.exp(-elo / ELO_PER_NATURAL_UNIT))
    power = math.exp(elo / ELO_PER_NATURAL_UNIT)
    return power / (1.0 + power)


def elo_of_score(score: float) -> float:
    """Elo difference at which `score` is expected; limited to +-`UNBOUNDED_ELO`."""
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
    """Strength of the first player over the second, from that player's point of view."""

    score: float  # mean points a game, [0, 1]
    elo: float  # logistic Elo difference; at 0 % and 100 % the estimate for half a game less
    elo_low: float  # ends of the interval
    elo_high: float
    normalized_elo: float  # distance from equality in standard deviations of a game, scaled
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
    """Estimate from colour-swapped pairs.

    Args:
        pentanomial: numbers of pairs in which the first player scored 0, 1/2, 1, 3/2, 2 points.
        confidence: coverage of the interval.
    """
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
    """Total, mean and (population) variance of an outcome distribution."""
    total = float(sum(counts))
    if total <= 0:
        return 0.0, 0.5, 0.0
    mean = sum(c * s for c, s in zip(counts, scores, strict=True)) / total
    variance = sum(c * (s - mean) ** 2 for c, s in zip(counts, scores, strict=True)) / total
    return total, mean, variance


def wilson_interval(score: float, effective_games: float, z: float) -> tuple[float, float]:
    """Wilson's interval for a proportion; keeps inside [0, 1] and open at neither end."""
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
    # The variance of one unit (a game, or a pair's mean) against the binomial variance of one
    # game tells how many independent games the sample is worth. At 0 % and 100 % the games
    # themselves are the only measure.
    if unbounded:
        low, high = wilson_interval(score, games, z)
    else:
        low, high = wilson_interval(mean, units * mean * (1 - mean) / spread, z)
    # At the very ends half a game is taken away, so that more games still mean more Elo.
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
    """Counts with a virtual unit (a game, a pair), half lost, half won, if the spread is tiny."""
    # The variance that one such unit among `total` makes by itself.
    floor = (0.25 + (score - 0.5) ** 2) / total
    weight = max(0.0, 1.0 - variance / floor)
    padded = [float(count) for count in counts]
    padded[0] += weight / 2
    padded[-1] += weight / 2
    return padded
