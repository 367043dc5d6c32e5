"""Orders and harvests of AlphaZero's tree self-play.

Games continue from one order to the next: a harvest is determined by the plan with its seed and by
the weights of this and all earlier orders. The games under way, with their trees, are the state. A
`SelfPlay` is one set of games that advance together; the sets of a collector are independent.

This module imports neither torch nor networks: self-play processes use it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from rookery._core import SelfPlay
from rookery.data.samples import SampleBlock, concatenate
from rookery.runs.state import State, seed_of
from rookery.selfplay.judge import JudgePlan

NO_LIMIT = 2**63  # moves
RESIGNATIONS = 20  # checked resignations before the share of wrong ones is considered


COUNTS = ("simulations", "evaluations", "moves", "aborted", "resign_checked", "resign_wrong")


@dataclass(frozen=True)
class TreePlan:
    """Constants of a run."""

    options: Mapping[str, Any]  # arguments of `SelfPlay` except games and seed
    games: int  # per set; with a server, per group over all processes
    seed: int  # of the run
    workers: int = 1  # cores to use
    processes: int = 0  # of the server
    precision: Literal["float32", "bfloat16"] = "float32"  # of networks in torch
    device: str = "cpu"  # of networks in torch
    judge: JudgePlan | None = None  # of early stops, as `options` schedule them; None: none
    sets: int = 0  # of games; 0: one per worker, a single one for networks in torch
    first_set: int = 0  # number of the first one

    def seed_of(self, number: int) -> int:
        """Seed of a set of games."""
        return seed_of(self.seed, "games", number)


@dataclass(frozen=True)
class TreeOrder:
    """The samples to collect in the next iteration."""

    samples: int  # at least; unfinished games continue in the next iteration
    simulations: int  # of a full search
    fast_simulations: int
    resign_below: float  # below -1: no side resigns
    resign_wrong_limit: float  # no side resigns above this share of wrong resignations
    moves: int = 0  # searched, after which the order ends with fewer samples; 0: no limit

    def share(self, sets: int) -> TreeOrder:
        """The order for each of so many sets."""
        return replace(self, samples=-(-self.samples // sets), moves=-(-self.moves // sets))


@dataclass(frozen=True)
class TreeGame:
    """A finished game."""

    number: int
    start: str  # FEN
    moves: Sequence[str]  # UCI
    result: int  # 1, 0, -1: White's
    ending: str


@dataclass(frozen=True)
class TreeHarvest:
    """Samples of finished games, and the games."""

    block: SampleBlock
    games: Sequence[TreeGame]


@dataclass(frozen=True)
class Quota:
    """What one set of games contributes to an order."""

    samples: int
    until_moves: int  # of the set since the run began

    def met(self, play: SelfPlay) -> bool:
        """Whether the set has played enough."""
        return play.ready >= self.samples or play.moves >= self.until_moves


def prepare(play: SelfPlay, order: TreeOrder, sets: int) -> Quota:
    """Apply an order's settings to one of `sets` and announce that the network has changed."""
    play.network_changed()
    play.set_simulations(order.simulations, order.fast_simulations)
    checked = play.resign_checked
    careless = checked >= RESIGNATIONS and play.resign_wrong / checked > order.resign_wrong_limit
    play.set_resignation(-2.0 if careless else order.resign_below)
    own = order.share(sets)
    return Quota(own.samples, play.moves + own.moves if own.moves else NO_LIMIT)


def take(play: SelfPlay) -> TreeHarvest:
    """Take the finished games of a set."""
    block = SampleBlock.from_selfplay(play.take_samples())
    games = [
        TreeGame(game.number, game.start, game.moves, game.result, game.ending)
        for game in play.take_games()
    ]
    return TreeHarvest(block, games)


def merge(parts: Sequence[TreeHarvest]) -> TreeHarvest:
    """One harvest from several sets, with the games renumbered to be unique."""
    blocks, games = [], []
    for place, part in enumerate(parts):
        blocks.append(replace(part.block, games=part.block.games * len(parts) + place))
        games += [replace(game, number=game.number * len(parts) + place) for game in part.games]
    return TreeHarvest(concatenate(blocks), games)


def counts_of(plays: Sequence[SelfPlay]) -> dict[str, int]:
    """Totals since the first game."""
    return {name: sum(getattr(play, name) for play in plays) for name in COUNTS}


# --- Resuming ---


def put_sets(sets: Sequence[bytes], games: int) -> State:
    """`SelfPlay.get_state` of each set, of `games` games each."""
    state = State()
    for number, part in enumerate(sets):
        # Trees are mostly zeros and compress to a quarter in a fraction of a second.
        state.put_bytes(f"games{number}", zlib.compress(part, 1))
    state.values["workers"] = len(sets)
    state.values["games_each"] = games
    return state


def get_sets(state: State, games: int, log: Callable[[str], object]) -> list[bytes]:
    """The sets of a state; none if their number of games differs."""
    # Older checkpoints do not store the number of games of a set.
    before = state.values.get("games_each", games)
    if before != games:
        log(f"{games} parallel games instead of {before}: all games start anew")
        return []
    numbers = range(state.value("workers"))
    return [zlib.decompress(state.get_bytes(f"games{number}")) for number in numbers]
