"""Settings of the published double DQN; the defaults are those of its best chart."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from rookery.base.section import Section
from rookery.papers.inman2022.network import BoardConvSizes
from rookery.players.spec import parse_spec
from rookery.training.recipe import Recipe


class AgentSettings(Section):
    """The agent; an iteration is one episode, a game."""

    source: Literal["self-play", "games", "both"] = "self-play"
    """Where games come from: its own moves, PGN files, or PGN files in the first half of the run
    and its own moves in the second."""
    observation: Literal["planes12", "planes14"] = "planes12"
    """Planes of the pieces, or also of the attacked squares (its proposal)."""
    depth: int = Field(default=1, ge=1, le=4)
    """Plies of a search in training."""
    epsilon: float = Field(default=0.95, ge=0, le=1)
    """Share of leaves judged by the hand-written evaluation in the first episode."""
    epsilon_decay: float = Field(default=0.95, gt=0, le=1)
    """Factor of that share from one episode to the next."""
    least_epsilon: float = Field(default=0.2, ge=0, le=1)
    """Smallest share."""
    gamma: float = Field(default=0.25, ge=0, le=1)
    """Weight of the next position's value in the target."""
    memory: int = Field(default=500, ge=1)
    """Newest moves in the replay memory."""
    minibatch: int = Field(default=64, ge=1)
    """Moves per optimiser step."""
    updates: int = Field(default=1, ge=1)
    """Optimiser steps after an episode."""
    copy_every: int = Field(default=10, ge=1)
    """Episodes after which the weights are copied to the target network."""
    learning_rate: float = Field(default=5e-4, gt=0)
    """Learning rate of AdamW."""
    weight_decay: float = Field(default=0.004, ge=0)
    """Weight decay of AdamW; TensorFlow's default."""
    l2: float = Field(default=0.01, ge=0)
    """Weight of the sum of squared weights in the loss."""
    largest_reward: float = Field(default=2000.0, gt=0)
    """Centipawns at which rewards, such as mates, are clipped."""
    max_plies: int = Field(default=200, ge=1)
    """An episode ends after this many plies."""


class DataSettings(Section):
    """Games from files."""

    pgn: list[str] = Field(default=[])
    """PGN files, plain or gzipped; for the sources games and both."""
    games: int = Field(default=2554, ge=1)
    """Most games read, the number in the paper."""


class EvaluationSettings(Section):
    """What is measured at every tenth of the run."""

    games: int = Field(default=20, ge=2, multiple_of=2)
    """Against each opponent, half of them with each colour; the paper plays 20."""
    untrained_games: int = Field(default=20, ge=2, multiple_of=2)
    """At most so many before the first episode: an untrained network loses all of them."""
    opponents: list[str] = Field(default=["simplified"])
    """Any players, such as stockfish,depth=1."""
    depth: int = Field(default=2, ge=1, le=4)
    """Plies of a search in play."""


class DdqnPaperRecipe(Recipe):
    """All settings of the published agent."""

    agent: AgentSettings = AgentSettings()
    network: BoardConvSizes = BoardConvSizes()
    data: DataSettings = DataSettings()
    evaluation: EvaluationSettings = EvaluationSettings()

    @model_validator(mode="after")
    def _check(self) -> DdqnPaperRecipe:
        if self.agent.source != "self-play" and not self.data.pgn:
            raise ValueError(
                f"agent.source={self.agent.source} needs games: name PGN files with "
                "--set 'data.pgn=[\"games.pgn\"]'"
            )
        for opponent in self.evaluation.opponents:
            parse_spec(opponent)
        return self
