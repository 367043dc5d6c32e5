"""The settings of AlphaZero."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from rookery._core import STANDARD_BOARD
from rookery.base.section import Section
from rookery.encodings import require_observation
from rookery.learning.policy_value import LearnSettings, NetworkSettings
from rookery.training.recipe import Recipe


class TreeSettings(Section):
    """The search while learning."""

    simulations: int = Field(default=64, ge=1)
    """Simulations of a full search, at the end of the run."""
    first_simulations: int = Field(default=0, ge=0)
    """Simulations at the start, growing exponentially (progressive simulations); 0: constant."""
    fast_simulations: int = Field(default=16, ge=1)
    """Simulations of a fast search (playout cap randomisation)."""
    full_share: float = Field(default=1.0, gt=0, le=1)
    """Share of moves with a full search; only these are learnt from."""
    gumbel_actions: int = Field(default=16, ge=0)
    """Moves considered at the root by sequential halving; 0: PUCT with Dirichlet noise."""
    c_visit: float = Field(default=50.0, ge=0)
    """Gumbel: weight of the values relative to the policy."""
    c_scale: float = Field(default=1.0, ge=0)
    """Gumbel: scale of the values."""
    c_init: float = Field(default=1.745, ge=0)
    """PUCT: initial exploration."""
    c_base: float = Field(default=38739.0, gt=0)
    """PUCT: visits at which exploration starts to grow."""
    c_factor: float = Field(default=3.894, ge=0)
    """PUCT: how fast it grows; 1 in AlphaZero."""
    fpu_reduction: float = Field(default=0.33, ge=0)
    """First-play urgency: reduction below the parent's value for moves without visits."""
    root_fpu_reduction: float = Field(default=0.0, ge=0)
    """First-play urgency at the root."""
    draw_visits: float = Field(default=0.0, ge=0)
    """Virtual draws added to every move: Q = W / (N + draw_visits); 1 in Vanhoutte 2022."""
    noise_alpha: float = Field(default=0.3, gt=0)
    """Parameter of the Dirichlet noise at the root."""
    noise_share: float = Field(default=0.25, ge=0, le=1)
    """Share of the noise in the root's priors."""
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
    """Parallel games per core."""
    samples: int = Field(default=4096, ge=1)
    """New samples per iteration. With `replay.sessions`: moves searched, whose samples come when
    their games end, so that an iteration takes the same time from the first one on."""
    sets: int = Field(default=0, ge=0, le=65536)
    """Sets of so many games, which a cluster plays at once; 0: one per worker, or a single one if
    the network runs in torch. With several, the learner learns while games are played."""
    temperature: float = Field(default=1.0, ge=0)
    """Temperature of the moves at the start of a game (with Gumbel: scale of its noise)."""
    late_temperature: float = Field(default=0.25, ge=0)
    """Temperature of later moves."""
    temperature_plies: int = Field(default=30, ge=0)
    """Plies that count as the start of a game."""
    max_plies: int = Field(default=300, ge=1)
    """A longer game is cut off, with the search's value as its result."""
    random_share: float = Field(default=0.2, ge=0, le=1)
    """Share of the games that begin with random moves."""
    random_plies: list[int] = Field(default=[4, 40], min_length=2, max_length=2)
    """Fewest and most of these random plies."""
    start_file: str = ""
    """Additional start positions: a CSV of puzzles, or a file with one FEN per line."""
    start_themes: list[str] = Field(default=["mateIn1", "mateIn2"])
    """Themes of the puzzles to use; empty: all."""
    endings: list[str] = Field(default=[])
    """Material of endings to start from as well, such as KQvK, with either colour."""
    starts_share: float = Field(default=0.0, ge=0, le=1)
    """Share of the games that start from these positions."""
    resign_below: float = Field(default=-2.0, ge=-2, lt=0)
    """A side resigns when its value stays below this; below -1: never."""
    resign_check_share: float = Field(default=0.1, ge=0, le=1)
    """Share of resignable games played to the end, to count wrong resignations."""
    resign_wrong_limit: float = Field(default=0.05, ge=0, le=1)
    """Largest share of wrong resignations; above it no game is resigned."""
    processes: int = Field(default=0, ge=0, le=256)
    """Self-play processes that share this one's network (prediction server); 0: all games are
    played in this process, which is faster on few cores."""
    precision: Literal["float32", "bfloat16"] = "float32"
    """Precision of a residual network in self-play; bfloat16 is twice as fast on newer CPUs."""
    cache_megabytes: int = Field(default=32, ge=0)
    """Size of the cache of network evaluations."""
    pgn_games: int = Field(default=4, ge=0)
    """Games per iteration written to games/ as PGN."""
    pgn_iterations: int = Field(default=250, ge=1)
    """Newest iterations whose games are kept there."""


class JudgeSettings(Section):
    """Early stops (Deep Pepper 2018): an engine ends games that are decided."""

    every: int = Field(default=0, ge=0)
    """Plies between two looks at a game; 0: no early stops."""
    first: int = Field(default=80, ge=0)
    """Ply of the first look."""
    pawns: float = Field(default=6.5, gt=0, lt=10)
    """A game ends if the score is beyond this; the scaled score is the target of its samples."""
    engine: str = "stockfish"
    """Name or command of the UCI engine."""
    nodes: int = Field(default=1000, ge=1)
    """Its nodes per position."""


class ReplaySettings(Section):
    """The samples learnt from."""

    window: int = Field(default=500_000, ge=1)
    """Size of the window of newest samples, at the end of the run."""
    first_window: int = Field(default=50_000, ge=1)
    """Size at the start; it grows linearly to `window`."""
    passes: float = Field(default=3.0, gt=0)
    """How often a sample is drawn on average before it is dropped; above 4 the network overfits to
    old games."""
    sessions: list[int] = Field(default=[])
    """Training sessions (Vanhoutte 2022): for each, the positions that one network plays before it
    learns from them, `passes` times; the run ends after the last. Empty: every iteration plays and
    learns."""
    surprise_share: float = Field(default=0.5, ge=0, le=1)
    """Share of the draws weighted by policy surprise."""
    labels: str = ""
    """Samples of `rookery data` to mix with those of self-play, so that a pretrained network does
    not forget them: a Parquet file, or a folder of them."""
    labels_share: float = Field(default=0.3, ge=0, lt=1)
    """Share of these samples in every minibatch, if there are any."""


class GateSettings(Section):
    """Whether a new network must beat the current one before it plays the training games."""

    games: int = Field(default=0, ge=0, multiple_of=2)
    """Games of the match, in pairs with colours swapped; 0: no gate."""
    every: int = Field(default=10, ge=1)
    """Iterations between two matches."""
    simulations: int = Field(default=64, ge=1)
    """Simulations per move."""
    score: float = Field(default=0.55, ge=0, le=1)
    """Score that the new network needs."""


class EvaluationSettings(Section):
    """What is measured at every tenth of the run."""

    games: int = Field(default=100, ge=2, multiple_of=2)
    """Against each opponent, half of them with each colour."""
    opponents: list[Literal["random", "greedy", "greedy-safe"]] = Field(
        default=["random", "greedy-safe"]
    )
    simulations: int = Field(default=64, ge=0)
    """Simulations per move; 0: the policy without search."""


class AlphaZeroRecipe(Recipe):
    """All settings of an AlphaZero run."""

    tree: TreeSettings = TreeSettings()
    selfplay: SelfPlaySettings = SelfPlaySettings()
    judge: JudgeSettings = JudgeSettings()
    replay: ReplaySettings = ReplaySettings()
    network: NetworkSettings = NetworkSettings()
    learn: LearnSettings = LearnSettings()
    gate: GateSettings = GateSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    initial: str = ""
    """A model file or run folder with the initial weights, of any board; empty: random weights."""

    ANY_BOARD: ClassVar[bool] = True

    @model_validator(mode="after")
    def _check(self) -> AlphaZeroRecipe:
        low, high = self.selfplay.random_plies
        if not 0 <= low <= high:
            raise ValueError("selfplay.random_plies must be [low, high] with 0 <= low <= high")
        if self.selfplay.random_share + self.selfplay.starts_share > 1:
            raise ValueError("selfplay.random_share plus starts_share is above 1")
        has_starts = bool(self.selfplay.start_file or self.selfplay.endings)
        if self.selfplay.starts_share and not has_starts:
            raise ValueError("selfplay.starts_share needs selfplay.start_file or endings")
        if self.board != STANDARD_BOARD and (self.selfplay.start_file or self.judge.every):
            raise ValueError("selfplay.start_file and judge.every are for the standard board")
        if self.judge.every and self.selfplay.processes:
            raise ValueError("judge.every needs selfplay.processes = 0")
        require_observation(self.network.observation, "network.observation")
        return self
