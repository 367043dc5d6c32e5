"""The interface between an algorithm and the training loop.

An algorithm is one class derived from `Trainer`: it is constructed with a `Context`, implements
four methods, and may override three more. The loop calls `iterate` until the budget is used up and
handles the rest: metrics, display, checkpoints, signals, resuming, evaluation, model files.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np

from rookery.runs.state import State, seed_of

if TYPE_CHECKING:
    import torch

    from rookery.cluster.pool import Pool
    from rookery.nets import Network
    from rookery.training.recipe import Recipe  # its pydantic is not part of the base install


class Abandoned(Exception):
    """An iteration gave up because the run must end; its work is discarded."""


def never() -> bool:
    """What may be asked to end something, where nothing does."""
    return False


AnyRecipe = TypeVar("AnyRecipe", bound="Recipe")


@dataclass
class Metrics:
    """What one iteration reports.

    All but `timing` must be determined by the seed: they go to metrics.jsonl, which a resumed run
    reproduces byte for byte.
    """

    samples: int  # positions learnt from
    games: int = 0  # finished
    losses: Mapping[str, float] = field(default_factory=dict)  # a non-finite one ends the run
    values: Mapping[str, float] = field(default_factory=dict)  # other curves
    results: Mapping[str, int] = field(default_factory=dict)  # of the games: wins, draws, ...
    terminations: Mapping[str, int] = field(default_factory=dict)  # checkmate, fifty_moves, ...
    timing: Mapping[str, float] = field(default_factory=dict)  # seconds per part


@dataclass(frozen=True)
class MatchScore:
    """A match of the network against one opponent; counts are (wins, draws, losses).

    Without `is_match` they count positions graded one by one, which have no Elo: `as_white` those
    that can be won, (won, 0, not won), and `as_black` drawn ones, (0, held, not held).
    """

    opponent: str
    as_white: tuple[int, int, int]
    as_black: tuple[int, int, int]
    values: Mapping[str, float] = field(default_factory=dict)  # other measurements
    games: Sequence[str] = ()  # a few as PGN, for games/ and the report
    is_match: bool = True


@dataclass
class Context(Generic[AnyRecipe]):
    """The inputs of an algorithm; the loop updates the counters."""

    recipe: AnyRecipe
    folder: Path  # of the run; replay/ belongs to the algorithm
    workers: int = 1  # cores to use; torch's threads are already set
    device: str = "cpu"  # where torch computes; not "auto"
    iteration: int = 0  # finished so far
    samples: int = 0
    games: int = 0
    progress: float = 0.0  # share of the budget used, [0, 1]; constant during an iteration
    # Whether an iteration should give up: the run was asked to stop, or its time is over.
    stopping: Callable[[], bool] = never
    # Whether an evaluation has taken its share of the budget, so that its matches should end with
    # the games played so far; raises `Abandoned` if the run was asked to stop.
    evaluation_is_over: Callable[[], bool] = never
    pool: Pool | None = None  # the cluster that plays the games, if there is one; for `Hooks`
    log: Callable[[str], None] = lambda text: None  # write a line to log.txt and the display

    def check_stop(self) -> None:
        """Give up this iteration if `stopping`; call it every second or so of a long one.

        The loop then ends the run at the checkpoint before the iteration, so nothing depends on
        when it was stopped.
        """
        if self.stopping():
            raise Abandoned

    def seed(self, *names: str | int) -> int:
        """A separate 63-bit seed for each purpose, derived from the recipe's seed."""
        return seed_of(self.recipe.run.seed, *names)

    def generator(self, *names: str | int) -> np.random.Generator:
        """A separate NumPy generator for each purpose."""
        return np.random.default_rng(self.seed(*names))

    def torch_generator(self, *names: str | int) -> torch.Generator:
        """A separate torch generator for each purpose."""
        import torch

        return torch.Generator().manual_seed(self.seed(*names))


class Trainer(Protocol):
    """An algorithm. Derive from it to inherit the defaults."""

    @abstractmethod
    def iterate(self) -> Metrics:
        """Do one iteration: collect, learn. It should take seconds, as a crash loses its work."""

    @abstractmethod
    def state(self) -> State:
        """Everything needed for an exact resume: weights, optimiser, random streams, games."""

    @abstractmethod
    def load_state(self, state: State) -> None:
        """Restore a `state()`; called at most once, before the first `iterate`."""

    @abstractmethod
    def model(self) -> Network:
        """The network to publish."""

    def evaluate(self, rng: np.random.Generator) -> Sequence[MatchScore]:
        """Play opponents, at `run.evaluations` points of the run; by default none.

        `rng` depends only on seed and iteration. Nothing in `state()` may change. Ask
        `context.evaluation_is_over` between games, or let the matches of
        `rookery.learning.matches` ask it.
        """
        return ()

    @property
    def solved(self) -> bool:
        """Whether there is nothing left to learn, which ends the run before its budget."""
        return False

    def close(self) -> None:
        """Release threads, processes and files; called once, even after an error."""
        return
