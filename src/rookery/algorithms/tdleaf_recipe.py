"""Settings of TD-leaf."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from rookery.base.section import Section
from rookery.training.recipe import Recipe


class TdLeafSettings(Section):
    """The algorithm."""

    RENAMED: ClassVar = {"batch": "minibatch", "trace": "lambda_"}
    network: Literal["nnue", "giraffe"] = "nnue"
    """The engine's sparse network, or Giraffe's over grouped features."""
    width: int = Field(default=32, ge=16, le=1024, multiple_of=16)
    """Width of the hidden layer; of Giraffe's second one."""
    groups: tuple[int, int, int] | None = None
    """Widths of Giraffe's first layers (`rookery.nets.giraffe.network`)."""
    moves: int = Field(default=0, ge=0, le=64, multiple_of=16)
    """Width of Giraffe's network of move probabilities, which learns the moves that the searches
    chose; 0: none."""
    move_samples: int = Field(default=1024, ge=1)
    """Searched positions per iteration that it learns from."""
    depth: int = Field(default=4, ge=1, le=20)
    """Search depth in plies."""
    games: int = Field(default=64, ge=1)
    """Games played in parallel."""
    plies: int = Field(default=12, ge=2)
    """Plies of each game per iteration."""
    random_plies: int = Field(default=10, ge=0)
    """Most random plies at the start of a game; the number is drawn for each."""
    new_games: float = Field(default=0.0, ge=0, le=1)
    """Share of games that are abandoned for a new one after each iteration."""
    random_start: float = Field(default=0.0, ge=0, le=1)
    """Share of the games that begin an iteration with a random move; 1 as in Giraffe's training
    positions."""
    win_value: float = Field(default=0.0, ge=0, lt=1)
    """A game counts as won after four plies in a row with a search value beyond this (except in a
    tenth of the segments); 0: play on to the end."""
    max_plies: int = Field(default=300, ge=1)
    """A longer game is cut off without a result."""
    random_moves: float = Field(default=0.05, ge=0, le=1)
    """Share of random moves; targets do not look past them."""
    lambda_: float = Field(default=0.7, ge=0, le=1)
    """Discount of later value changes, as in TD(lambda)."""
    result_share: float = Field(default=0.0, ge=0, le=1)
    """Share of the game's result in the targets of all its leaves, which wait for it; where a
    random move or a cut-off comes first, they are learnt without it."""
    final_result_share: float | None = Field(default=None, gt=0, le=1)
    """The same at the end of the run, linear in between; none: it stays."""
    roots: bool = False
    """Learn the searched positions, too, towards the targets of their leaves, where they are
    quiet."""
    mirror: bool = False
    """Learn half of the positions without castling rights as mirror images, files reversed."""
    learning_rate: float = Field(default=1e-3, gt=0)
    """Learning rate of AdamW at the start."""
    final_learning_rate: float = Field(default=1e-4, ge=0)
    """Learning rate at the end of the run; linear in between."""
    window: int = Field(default=0, ge=0)
    """Recent leaves, with the targets they had, that minibatches are drawn from; 0: those of the
    iteration alone."""
    both_sides: bool = False
    """Learn half of the leaves as if the other side were to move, with the value negated."""
    passes: int = Field(default=1, ge=1)
    """How often a leaf is learnt, on average."""
    minibatch: int = Field(default=256, ge=1)
    """Leaves per optimiser step."""
    material_iterations: int = Field(default=0, ge=0)
    """First iterations that learn the material balance instead, as in Giraffe."""


class EvaluationSettings(Section):
    """What is measured at every tenth of the run."""

    games: int = Field(default=40, ge=2, multiple_of=2)
    """Against each opponent, half of them with each colour."""
    opponents: list[Literal["random", "greedy", "greedy-safe"]] = Field(
        default=["random", "greedy-safe"]
    )


class TdLeafRecipe(Recipe):
    """All settings of a TD-leaf run."""

    tdleaf: TdLeafSettings = TdLeafSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
