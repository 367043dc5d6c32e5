"""Tree self-play as plain data: what AlphaZero orders and what finished games teach.

Games continue from one order to the next. What an order brings is determined by the plan (with
its seed), the weights of this and all earlier orders, and how many orders there were; the games
under way, with their trees, are the state that a collector owns. A `SelfPlay` is one set of games
that advance together; the sets of a collector know nothing of each other.

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

RESIGNATIONS = 20  # games played on before their share of wrong ones says anything


@dataclass(frozen=True)
class TreePlan:
    """What stays the same in a run."""

    options: Mapping[str, Any]  # arguments of `SelfPlay` except games and seed
    games: int  # of each set (of the server: of each group of all processes together)
    seed: int  # of the run
    workers: int = 1  # cores of this machine to use
    processes: int = 0  # of the server
    precision: Literal["float32", "bfloat16"] = "float32"  # of networks in torch

    def seed_of(self, number: int) -> int:
        """Seed of a set of games."""
        return seed_of(self.seed, "games", number)


@dataclass(frozen=True)
class TreeOrder:
    """What is wanted of the next iteration."""

    samples: int  # at least; games under way continue in the next one
    simulations: int  # of a full search
    fast_simulations: int
    resign_below: float  # below -1: no side resigns
    resign_wrong_limit: float  # above this share of wrong resignations no side resigns

    def share(self, sets: int) -> int:
        """Samples that each set has to bring."""
        return -(-self.samples // sets)


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
    """What finished games teach."""

    block: SampleBlock
    games: Sequence[TreeGame]


def prepare(play: SelfPlay, order: TreeOrder) -> None:
    """Apply an order's settings to games under way; the network has changed."""
    play.network_changed()
    play.set_simulations(order.simulations, order.fast_simulations)
    checked = play.resign_checked
    careless = checked >= RESIGNATIONS and play.resign_wrong / checked > order.resign_wrong_limit
    play.set_resignation(-2.0 if careless else order.resign_below)


def take(play: SelfPlay) -> TreeHarvest:
    """Take what the finished games of a set teach."""
    block = SampleBlock.from_selfplay(play.take_samples())
    games = [
        TreeGame(game.number, game.start, game.moves, game.result, game.ending)
        for game in play.take_games()
    ]
    return TreeHarvest(block, games)


def merge(parts: Sequence[TreeHarvest]) -> TreeHarvest:
    """One harvest of several sets, renumbered so that no two games share a number."""
    blocks, games = [], []
    for place, part in enumerate(parts):
        blocks.append(replace(part.block, games=part.block.games * len(parts) + place))
        games += [replace(game, number=game.number * len(parts) + place) for game in part.games]
    return TreeHarvest(concatenate(blocks), games)


def counts_of(plays: Sequence[SelfPlay]) -> dict[str, int]:
    """Totals since the first game."""
    return {
        "simulations": sum(play.simulations for play in plays),
        "evaluations": sum(play.evaluations for play in plays),
        "moves": sum(play.moves for play in plays),
        "aborted": sum(play.aborted for play in plays),
        "resign_checked": sum(play.resign_checked for play in plays),
        "resign_wrong": sum(play.resign_wrong for play in plays),
    }


# --- Resuming ---


def put_sets(sets: Sequence[bytes], games: int) -> State:
    """`SelfPlay.get_state` of each set, of `games` games each."""
    state = State()
    for number, part in enumerate(sets):
        # Trees are mostly zeros: a quarter of the size, for a fraction of a second.
        state.put_bytes(f"games{number}", zlib.compress(part, 1))
    state.values["workers"] = len(sets)
    state.values["games_each"] = games
    return state


def get_sets(state: State, games: int, log: Callable[[str], object]) -> list[bytes]:
    """The sets of a state; none if they are of another size."""
    # Checkpoints from before there were processes do not say how many games a set has.
    before = state.values.get("games_each", games)
    if before != games:
        log(f"{games} games at a time instead of {before}: all begin anew")
        return []
    numbers = range(state.value("workers"))
    return [zlib.decompress(state.get_bytes(f"games{number}")) for number in numbers]
