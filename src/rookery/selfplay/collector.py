"""Who plays the games of AlphaZero: the seam between the learner and self-play.

A `Collector` owns games under way and brings back what finished ones teach. Three of them work on
this machine:

    ThreadCollector   a native network; on each core a thread with games of its own
    BatchCollector    any network; all games in this process, one batch of leaves after the other
    ServerCollector   any network; processes that search, and this one judging for all of them

The first two are in local_collectors.py, the third, paper 002's prediction server (section 3.8),
in prediction_server.py. A collector on other machines needs nothing but these methods: orders and
harvests are plain data. This module loads neither torch nor networks: self-play processes use it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from rookery._core import SelfPlay, SelfPlayGame
from rookery.data.samples import SampleBlock, concatenate

RESIGNATIONS = 20  # games played on before their share of wrong ones says anything
COUNTERS = ("simulations", "evaluations", "moves", "aborted", "resign_checked", "resign_wrong")

GameOptions = Mapping[str, Any]  # arguments of `SelfPlay` but its seed; plain data


@dataclass(frozen=True)
class Order:
    """What is wanted of the next iteration."""

    samples: int  # at least; games under way go on in the next one
    simulations: int  # of a full search
    fast_simulations: int
    resign_below: float  # below -1: nobody gives up
    resign_wrong_limit: float  # above this share of wrong resignations nobody gives up


@dataclass
class Harvest:
    """What finished games teach."""

    block: SampleBlock
    games: list[SelfPlayGame]


class Collector(Protocol):
    """Plays games with the networks that it is given."""

    overlaps: bool  # whether games are played between `begin` and the call of what it returns

    def begin(self, network: Any, order: Order) -> Callable[[], Harvest]:
        """Play with a copy of a network's present weights; call the result to wait for the games.

        It must be called, once, before the next `begin`, `counts` or `state`.
        """
        ...

    def counts(self) -> dict[str, int]:
        """Each of `COUNTERS` since the beginning."""
        ...

    def state(self) -> list[bytes]:
        """The games under way, for an exact resume."""
        ...

    def load_state(self, states: Sequence[bytes]) -> None:
        """Go on with these games; where their number differs, the others begin anew."""
        ...

    def close(self) -> None:
        """End processes and threads; may be called twice."""
        ...


def share_of(order: Order, parts: int) -> int:
    """Samples that each of so many equal parts has to bring."""
    return -(-order.samples // parts)


def prepare(play: SelfPlay, order: Order) -> None:
    """Apply an order's settings to games under way; the network has changed."""
    play.network_changed()
    play.set_simulations(order.simulations, order.fast_simulations)
    checked = play.resign_checked
    careless = checked >= RESIGNATIONS and play.resign_wrong / checked > order.resign_wrong_limit
    play.set_resignation(-2.0 if careless else order.resign_below)


def harvest(plays: Sequence[SelfPlay]) -> Harvest:
    """Take what finished games of this process teach."""
    return merge(
        [(SampleBlock.from_selfplay(play.take_samples()), play.take_games()) for play in plays]
    )


def merge(parts: Sequence[tuple[SampleBlock, list[SelfPlayGame]]]) -> Harvest:
    """One harvest of samples and games of several `SelfPlay`; no two games share a number."""
    blocks, games = [], []
    for place, (block, finished) in enumerate(parts):
        blocks.append(replace(block, games=block.games * len(parts) + place))
        for game in finished:
            number = game.number * len(parts) + place
            games.append(SelfPlayGame(number, game.start, game.moves, game.result, game.ending))
    return Harvest(concatenate(blocks), games)


def counts_of(plays: Sequence[SelfPlay]) -> dict[str, int]:
    """Sums of the counters."""
    return {name: sum(getattr(play, name) for play in plays) for name in COUNTERS}
