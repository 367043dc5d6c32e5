"""How much of a budget in time evaluations may take (`run.evaluation_share`)."""

from __future__ import annotations

import math


class EvaluationTime:
    """The time of the evaluations of one session; half of what is left is for the last one."""

    def __init__(self, share: float) -> None:
        """`share`: of the budget."""
        self._share = share
        self._spent = 0.0  # seconds, of all evaluations
        self._last = 0.0  # and of the last one

    def add(self, seconds: float) -> None:
        """Count an evaluation."""
        self._last = seconds
        self._spent += seconds

    def left(self, budget: float | None, is_last: bool) -> float:
        """Seconds that the next evaluation may take; `budget` in seconds, None: not in time."""
        if budget is None:
            return math.inf
        left = self._share * budget - self._spent
        return left if is_last else left / 2

    def is_too_short(self, budget: float | None) -> bool:
        """Whether one between the first and the last would take longer than is left for it."""
        return self._last > self.left(budget, is_last=False)
