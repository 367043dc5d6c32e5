"""Settings of a double DQN run, as in `recipes/ddqn.toml`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from rookery.base.section import Section
from rookery.training.recipe import Recipe


class PlaySettings(Section):
    """Games of the online network against itself."""

    games: int = Field(default=200, ge=1)
    """Games per iteration."""
    depth: int = Field(default=4, ge=1, le=20)
    """Plies of each search, before quiescence."""
    nodes: int = Field(default=5000, ge=1)
    """A search is stopped after this many nodes."""
    random_moves: float = Field(default=0.02, ge=0, le=1)
    """Share of moves drawn at random, to explore; targets do not look past them."""
    random_plies: list[int] = Field(default=[0, 9], min_length=2, max_length=2)
    """Fewest and most random plies before a game begins."""
    max_plies: int = Field(default=250, ge=1)
    """A longer game is cut off without a result."""


class LearnSettings(Section):
    """The replay memory, the two networks and their targets."""

    hidden: int = Field(default=128, ge=16, le=1024, multiple_of=16)
    """Width of the network."""
    memory: int = Field(default=2_000_000, ge=1)
    """Newest positions in the replay memory."""
    double: bool = True
    """Whether the online network chooses the lines that the target network judges; otherwise the
    target network does both."""
    copy_every: int = Field(default=8, ge=1)
    """Iterations after which the online weights are copied to the target network."""
    gamma: float = Field(default=0.998, gt=0, le=1)
    """Discount per ply."""
    lambda_: float = Field(default=0.95, ge=0, le=1)
    """Weight of longer returns: 0 is the search's own line, 1 the rest of the game."""
    final_lambda: float = Field(default=0.8, ge=0, le=1)
    """The same at the end of the run; linear in between."""
    priority: float = Field(default=0.0, ge=0, le=2)
    """Exponent of the error in the probability of drawing a position; 0: all alike."""
    visits: float = Field(default=16.0, gt=0)
    """Positions drawn per new position."""
    minibatch: int = Field(default=4096, ge=1)
    """Positions per optimiser step."""
    learning_rate: float = Field(default=1e-3, gt=0)
    """Learning rate of AdamW at the start."""
    final_learning_rate: float = Field(default=3e-5, ge=0)
    """Learning rate at the end of the run; cosine decay in between."""
    weight_decay: float = Field(default=0.01, ge=0)
    """Weight decay of AdamW."""


class EvaluationSettings(Section):
    """What is measured at every tenth of the run."""

    games: int = Field(default=40, ge=2, multiple_of=2)
    """Against each opponent, half of them with each colour."""
    opponents: list[Literal["random", "greedy", "greedy-safe"]] = Field(default=["greedy-safe"])
    depth: int = Field(default=4, ge=1, le=20)
    """Plies of a search."""


class DdqnRecipe(Recipe):
    """All settings of a double DQN run."""

    play: PlaySettings = PlaySettings()
    learn: LearnSettings = LearnSettings()
    evaluation: EvaluationSettings = EvaluationSettings()

    @model_validator(mode="after")
    def _check(self) -> DdqnRecipe:
        low, high = self.play.random_plies
        if not 0 <= low <= high:
            raise ValueError("play.random_plies must be [low, high] with 0 <= low <= high")
        return self
