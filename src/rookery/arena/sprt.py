"""Sequential probability ratio tests, which stop a match as soon as it is decided.

The generalised test (GSPRT) takes, for each hypothesis, the outcome distribution under which the
results are most likely, and compares the log-likelihood ratio of the two with Wald's bounds. There
are two Elo models:

* `logistic`: a hypothesis fixes the expected score, whatever the draw rate;
* `normalized`: it fixes the distance from one half in standard deviations of one game, so that
  the expected length of a test does not depend on draws and openings.

Method: M. Van den Bergh, "A practical introduction to the GSPRT" and "Comments on Normalized
Elo"; both give the maximum-likelihood distributions used below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rookery.arena.elo import (
    NORMALIZED_ELO_PER_SIGMA,
    PENTANOMIAL_SCORES,
    TRINOMIAL_SCORES,
    UNBOUNDED_ELO,
    expected_score,
)

MODELS = ("logistic", "normalized")
EMPTY_COUNT = 1e-3  # replaces zero counts, so that one-sided results have a likelihood (fishtest)


@dataclass(frozen=True)
class Sprt:
    """A test of `elo1` against `elo0`, for the first player."""

    elo0: float  # accepted at the lower bound
    elo1: float  # accepted at the upper bound; above `elo0`
    alpha: float = 0.05  # probability of accepting `elo1` when `elo0` holds
    beta: float = 0.05  # probability of accepting `elo0` when `elo1` holds
    model: str = "normalized"  # one of MODELS

    def __post_init__(self) -> None:
        """Reject hypotheses that cannot be distinguished."""
        if not max(abs(self.elo0), abs(self.elo1)) <= UNBOUNDED_ELO:
            raise ValueError(
                f"SPRT needs ELO0 and ELO1 from -{UNBOUNDED_ELO:g} to {UNBOUNDED_ELO:g}, "
                f"got {self.elo0:g} and {self.elo1:g}"
            )
        if not self.elo0 < self.elo1:
            raise ValueError(f"SPRT needs ELO0 < ELO1, got {self.elo0:g} and {self.elo1:g}")
        if self.model not in MODELS:
            raise ValueError(f"unknown SPRT model {self.model!r}; choose one of {MODELS}")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ValueError(
                f"SPRT error rates must be in (0, 0.5), got {self.alpha:g} and {self.beta:g}"
            )

    @property
    def lower(self) -> float:
        """Log-likelihood ratio at or below which `elo0` is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """Log-likelihood ratio at or above which `elo1` is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def llr_of_games(self, wins: int, draws: int, losses: int) -> float:
        """Return the log-likelihood ratio of independent games."""
        return self._llr((losses, draws, wins), TRINOMIAL_SCORES, 1)

    def llr_of_pairs(self, pentanomial: Sequence[int]) -> float:
        """Return the log-likelihood ratio of colour-swapped pairs (0, 1/2, 1, 3/2, 2 points)."""
        return self._llr(pentanomial, PENTANOMIAL_SCORES, 2)

    def decision(self, llr: float) -> str:
        """Return `"elo1"`, `"elo0"` or `"continue"`."""
        if llr >= self.upper:
            return "elo1"
        return "elo0" if llr <= self.lower else "continue"

    def _llr(self, counts: Sequence[int], scores: Sequence[float], games_each: int) -> float:
        if len(counts) != len(scores) or any(count < 0 for count in counts):
            raise ValueError(f"need {len(scores)} counts of at least 0, got {list(counts)!r}")
        if sum(counts) == 0:
            return 0.0
        filled = [float(count) or EMPTY_COUNT for count in counts]
        total = sum(filled)
        observed = [count / total for count in filled]
        if self.model == "logistic":
            under0 = _likeliest_with_mean(observed, scores, expected_score(self.elo0))
            under1 = _likeliest_with_mean(observed, scores, expected_score(self.elo1))
        else:
            # Distances are per game; the mean of two games has 1/sqrt(2) of a game's deviation.
            unit = math.sqrt(games_each) / NORMALIZED_ELO_PER_SIGMA
            under0 = _likeliest_with_distance(observed, scores, self.elo0 * unit)
            under1 = _likeliest_with_distance(observed, scores, self.elo1 * unit)
        return total * sum(
            p * math.log(q1 / q0) for p, q0, q1 in zip(observed, under0, under1, strict=True)
        )


def _likeliest_with_mean(
    observed: Sequence[float], scores: Sequence[float], mean: float
) -> list[float]:
    """Return the distribution with the given mean under which `observed` is most likely.

    It is q_i = p_i / (1 + x (a_i - mean)), with x the only root at which the q_i have that mean.
    """
    low_score, high_score = min(scores), max(scores)
    if not low_score < mean < high_score:
        raise ValueError(f"no distribution over {list(scores)} has mean {mean!r}")
    # All denominators are positive only for x between these two poles.
    low, high = -1.0 / (high_score - mean), 1.0 / (mean - low_score)

    def excess(x: float) -> float:
        return sum(
            p * (a - mean) / (1 + x * (a - mean)) for p, a in zip(observed, scores, strict=True)
        )

    # `excess` decreases from +infinity to -infinity between the poles, so bisection converges.
    for _ in range(200):
        middle = (low + high) / 2
        if excess(middle) > 0:
            low = middle
        else:
            high = middle
        if high - low <= 1e-15 * max(1.0, abs(low)):
            break
    x = (low + high) / 2
    return [p / (1 + x * (a - mean)) for p, a in zip(observed, scores, strict=True)]


def _likeliest_with_distance(
    observed: Sequence[float], scores: Sequence[float], distance: float
) -> list[float]:
    """Return the likeliest distribution with a mean `distance` standard deviations above 1/2.

    The condition is nonlinear; linearising it at the last solution turns each round into a problem
    with a fixed mean. Every round starts from a distribution that satisfies the condition, because
    only there the linearised problem surely has a solution. Steps that do not raise the likelihood
    are halved, since full steps diverge for distant hypotheses.
    """

    def likelihood(candidate: Sequence[float]) -> float:
        return sum(p * math.log(q) for p, q in zip(observed, candidate, strict=True))

    current = _meet_distance(observed, scores, distance)
    best = likelihood(current)
    for _ in range(100):
        mean, sigma = _mean_and_sigma(current, scores)
        tangent = [a - 0.5 - distance * sigma * (1 + ((mean - a) / sigma) ** 2) / 2 for a in scores]
        target = _likeliest_with_mean(observed, tangent, 0.0)
        step = 1.0
        while step > 1e-6:
            mixed = [(1 - step) * q + step * r for q, r in zip(current, target, strict=True)]
            following = _meet_distance(mixed, scores, distance)
            reached = likelihood(following)
            if abs(reached - best) < 1e-14:
                return following  # converged up to rounding
            if reached > best:
                break
            step /= 2
        else:
            return current
        change = max(abs(q - r) for q, r in zip(following, current, strict=True))
        current, best = following, reached
        if change < 1e-12:
            break
    return current


def _mean_and_sigma(shares: Sequence[float], scores: Sequence[float]) -> tuple[float, float]:
    mean = sum(q * a for q, a in zip(shares, scores, strict=True))
    return mean, math.sqrt(sum(q * (a - mean) ** 2 for q, a in zip(shares, scores, strict=True)))


def _meet_distance(
    shares: Sequence[float], scores: Sequence[float], distance: float
) -> list[float]:
    """Mix `shares` with as few sure wins (or losses) as reach that distance."""

    def mixed(part: float, end: int) -> list[float]:
        whole = [(1 - part) * q for q in shares]
        whole[end] += part
        return whole

    def excess(candidate: Sequence[float]) -> float:
        mean, sigma = _mean_and_sigma(candidate, scores)
        return mean - 0.5 - distance * sigma

    # Sure wins lie above every distance and sure losses below, so bisection converges.
    start = excess(shares)
    end = -1 if start < 0 else 0
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if (excess(mixed(middle, end)) < 0) == (start < 0):
            low = middle
        else:
            high = middle
        if high - low <= 1e-16:
            break
    return mixed(low, end)
