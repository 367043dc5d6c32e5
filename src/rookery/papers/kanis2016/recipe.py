"""Settings of a DQN run; the defaults are those of Kanis 2016 (Tables 2 and 3)."""

from __future__ import annotations

from typing import ClassVar, Literal

import chess
from pydantic import Field, model_validator

from rookery.base.section import Section
from rookery.papers.kanis2016.pyramid import PyramidSizes
from rookery.training.recipe import Recipe


class DQNSettings(Section):
    """The algorithm."""

    RENAMED: ClassVar = {"batch": "replay_ratio"}
    games: int = Field(default=128, ge=1)
    """Games played in parallel."""
    rounds: int = Field(default=50, ge=1)
    """Moves of each game per iteration."""
    replay: int = Field(default=10_000, ge=1)
    """Capacity of the replay memory, in moves."""
    replay_start: int = Field(default=1_000, ge=1)
    """Moves in the replay memory before learning begins."""
    prioritised: float = Field(default=0.0, ge=0, le=1)
    """Exponent of the priorities (Schaul et al. 2016); 0: uniform replay."""
    importance: float = Field(default=0.4, ge=0, le=1)
    """Exponent of the importance-sampling weights of prioritised replay."""
    replay_ratio: int = Field(default=32, ge=1)
    """Moves learnt from per move played."""
    updates: int = Field(default=8, ge=1)
    """Optimiser steps per round, which share its `games` x `replay_ratio` moves."""
    target_games: int = Field(default=100, ge=1)
    """Finished games after which the target network becomes a copy of the learner."""
    epsilon_start: float = Field(default=1.0, ge=0, le=1)
    """Share of random moves at the start."""
    epsilon_end: float = Field(default=0.1, ge=0, le=1)
    """Share of random moves at the end."""
    epsilon_moves: int = Field(default=6_000, ge=1)
    """Moves over which it falls linearly."""
    learning_rate: float = Field(default=1e-3, gt=0)
    """Learning rate of Adam."""
    final_learning_rate: float = Field(default=1e-3, ge=0)
    """Learning rate at the end of the run; linear in between."""
    discount: float = Field(default=0.99, gt=0, le=1)
    """Discount of rewards per own move."""
    steps: int = Field(default=1, ge=1, le=32)
    """Rewards summed before the target network's value (n-step returns)."""
    double: bool = False
    """The learner chooses the next move, the target network evaluates it (van Hasselt 2016)."""
    loss: Literal["squared", "huber"] = "squared"
    illegal: Literal["penalty", "mask"] = "penalty"
    """Illegal actions cost `world.illegal` and the turn is repeated, or they are masked."""


class WorldSettings(Section):
    """The environment."""

    name: Literal["king", "king-pawn", "kpk"] = "kpk"
    """Bring a king to the last rank; bring a pawn to promotion; the whole ending."""
    opponent: str = "random"
    """Player of the bare king in `kpk`; `random`, `greedy` and `greedy-safe` are fast."""
    opponents: list[str] = Field(default=[], max_length=16)
    """Several opponents in sequence, instead of `opponent`."""
    shares: list[float] = Field(default=[], max_length=16)
    """Relative share of the run for each of them; empty: equal shares."""
    remember: bool = True
    """Cache the answers of an engine with fixed nodes or depth by position, without history, also
    for later runs."""
    blocker: bool = False
    """In `king`: the other king is on a random square and does not move."""
    king_squares: list[str] = Field(default=[], max_length=64)
    """In `king` and `king-pawn`: squares on which the king starts, such as ["e1"]; empty: any."""
    pawn_squares: list[str] = Field(default=[], max_length=48)
    """In `king-pawn`: squares on which the pawn starts; empty: any."""
    level: Literal["", "all", "easy", "intermediate", "hard"] = ""
    """In `kpk`: start from the positions of one level (data/kpk_levels.py); empty: from any."""
    win: float = 10.0
    draw: float = -10.0
    move: float = -1.0
    forward: float = 0.0
    """In `king`: reward of a step towards the last rank."""
    illegal: float = -10.0
    max_moves: int = Field(default=0, ge=0)
    """Games are cut off without a result after this many moves of the agent; 0: never."""


class EvaluationSettings(Section):
    """What is measured at every tenth of the run."""

    games: int = Field(default=1000, ge=1)
    """Greedy games from random positions."""
    max_moves: int = Field(default=50, ge=1)
    """A game counts as not won after this many moves of the agent."""
    opponent: str = "random"
    """Player of the bare king in `kpk`."""


class DQNRecipe(Recipe):
    """All settings of a DQN run."""

    dqn: DQNSettings = DQNSettings()
    world: WorldSettings = WorldSettings()
    network: PyramidSizes = PyramidSizes()
    evaluation: EvaluationSettings = EvaluationSettings()

    @model_validator(mode="after")
    def _check(self) -> DQNRecipe:
        if self.dqn.replay_start > self.dqn.replay:
            raise ValueError("dqn.replay_start must not be above dqn.replay")
        if self.world.name != "kpk" and self.world.opponent != "random":
            raise ValueError(f"the world {self.world.name!r} has no opponent")
        if self.world.name == "kpk" and (self.world.king_squares or self.world.pawn_squares):
            raise ValueError("the world 'kpk' starts anywhere or from a level (world.level)")
        if self.world.name != "kpk" and self.world.level:
            raise ValueError(f"the world {self.world.name!r} has no levels")
        for name, first, last in (("king", 0, 63), ("pawn", 8, 55)):
            for square in getattr(self.world, f"{name}_squares"):
                if square not in chess.SQUARE_NAMES[first : last + 1]:
                    ranks = "a1 to h8" if name == "king" else "a2 to h7"
                    raise ValueError(f"world.{name}_squares: {square!r} is not one of {ranks}")
        shares = self.world.shares
        if shares and (len(shares) != len(self.world.opponents) or min(shares) <= 0):
            raise ValueError("world.shares must be one number above 0 for each of world.opponents")
        return self
