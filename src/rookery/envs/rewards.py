"""Rewards, and interim rewards for book moves and progress in tablebase positions.

The rewards of the papers:

| preset | win | draw | loss | each move | illegal | book | tablebase |
|---|---|---|---|---|---|---|---|
| `default` | 1 | 0 | -1 | 0 | -1 | 0 | 0 |
| `salisch2023-v1` (Salisch 2023, version 1) | 100 | 0 | -100 | 0 | -100 | 0 | 0 |
| `salisch2023-v2` (version 2) | 1000 | 0 | -1000 | 0 | -1000 | 0 | 0 |
| `salisch2023-v3` (versions 3 to 10) | 1000 | 0 | -1000 | 0 | -1000 | 10 | 10 |
| `kanis2016` (Kanis 2016, Table 3) | 10 | -10 | -10 | -1 | -10 | 0 | 0 |

Salisch 2023 masks illegal actions and so has no reward for them; ours equals that of a loss. Its
tablebase reward uses the plies to the next capture or pawn move, as in Syzygy tables: that is the
option `tablebase_metric="dtz"` of the environments. Without it the distance to mate is preferred.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from rookery._core import Game
from rookery.data.books import Book
from rookery.data.tablebases import METRICS, Tablebases
from rookery.envs.rules import Termination


@dataclass(frozen=True)
class Ply:
    """One action and its effect, the argument of a function of rewards."""

    before: Game  # the position in which it was chosen
    after: Game  # the same position after a claim or an illegal action
    move: str  # UCI; empty for a claim or an illegal action
    legal: bool
    termination: Termination | None  # how the game ended with it; None while it continues

    @property
    def mover(self) -> bool:
        """The side that acted, True: White."""
        return self.before.turn


RewardFunction = Callable[[Ply, bool], float]  # (ply, side): the reward of `side`, True: White


@dataclass(frozen=True)
class Rewards:
    """Rewards of the side concerned."""

    win: float = 1.0
    draw: float = 0.0
    loss: float = -1.0
    move: float = 0.0  # for every legal move made, the last one included
    illegal: float = -1.0  # for an illegal attempt, instead of `move`
    book: float = 0.0  # for a move of the opening book (Salisch 2023, section 3.1.6)
    tablebase: float = 0.0  # for a move that makes progress in a won tablebase position

    def of_result(self, winner: bool | None, side: bool) -> float:
        """The reward of `side` (True: White) for a game that `winner` won (None: drawn)."""
        if winner is None:
            return self.draw
        return self.win if winner == side else self.loss

    def of_ply(self, ply: Ply, side: bool) -> float:
        """The reward of `side` for a ply, without book and tablebase; for functions of rewards."""
        reward = 0.0
        if side == ply.mover:
            reward = self.move if ply.legal else self.illegal
        if ply.termination is not None:
            reward += self.of_result(ply.termination.winner, side)
        return reward


PRESETS = {
    "default": Rewards(),
    "salisch2023-v1": Rewards(win=100.0, loss=-100.0, illegal=-100.0),
    "salisch2023-v2": Rewards(win=1000.0, loss=-1000.0, illegal=-1000.0),
    "salisch2023-v3": Rewards(win=1000.0, loss=-1000.0, illegal=-1000.0, book=10.0, tablebase=10.0),
    "kanis2016": Rewards(win=10.0, draw=-10.0, loss=-10.0, move=-1.0, illegal=-10.0),
}
OLD_NAMES = {
    "000-v1": "salisch2023-v1",
    "000-v2": "salisch2023-v2",
    "000-v3": "salisch2023-v3",
    "003": "kanis2016",
}


def rewards_of(what: Rewards | str | Mapping[str, float] | RewardFunction) -> Rewards:
    """The rewards of a preset, or the default with the changes of a mapping.

    A ValueError for a function, which only environments of single games can call.
    """
    if callable(what):
        raise ValueError(
            "rewards is a function; only rookery/Chess-v0, rookery/KPK-v0, PettingZoo and RLlib "
            "environments take one. With many games at once, compute your rewards from their "
            "arrays (VectorGames.material and others)"
        )
    if isinstance(what, Rewards):
        return what
    if isinstance(what, str):
        name = OLD_NAMES.get(what, what)
        if name not in PRESETS:
            raise ValueError(f"rewards {what!r}: known presets are {', '.join(PRESETS)}")
        return PRESETS[name]
    known = [field.name for field in fields(Rewards)]
    for key in what:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
            raise ValueError(f"unknown reward {key!r}; {hint}")
    return replace(Rewards(), **{key: float(value) for key, value in what.items()})


class Distance(NamedTuple):
    """The distance of a won position; only distances of the same metric are comparable."""

    metric: str  # "dtm" or "dtz" (`data/tablebases.py`)
    plies: int


class InterimRewards:
    """Immediate rewards of good moves, as defined by Salisch 2023 (sections 3.1.5 and 3.1.6).

    - A book move earns `rewards.book`.
    - In a won tablebase position, a move that reduces the distance earns `rewards.tablebase`. The
      distance is stored after each of a side's moves and compared with the one stored before; a
      side's first such move is compared with the position before it. A move that gives the win
      away clears the stored distance.

    | `metric` | distance | rewarded moves |
    |---|---|---|
    | "dtz" | plies to the next capture or pawn move, from Syzygy tables, as in the paper | those that lower it; not a capture or pawn move that starts a longer count |
    | "dtm" | plies to mate, from Gaviota tables | those that lower it |
    | None | plies to mate if a table has them, otherwise as "dtz" | those that lower it; not one that changes the metric |

    Distances of different metrics are never compared: if the stored one has the other metric, that
    of the position before the move is used instead.
    """  # noqa: E501 (the table)

    def __init__(
        self,
        rewards: Rewards,
        book: Book | None = None,
        tablebases: Tablebases | None = None,
        metric: str | None = None,
    ) -> None:
        """Use this book and these tables; either may be missing."""
        if metric is not None and metric not in METRICS:
            raise ValueError(
                f"tablebase_metric is {metric!r}; it must be None or one of {', '.join(METRICS)}"
            )
        self._rewards = rewards
        self._book = book
        self._tablebases = tablebases
        self._metric = metric
        self.distances: dict[bool, Distance] = {}  # by side, stored after its last move

    def new_game(self) -> None:
        """Forget the stored distances."""
        self.distances.clear()

    def book_reward(self, before: Game, move: str) -> float:
        """Reward for `move`, about to be made in `before`."""
        if self._book is None or not self._rewards.book:
            return 0.0
        return self._rewards.book if self._book.contains(before, move) else 0.0

    def distance(self, game: Game, side: bool) -> Distance | None:
        """The tablebase distance of a position won for `side`; None if not won or unknown."""
        if self._tablebases is None or not self._rewards.tablebase:
            return None
        probe = self._tablebases.probe(game, self._metric)
        if probe is None or (probe.wdl if game.turn == side else -probe.wdl) != 2:
            return None
        return Distance(probe.metric, probe.distance)

    def tablebase_reward(
        self, before: Distance | None, after: Distance | None, side: bool
    ) -> float:
        """Reward for a move of `side` from one `distance` to another."""
        last = self.distances.pop(side, None)
        if before is None or after is None:
            return 0.0
        self.distances[side] = after
        if last is None or last.metric != after.metric:
            last = before
        closer = last.metric == after.metric and after.plies < last.plies
        return self._rewards.tablebase if closer else 0.0
