"""The seam between an algorithm and the machinery that runs it.

An algorithm is one class, made with a `Context`, with four methods (and a fifth if it is to be
evaluated on the way). The machinery calls `iterate` until the budget is used up and does all the
rest: metrics, display, checkpoints, signals, resuming, evaluation, model files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from rookery.runs.state import State, seed_of
from rookery.training.recipe import Recipe

if TYPE_CHECKING:
    import torch

    from rookery.nets import Network

AnyRecipe = TypeVar("AnyRecipe", bound=Recipe)


@dataclass
class Metrics:
    """What one iteration says about itself.

    All but `timing` must be determined by the seed: these numbers go to metrics.jsonl, which a
    run that was stopped and resumed reproduces byte by byte.
    """

    samples: int  # positions learnt from
    games: int = 0  # finished
    losses: Mapping[str, float] = field(default_factory=dict)  # a non-finite one ends the run
    values: Mapping[str, float] = field(default_factory=dict)  # anything else worth a curve
    results: Mapping[str, int] = field(default_factory=dict)  # of the games: wins, draws, ...
    endings: Mapping[str, int] = field(default_factory=dict)  # of the games: checkmate, ...
    timing: Mapping[str, float] = field(default_factory=dict)  # seconds spent on parts


@dataclass(frozen=True)
class Evaluation:
    """A match of the network against one opponent; counts are (wins, draws, losses)."""

    opponent: str
    as_white: tuple[int, int, int]
    as_black: tuple[int, int, int]
    values: Mapping[str, float] = field(default_factory=dict)  # anything else measured
    games: Sequence[str] = ()  # a few of them as PGN, for games/ and the report


@dataclass
class Context(Generic[AnyRecipe]):
    """What an algorithm is given. The numbers are kept up to date by the loop."""

    recipe: AnyRecipe
    folder: Path  # of the run; replay/ belongs to the algorithm
    workers: int = 1  # cores to use; torch's threads are set already
    iteration: int = 0  # finished so far
    samples: int = 0
    games: int = 0
    progress: float = 0.0  # share of the budget used up, [0, 1]; constant during an iteration
    stopping: Callable[[], bool] = lambda: False  # someone waits for `iterate` to return
    log: Callable[[str], None] = lambda text: None  # a line for log.txt and the display

    def seed(self, *names: str | int) -> int:
        """A 63-bit seed of its own for each purpose, from the recipe's seed."""
        return seed_of(self.recipe.run.seed, *names)

    def generator(self, *names: str | int) -> np.random.Generator:
        """A NumPy generator of its own for each purpose."""
        return np.random.default_rng(self.seed(*names))

    def torch_generator(self, *names: str | int) -> torch.Generator:
        """A torch generator of its own for each purpose."""
        import torch

        return torch.Generator().manual_seed(self.seed(*names))


@runtime_checkable
class Trainer(Protocol):
    """An algorithm at work; made with a `Context`, as its `rookery.runs.algorithms` entry says."""

    def iterate(self) -> Metrics:
        """Do one iteration: collect, learn. At most some seconds, as a crash loses it."""
        ...

    def state(self) -> State:
        """Everything needed to go on exactly: weights, optimiser, random streams, games."""
        ...

    def load_state(self, state: State) -> None:
        """Go back to a `state()`; called before the first `iterate`, if at all."""
        ...

    def model(self) -> Network:
        """The network to publish; an algorithm without one of its own averages or copies."""
        ...


@runtime_checkable
class Evaluating(Protocol):
    """A trainer that is also measured, at `run.evaluations` points of its run."""

    def evaluate(self, rng: np.random.Generator) -> Sequence[Evaluation]:
        """Play against opponents.

        `rng` depends on seed and iteration only; nothing that `state()` holds may change.
        """
        ...
