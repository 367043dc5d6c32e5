"""Settings of an engine run, as in `recipes/engine.toml`.

Lists have a value per generation; the last value holds for all later generations. With initial
weights it holds from the first generation on: what young networks need, these no longer do.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from rookery.base.section import Section
from rookery.training.recipe import Recipe


class PlaySettings(Section):
    """Games of the newest network against itself."""

    first_positions: int = Field(default=100_000, ge=100)
    """Positions of the first generation, played with random weights."""
    growth: float = Field(default=1.5, ge=1, le=10)
    """Growth of the number of positions from one generation to the next, as a factor."""
    most_positions: int = Field(default=1_500_000, ge=100)
    """Largest number of positions of a generation."""
    nodes: list[int] = Field(default=[50, 80, 100, 150, 200, 250, 300, 400], min_length=1)
    """Nodes per move, by generation: a soft limit between depths, with a hard one at ten times."""
    random_plies: list[int] = Field(default=[8, 9], min_length=2, max_length=2)
    """Fewest and most random plies before a game begins."""
    max_opening_score: int = Field(default=1000, ge=1)
    """An opening with a larger absolute score is replaced."""
    max_score: int = Field(default=3000, ge=1)
    """Positions with a larger score are not learnt from."""
    max_plies: int = Field(default=400, ge=1)
    """A longer game is cut off and not learnt from."""
    adjudicate_from: int = Field(default=4, ge=1)
    """First generation whose clear wins and draws are adjudicated."""
    play_on_share: float = Field(default=0.1, ge=0, le=1)
    """Share of games that are always played out."""
    games: int = Field(default=256, ge=1)
    """Games per iteration."""


class LearnSettings(Section):
    """How a network is trained on games."""

    RENAMED: ClassVar = {"batch": "minibatch"}
    hidden: list[int] = Field(default=[32, 32, 64, 64, 64, 64, 128], min_length=1)
    """Width of the network, by generation; a wider one starts as the same function."""
    buckets: int = Field(default=8, ge=1, le=32)
    """Rows of output weights, chosen by the number of pieces."""
    wdl: list[float] = Field(default=[1.0, 0.9, 0.75, 0.6, 0.5, 0.4, 0.3], min_length=1)
    """Share of the game's result in the target, by generation; the rest is the search's score."""
    window: float = Field(default=0.5, gt=0, le=1)
    """Share of all generations learnt from, the newest ones; at least one."""
    visits: float = Field(default=10.0, gt=0)
    """Positions learnt from, out of the whole window, per new position of a generation."""
    final_passes: float = Field(default=6.0, gt=0)
    """Passes over the whole window in the last generation of a run."""
    final_share: float = Field(default=0.12, ge=0, lt=1)
    """Share of the budget kept for learning and testing the last generation."""
    minibatch: int = Field(default=8192, ge=1)
    """Positions per optimiser step; fewer while the window is small."""
    least_steps: int = Field(default=64, ge=1)
    """Fewest steps per pass; for a small window the minibatches shrink, down to 1024."""
    learning_rate: float = Field(default=1.5e-3, gt=0)
    """Learning rate of AdamW at the start of a generation."""
    final_learning_rate: float = Field(default=1e-5, ge=0)
    """Learning rate at its end; cosine decay in between."""
    weight_decay: float = Field(default=0.01, ge=0)
    """Weight decay of AdamW."""
    power: float = Field(default=2.5, ge=1, le=4)
    """Exponent of the error in the loss."""
    positions: int = Field(default=2_000_000, ge=1)
    """Positions learnt from per iteration."""


class GateSettings(Section):
    """The match that a new network must win."""

    games: int = Field(default=800, ge=2, multiple_of=2)
    """Most games, in pairs with colours swapped; the network needs more than half the points."""
    pairs: int = Field(default=40, ge=1)
    """Pairs per iteration."""
    nodes: int = Field(default=400, ge=1)
    """Nodes per move, never exceeded."""
    elo1: float = Field(default=30.0, gt=0)
    """The match ends early by an SPRT of this gain in Elo against 0."""


class EvaluationSettings(Section):
    """What is measured at every tenth of the run."""

    games: int = Field(default=100, ge=2, multiple_of=2)
    """Against each opponent, half of them with each colour."""
    opponents: list[Literal["random", "greedy", "greedy-safe"]] = Field(default=["greedy-safe"])
    nodes: int = Field(default=1000, ge=1)
    """Nodes per move, never exceeded, as in `rookery arena`."""
    anchor: int = Field(default=3, ge=0)
    """Generation that is kept as a fixed opponent; 0: none."""


class EngineRecipe(Recipe):
    """All settings of an engine run."""

    play: PlaySettings = PlaySettings()
    learn: LearnSettings = LearnSettings()
    gate: GateSettings = GateSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    initial: str = ""
    """A model file, run folder or shipped network to continue from; empty: random weights."""

    @model_validator(mode="after")
    def _check(self) -> EngineRecipe:
        low, high = self.play.random_plies
        if not 0 <= low <= high:
            raise ValueError("play.random_plies must be [low, high] with 0 <= low <= high")
        if any(nodes < 1 for nodes in self.play.nodes):
            raise ValueError("play.nodes must be at least 1")
        if any(not 0 <= share <= 1 for share in self.learn.wdl):
            raise ValueError("learn.wdl must be in [0, 1]")
        if any(width < 16 or width > 1024 or width % 16 for width in self.learn.hidden):
            raise ValueError("learn.hidden must be multiples of 16 in 16 .. 1024")
        if any(b < a for a, b in zip(self.learn.hidden, self.learn.hidden[1:], strict=False)):
            raise ValueError("learn.hidden must not shrink")
        return self
