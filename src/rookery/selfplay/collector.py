"""The seam between learning and playing: everything that plays in order to learn is a `Collector`.

    learner --Weights, order--> collector --harvest--> learner

Orders and harvests are plain data (frozen dataclasses of numbers, texts and NumPy arrays), weights
are bytes: the games may be played by threads, by other processes or by other machines, and the
algorithm does not change. There are three kinds of work, each with an order of its own:

    trees     AlphaZero: games with tree search        selfplay/trees.py, local.py, server.py
    data      engine: numbered games with alpha-beta   selfplay/datagen.py
    rollouts  PPO: so many plies of many games         selfplay/rollout.py

This module imports neither torch nor networks: self-play processes use it.
"""

from __future__ import annotations

import hashlib
import importlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

from rookery.runs.state import State

Order = TypeVar("Order", contravariant=True)
Harvest = TypeVar("Harvest", covariant=True)


@dataclass(frozen=True)
class Weights:
    """A network as the content of its model file (see `rookery.selfplay.networks`)."""

    data: bytes

    @cached_property
    def digest(self) -> str:
        """SHA-256 in hexadecimal: the name of these weights."""
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True)
class Piece:
    """Work that can be repeated anywhere: numbered games, each determined by this name.

    Only games that know nothing of each other can be cut into pieces. Those of `data` can. Those
    of `trees` and `rollouts` continue from one order to the next, so their work is named by
    weights, seed and the number of the order, and only the collector that holds the games under
    way can do it (`Collector.state`).
    """

    weights: str  # `Weights.digest` of the network that plays both sides
    seed: int
    first: int  # number of the first game
    last: int  # and of the last one

    def __len__(self) -> int:
        """Number of games."""
        return self.last - self.first + 1

    def __str__(self) -> str:
        """A short name."""
        return f"{self.weights[:16]}/{self.seed}/{self.first}..{self.last}"


@dataclass(frozen=True)
class Hooks:
    """What the learner's process does for its collector; nothing here changes the games."""

    log: Callable[[str], object] = lambda text: None  # a line for log.txt and the display
    show: Callable[[Iterable[Mapping[str, Any]]], object] = lambda boards: None  # see runs/live.py


class Collector(Protocol[Order, Harvest]):
    """Plays games with the weights that it is given. Derive from it to inherit the defaults."""

    overlaps: bool = False  # whether games are played between `begin` and the call of its result

    @abstractmethod
    def begin(self, weights: Weights, order: Order) -> Callable[[], Harvest]:
        """Start to play; call the result to wait for the harvest.

        It must be called exactly once, before the next `begin`, `counts` or `state`.
        """

    def counts(self) -> dict[str, int]:
        """Totals of what was played since the run's first game, by name; none by default."""
        return {}

    def state(self) -> State:
        """The games under way, for an exact resume; the trainer adds its own entries to it."""
        return State()

    def load_state(self, state: State) -> None:
        """Resume the games of such a state; by default there are none."""
        return None

    def close(self) -> None:
        """End processes and threads; may be called twice."""
        return None


# Kind of work -> backend -> class, made with (plan, hooks). Loaded when asked for, so that a
# backend may need packages that the others do not.
BACKENDS = {
    "trees": {
        "threads": "rookery.selfplay.local:ThreadCollector",
        "batches": "rookery.selfplay.local:BatchCollector",
        "server": "rookery.selfplay.server:ServerCollector",
    },
    "data": {"threads": "rookery.selfplay.datagen:DataCollector"},
    "rollouts": {"batches": "rookery.selfplay.rollout:RolloutCollector"},
}


def make_collector(kind: str, backend: str, plan: Any, hooks: Hooks | None = None) -> Any:
    """A collector for a kind of work; `plan` is what stays the same from order to order."""
    if backend not in BACKENDS[kind]:
        known = ", ".join(BACKENDS[kind])
        raise ValueError(f"there is no backend {backend!r} for {kind}; there are {known}")
    module, _, name = BACKENDS[kind][backend].partition(":")
    return vars(importlib.import_module(module))[name](plan, hooks or Hooks())
