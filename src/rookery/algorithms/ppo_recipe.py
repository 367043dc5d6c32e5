"""Settings of a PPO run, as in `recipes/ppo*.toml`; the defaults are those of `ppo`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from rookery._core import STANDARD_BOARD, random_position
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
    sets: int = Field(default=1, ge=1, le=65536)
    """Equal parts of the games, each with its own random stream; a cluster plays them at once."""
    plies: int = Field(default=128, ge=4)
    """Plies of each game per iteration; with fewer than four the learner might not move."""
    passes: int = Field(default=2, ge=1)
    """Passes over the samples of an iteration."""
    minibatch: int = Field(default=1024, ge=1)
    """Samples per optimiser step."""
    learning_rate: float = Field(default=5e-4, gt=0)
    """Learning rate of Adam at the start."""
    final_learning_rate: float = Field(default=5e-5, ge=0)
    """Learning rate at the end of the run; linear in between."""
    adam_epsilon: float = Field(default=1e-5, gt=0)
    """Epsilon of Adam; weights with smaller gradients hardly move."""
    clip: float = Field(default=0.2, gt=0)
    """Distance of the probability ratio from 1 beyond which the objective is flat."""
    discount: float = Field(default=0.998, gt=0, le=1)
    """Discount of rewards per own move."""
    gae_lambda: float = Field(default=0.95, ge=0, le=1)
    """Lambda of generalised advantage estimation; 1: returns minus values."""
    entropy: float = Field(default=0.01, ge=0)
    """Weight of the entropy bonus at the start."""
    final_entropy: float = Field(default=0.001, ge=0)
    """Weight of the entropy bonus at the end; linear in between."""
    entropy_end: float = Field(default=1.0, gt=0, le=1)
    """Share of the run after which it is reached."""
    value_weight: float = Field(default=0.5, ge=0)
    """Weight of the critic's squared error."""
    value_clip: float = Field(default=0.0, ge=0)
    """Squared errors are clipped to this (RLlib's vf_clip_param); 0: no limit."""
    kl_coefficient: float = Field(default=0.0, ge=0)
    """Weight of the KL penalty at the start; 0: none."""
    kl_target: float = Field(default=0.01, gt=0)
    """The weight grows or shrinks by half to keep the KL divergence near this."""
    gradient_norm: float = Field(default=0.5, ge=0)
    """Largest norm of the gradient, which is scaled down to it; 0: no limit."""


class GameSettings(Section):
    """The games and their rewards."""

    observation: str = "tactical70"
    actions: Literal["az4672", "az4673"] = "az4672"
    win: float = 1.0
    loss: float = -1.0
    draw: float = 0.0
    move: float = 0.0
    book: float = 0.0
    """Reward for a move of the opening book."""
    tablebase: float = 0.0
    """Reward for a move that shortens the distance to a tablebase win."""
    draw_incentive: float = 0.0
    """Reward for both sides of a draw at the start of the run, falling to 0."""
    material_incentive: float = 0.0
    """Reward per pawn of material gained at the start of the run, falling to 0."""
    incentives_end: float = Field(default=0.7, gt=0, le=1)
    """Share of the run after which both incentives are 0."""
    draw_after_plies: int = Field(default=0, ge=0)
    """Games are drawn after this many plies; 0: never."""
    max_plies: int = Field(default=0, ge=0)
    """Games are cut off without a result after this many plies; 0: never."""
    random_plies: list[int] = Field(default=[0, 0], min_length=2, max_length=2)
    """Fewest and most random plies before a game begins."""
    endings: list[str] = Field(default=[])
    """Material of endings to start from as well, such as KQvK, with either colour."""
    endings_share: float = Field(default=0.0, ge=0, lt=1)
    """Share of the games that start from one of them."""


class OpponentSettings(Section):
    """The learner's opponents."""

    learn_both: bool = True
    """In games without a rival, learn from both colours; otherwise from a random one."""
    rival: Literal["random", "snapshots"] = "snapshots"
    """A random mover, or a past snapshot of the learner, drawn for every iteration."""
    rival_share: float = Field(default=0.0, ge=0, le=1)
    """Share of the games against the rival."""
    snapshots: int = Field(default=12, ge=1)
    """Snapshots of the learner that are kept."""
    snapshot_every: int = Field(default=50, ge=1)
    """Iterations between two snapshots."""


class SteadyResnetSizes(ResnetSizes):
    """Sizes of a residual network that computes the same in training and in evaluation mode."""

    norm: Literal["batch", "group", "none"] = "group"
    """Normalisation after each convolution; batch is refused, as PPO's ratios would be wrong."""


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

    ANY_BOARD: ClassVar[bool] = True

    @model_validator(mode="after")
    def _check(self) -> PPORecipe:
        require_observation(self.game.observation, "game.observation")
        low, high = self.game.random_plies
        if not 0 <= low <= high:
            raise ValueError("game.random_plies must be [low, high] with 0 <= low <= high")
        if self.ppo.games % self.ppo.sets:
            raise ValueError("ppo.games must be a multiple of ppo.sets")
        if self.network.family == "resnet" and self.network.resnet.norm == "batch":
            raise ValueError("network.resnet.norm=batch does not work with PPO; use group or none")
        if self.board != STANDARD_BOARD and (self.game.book or self.game.tablebase):
            raise ValueError("game.book and game.tablebase are for the standard board")
        for material in self.game.endings:
            random_position(material, 0)  # raises for an invalid material signature
        return self
