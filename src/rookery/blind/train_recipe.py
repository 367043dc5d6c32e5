"""Settings of `rookery train blind-paper`."""

from __future__ import annotations

from pydantic import Field

from rookery.base.section import Section
from rookery.blind.network import BlindSizes
from rookery.training.recipe import Recipe


class BlindDataSettings(Section):
    """Games to imitate."""

    records: list[str] = Field(default=["data/blind"])
    """Files that `rookery blind arena --records` wrote, or folders of them (.jsonl)."""
    teachers: list[str] = Field(default=["blind"])
    """Players whose senses and requests are learnt; of other players nothing is."""


class BlindSupervisedSettings(Section):
    """The supervised start."""

    start: str = ""
    """Model file to begin with, of the same sizes; "": random weights."""
    iterations: int = Field(default=40, ge=0)
    """Iterations before PPO begins."""
    steps: int = Field(default=50, ge=1)
    """Optimiser steps per iteration."""
    minibatch: int = Field(default=256, ge=1)
    """Samples per optimiser step."""
    learning_rate: float = Field(default=1e-3, gt=0)
    """Learning rate of Adam; falls to a tenth at the end of this part."""
    value_weight: float = Field(default=0.5, ge=0)
    """Weight of the squared error of the game's result."""


class BlindPPOSettings(Section):
    """PPO in self-play; the meaning of the keys is that of `rookery recipes ppo`."""

    games: int = Field(default=64, ge=2)
    """Games at once."""
    turns: int = Field(default=100, ge=2)
    """Turns (a sense and a move) of each game per iteration; every iteration begins new games."""
    passes: int = Field(default=2, ge=1)
    """Passes over the samples of an iteration."""
    minibatch: int = Field(default=512, ge=1)
    """Samples per optimiser step."""
    learning_rate: float = Field(default=2e-4, gt=0)
    """Learning rate of Adam."""
    clip: float = Field(default=0.2, gt=0)
    """Distance of the probability ratio from 1 beyond which the objective is flat."""
    discount: float = Field(default=0.995, gt=0, le=1)
    """Discount of rewards per action, senses included."""
    gae_lambda: float = Field(default=0.95, ge=0, le=1)
    """Lambda of generalised advantage estimation."""
    entropy: float = Field(default=0.005, ge=0)
    """Weight of the entropy bonus."""
    value_weight: float = Field(default=0.5, ge=0)
    """Weight of the critic's squared error."""
    gradient_norm: float = Field(default=0.5, ge=0)
    """Largest norm of the gradient; 0: no limit."""
    draw: float = Field(default=-0.2)
    """Reward of both sides for a draw."""
    turn_limit: int = Field(default=80, ge=0)
    """Full turns after which a training game is drawn; 0: none."""


class BlindPoolSettings(Section):
    """Opponents: past versions of the learner, and other players."""

    share: float = Field(default=0.5, ge=0, le=1)
    """Share of the games against a past version; where there is no opponent, both sides learn."""
    players: list[str] = Field(default=[])
    """Blind players as opponents, such as ["random", "attacker"]."""
    players_share: float = Field(default=0.0, ge=0, le=1)
    """Share of the games against them."""
    versions: int = Field(default=8, ge=1)
    """Versions that are kept."""
    every: int = Field(default=10, ge=1)
    """Iterations of PPO between two of them."""


class BlindEvaluationSettings(Section):
    """What is measured along the run."""

    games: int = Field(default=100, ge=2, multiple_of=2)
    """Against each opponent."""
    opponents: list[str] = Field(default=["random", "attacker"])
    """Blind players."""


class BlindRecipe(Recipe):
    """All settings of a run."""

    data: BlindDataSettings = BlindDataSettings()
    network: BlindSizes = BlindSizes()
    supervised: BlindSupervisedSettings = BlindSupervisedSettings()
    ppo: BlindPPOSettings = BlindPPOSettings()
    pool: BlindPoolSettings = BlindPoolSettings()
    evaluation: BlindEvaluationSettings = BlindEvaluationSettings()
