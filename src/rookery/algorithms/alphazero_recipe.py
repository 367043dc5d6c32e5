"""The settings of AlphaZero."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from rookery.base.section import Section
from rookery.encodings import require_observation
from rookery.learning.policy_value import LearnSettings, NetworkSettings
from rookery.training.recipe import Recipe


class TreeSettings(Section):
    """The search while learning."""

    simulations: int = Field(default=64, ge=1)
    """Of a full search, at the end of the run."""
    first_simulations: int = Field(default=0, ge=0)
    """At its start, growing exponentially (progressive simulations); 0: as at the end."""
    fast_simulations: int = Field(default=16, ge=1)
    """Of a fast search (playout cap)."""
    full_share: float = Field(default=1.0, gt=0, le=1)
    """Share of the moves that are searched fully, and learnt from."""
    gumbel_actions: int = Field(default=16, ge=0)
    """Moves considered at the root by sequential halving; 0: PUCT with Dirichlet noise."""
    c_visit: float = Field(default=50.0, ge=0)
    """Of Gumbel: how much values count beside the policy."""
    c_scale: float = Field(default=1.0, ge=0)
    """Of Gumbel: scale of the values."""
    c_init: float = Field(default=1.745, ge=0)
    """PUCT: exploration at the start."""
    c_base: float = Field(default=38739.0, gt=0)
    """PUCT: visits from which on exploration grows."""
    c_factor: float = Field(default=3.894, ge=0)
    """PUCT: how fast it grows; 1 in AlphaZero."""
    fpu_reduction: float = Field(default=0.33, ge=0)
    """How much worse than its parent a move without visits is expected to be."""
    root_fpu_reduction: float = Field(default=0.0, ge=0)
    """The same at the root."""
    draw_visits: float = Field(default=0.0, ge=0)
    """Imaginary draws added to every move: Q = W / (N + draw_visits); 1 in Vanhoutte 2022."""
    noise_alpha: float = Field(default=0.3, gt=0)
    """Of the Dirichlet noise at the root."""
    noise_share: float = Field(default=0.25, ge=0, le=1)
    """Of the noise in the root's priors."""
    root_temperature: float = Field(default=1.0, gt=0)
    """Flattens the root's priors (above 1) before the noise."""
    proofs: bool = True
    """Whether forced mates are propagated."""
    twofold_draw: bool = True
    """Whether a repetition inside the tree counts as a draw."""
    reuse: bool = True
    """Whether the part of the tree below the move played is kept."""


class SelfPlaySettings(Section):
    """The games."""

    games: int = Field(default=256, ge=1, le=65536)
    """Played in parallel, on each core."""
    samples: int = Field(default=4096, ge=1)
    """New samples of one iteration."""
    temperature: float = Field(default=1.0, ge=0)
    """Of the moves at the start of a game (with Gumbel: scale of its noise)."""
    late_temperature: float = Field(default=0.25, ge=0)
    """After that."""
    temperature_plies: int = Field(default=30, ge=0)
    """Plies that count as the start of a game."""
    max_plies: int = Field(default=300, ge=1)
    """Games are cut off; the search's value stands for the result."""
    random_share: float = Field(default=0.2, ge=0, le=1)
    """Share of the games that begin with random moves."""
    random_plies: list[int] = Field(default=[4, 40], min_length=2, max_length=2)
    """Fewest and most of them."""
    start_file: str = ""
    """Positions that games also start from: a CSV of puzzles, or a file with a FEN per line."""
    start_themes: list[str] = Field(default=["mateIn1", "mateIn2"])
    """Of a file of puzzles, those with any of these themes; none: all."""
    endings: list[str] = Field(default=[])
    """Material of endings that games also start from, such as KQvK, both colours alike."""
    starts_share: float = Field(default=0.0, ge=0, le=1)
    """Share of the games that start from these positions."""
    resign_below: float = Field(default=-2.0, ge=-2, lt=0)
    """A side resigns when its value stays below; below -1: never."""
    resign_check_share: float = Field(default=0.1, ge=0, le=1)
    """Share of the games played on, to count how often resigning would have been wrong."""
    resign_wrong_limit: float = Field(default=0.05, ge=0, le=1)
    """Above this share of wrong resignations no game is resigned."""
    processes: int = Field(default=0, ge=0, le=256)
    """Self-play processes that share this one's network (prediction server); 0: all games are
    played in this process, which is faster on few cores."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Of a residual network while it plays; bfloat16 is twice as fast on newer processors."""
    cache_megabytes: int = Field(default=32, ge=0)
    """For caching the network's answers."""
    pgn_games: int = Field(default=4, ge=0)
    """Of each iteration, written to games/ as PGN."""
    pgn_iterations: int = Field(default=250, ge=1)
    """Newest iterations whose games stay there."""


class ReplaySettings(Section):
    """The samples learnt from."""

    window: int = Field(default=500_000, ge=1)
    """Newest samples that are kept, once there are so many."""
    first_window: int = Field(default=50_000, ge=1)
    """At the start; grows linearly to `window`."""
    passes: float = Field(default=3.0, gt=0)
    """How often a sample is drawn on average before it is dropped; above 4 the network overfits to
    old games."""
    surprise_share: float = Field(default=0.5, ge=0, le=1)
    """Share of the draws that prefer samples whose search surprised the policy."""
    labels: str = ""
    """Samples of `rookery data` that are learnt along with those of self-play, so that a pretrained
    network does not forget them: a Parquet file, or a folder of them."""
    labels_share: float = Field(default=0.3, ge=0, lt=1)
    """Of every minibatch, if there are any."""


class GateSettings(Section):
    """Whether a new network must beat the old one before it plays for learning."""

    games: int = Field(default=0, ge=0, multiple_of=2)
    """Of the match, in pairs with colours swapped; 0: every network is published."""
    every: int = Field(default=10, ge=1)
    """Iterations between two matches."""
    simulations: int = Field(default=64, ge=1)
    """A move."""
    score: float = Field(default=0.55, ge=0, le=1)
    """Least score of the new network."""


class EvaluationSettings(Section):
    """What is measured at every tenth of the run."""

    games: int = Field(default=100, ge=2, multiple_of=2)
    """Against each opponent, half of them with each colour."""
    opponents: list[Literal["random", "greedy", "greedy-safe"]] = Field(
        default=["random", "greedy-safe"]
    )
    simulations: int = Field(default=64, ge=0)
    """A move of the network; 0: the policy alone."""


class AlphaZeroRecipe(Recipe):
    """All settings of an AlphaZero run."""

    tree: TreeSettings = TreeSettings()
    selfplay: SelfPlaySettings = SelfPlaySettings()
    replay: ReplaySettings = ReplaySettings()
    network: NetworkSettings = NetworkSettings()
    learn: LearnSettings = LearnSettings()
    gate: GateSettings = GateSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    initial: str = ""
    """A model file or run folder whose weights the run begins with; none: random weights."""

    @model_validator(mode="after")
    def _check(self) -> AlphaZeroRecipe:
        low, high = self.selfplay.random_plies
        if not 0 <= low <= high:
            raise ValueError("selfplay.random_plies must be [low, high] with 0 <= low <= high")
        if self.selfplay.random_share + self.selfplay.starts_share > 1:
            raise ValueError("selfplay.random_share and starts_share are together above 1")
        has_starts = bool(self.selfplay.start_file or self.selfplay.endings)
        if self.selfplay.starts_share and not has_starts:
            raise ValueError("selfplay.starts_share needs selfplay.start_file or endings")
        require_observation(self.network.observation, "network.observation")
        return self
