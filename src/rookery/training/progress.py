"""What the loop reports: to the display while a run is going, and at its end to the caller."""

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
    """The state of a run after an iteration, for the display."""

    counters: Counters
    budget: Budget
    metrics: Metrics
    seconds: float  # of the last iteration
    rating: str  # last evaluation in words, or ""


class View(Protocol):
    """Displays a run while it is going."""

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
    finished: bool  # the budget is used up, or all is learnt; otherwise the run was stopped
    ratings: list[dict[str, Any]]
