"""Settings of a PPO run: the keys of `recipes/ppo*.toml`, with the defaults of our own recipe."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from rookery._core import random_position
from rookery.base.section import Section
from rookery.encodings import require_observation
from rookery.nets.mlp import MlpSizes
from rookery.nets.resnet import ResnetSizes
from rookery.nets.squares import SquaresSizes
from rookery.training.recipe import Recipe


class PPOSettings(Section):
    """The algorithm."""

    games: int = Field(default=256, ge=1)
    """Games played in parallel."""
    plies: int = Field(default=128, ge=4)
    """Plies of each game in an iteration; with less than four a learner may not get to move."""
    passes: int = Field(default=2, ge=1)
    """Times that every sample is learnt from."""
    minibatch: int = Field(default=1024, ge=1)
    """Samples of one step of the optimiser."""
    learning_rate: float = Field(default=5e-4, gt=0)
    """Step size of Adam at the start."""
    final_learning_rate: float = Field(default=5e-5, ge=0)
    """At the end of the run; linear in between."""
    adam_epsilon: float = Field(default=1e-5, gt=0)
    """Of Adam; weights with gradients below it hardly move."""
    clip: float = Field(default=0.2, gt=0)
    """Distance of the probability ratio from 1 beyond which the objective is flat."""
    discount: float = Field(default=0.998, gt=0, le=1)
    """Of rewards, per own move."""
    gae_lambda: float = Field(default=0.95, ge=0, le=1)
    """Of generalised advantages; 1: plain returns minus the value."""
    entropy: float = Field(default=0.01, ge=0)
    """Weight of the entropy bonus at the start."""
    final_entropy: float = Field(default=0.001, ge=0)
    """What it falls to, linearly."""
    entropy_end: float = Field(default=1.0, gt=0, le=1)
    """Share of the run after which it has fallen."""
    value_weight: float = Field(default=0.5, ge=0)
    """Weight of the critic's squared error."""
    value_clip: float = Field(default=0.0, ge=0)
    """Squared errors above it are cut off and teach nothing (RLlib's vf_clip_param); 0: none."""
    kl_coefficient: float = Field(default=0.0, ge=0)
    """Weight of the KL penalty at the start; 0: none."""
    kl_target: float = Field(default=0.01, gt=0)
    """The weight grows or shrinks by half to keep the divergence near this."""
    gradient_norm: float = Field(default=0.5, ge=0)
    """Gradients are scaled down to this length; 0: never."""


class GameSettings(Section):
    """What is played."""

    observation: str = "tactical70"
    actions: Literal["az4672", "az4673"] = "az4672"
    win: float = 1.0
    loss: float = -1.0
    draw: float = 0.0
    move: float = 0.0
    book: float = 0.0
    """For a move of the opening book."""
    tablebase: float = 0.0
    """For a move that brings a won tablebase position closer to its end."""
    draw_incentive: float = 0.0
    """Added to a draw for both sides at the start, falling to 0."""
    material_incentive: float = 0.0
    """Per pawn of material gained at the start, falling to 0."""
    incentives_end: float = Field(default=0.7, gt=0, le=1)
    """Share of the run after which both have fallen to 0."""
    draw_after_plies: int = Field(default=0, ge=0)
    """Drawn after so many plies; 0: never."""
    max_plies: int = Field(default=0, ge=0)
    """Cut off, without a result; 0: never."""
    random_plies: list[int] = Field(default=[0, 0], min_length=2, max_length=2)
    """Fewest and most random plies before a game begins."""
    endings: list[str] = Field(default=[])
    """Material of endings that games also start from, such as KQvK, both colours alike."""
    endings_share: float = Field(default=0.0, ge=0, lt=1)
    """Share of the games that start from one of them."""


class OpponentSettings(Section):
    """Who the learner plays."""

    learn_both: bool = True
    """Without a rival, learn from both colours; otherwise from one, drawn for every game."""
    rival: Literal["random", "snapshots"] = "snapshots"
    """A random mover, or a past snapshot of the learner, drawn for every iteration."""
    rival_share: float = Field(default=0.0, ge=0, le=1)
    """Share of the games against the rival."""
    snapshots: int = Field(default=12, ge=1)
    """Snapshots of the learner that are kept."""
    snapshot_every: int = Field(default=50, ge=1)
    """Iterations between two snapshots."""


class SteadyResnetSizes(ResnetSizes):
    """Sizes of a residual network that computes the same in play, in learning and when loaded."""

    norm: Literal["batch", "group", "none"] = "group"
    """Normalisation after each convolution; batch is refused, as it breaks PPO's ratios."""


class NetworkSettings(Section):
    """Policy and critic."""

    family: Literal["mlp", "resnet", "squares"] = "squares"
    mlp: MlpSizes = MlpSizes()
    resnet: SteadyResnetSizes = SteadyResnetSizes()
    squares: SquaresSizes = SquaresSizes()


class EvaluationSettings(Section):
    """What is measured at every tenth of the run."""

    games: int = Field(default=1000, ge=2, multiple_of=2)
    """Against each opponent, half of them with each colour."""
    opponents: list[Literal["random", "greedy", "greedy-safe"]] = Field(default=["random"])
    temperature: float = Field(default=1.0, ge=0)
    """Of the policy; 0: the most probable move."""


class PPORecipe(Recipe):
    """All settings of a PPO run."""

    ppo: PPOSettings = PPOSettings()
    game: GameSettings = GameSettings()
    opponent: OpponentSettings = OpponentSettings()
    network: NetworkSettings = NetworkSettings()
    evaluation: EvaluationSettings = EvaluationSettings()

    @model_validator(mode="after")
    def _check(self) -> PPORecipe:
        require_observation(self.game.observation, "game.observation")
        low, high = self.game.random_plies
        if not 0 <= low <= high:
            raise ValueError("game.random_plies must be [low, high] with 0 <= low <= high")
        if self.network.family == "resnet" and self.network.resnet.norm == "batch":
            raise ValueError("network.resnet.norm=batch does not go with PPO; use group or none")
        for material in self.game.endings:
            random_position(material, 0)  # refuses what is not a material signature, naming it
        return self
