"""What the loop tells others: whoever watches a run, and whoever started it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rookery.runs.checkpoint import Counters
from rookery.training.budget import Budget
from rookery.training.recipe import Recipe
from rookery.training.trainer import Metrics


@dataclass(frozen=True)
class Snapshot:
    """What the display is told after each iteration."""

    counters: Counters
    budget: Budget
    metrics: Metrics
    seconds: float  # of the last iteration
    rating: str  # last evaluation in words, or ""


class View(Protocol):
    """Whoever shows a run while it goes on."""

    def start(self, folder: Path, recipe: Recipe, budget: Budget) -> None:
        """A session begins."""
        ...

    def message(self, text: str) -> None:
        """Something worth a line."""
        ...

    def update(self, snapshot: Snapshot) -> None:
        """An iteration is over."""
        ...

    def close(self) -> None:
        """The session is over."""
        ...


@dataclass(frozen=True)
class Outcome:
    """How a session ended; numbers are those of the whole run."""

    run: str
    recipe: str
    seconds: float
    iterations: int
    samples: int
    games: int
    checkpoint: str
    finished: bool  # the budget is used up; otherwise someone stopped the run
    ratings: list[dict[str, Any]]
