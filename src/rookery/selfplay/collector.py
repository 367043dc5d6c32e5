"""The interface between learning and playing: training games are played by a `Collector`.

    learner --Weights, order--> collector --harvest--> learner

Orders and harvests are plain data (frozen dataclasses of numbers, strings and NumPy arrays) and
weights are bytes, so threads, other processes or other machines can play the games without a change
to the algorithm. There are several kinds of work, each with its own type of order:

    trees        AlphaZero: games with tree search           selfplay/trees.py, local.py, server.py
    data         engine: numbered games with alpha-beta      selfplay/datagen.py
    pairs        engine: its gate, numbered pairs of games   selfplay/pairs.py
    rollouts     PPO: a fixed number of plies of many games  selfplay/rollout.py
    transitions  double DQN: numbered games                  selfplay/transitions.py
    leaves       TD-leaf: numbered segments of games         selfplay/leaves.py

With a pool (`Hooks.pool`) every kind is played on a cluster, see selfplay/cluster.py.

This module imports neither torch nor networks: self-play processes use it.
"""

from __future__ import annotations

import hashlib
import importlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from rookery.runs.state import State

if TYPE_CHECKING:
    from rookery.cluster.pool import Pool

Order = TypeVar("Order", contravariant=True)
Harvest = TypeVar("Harvest", covariant=True)


@dataclass(frozen=True)
class Weights:
    """A network as the bytes of its model file (see `rookery.selfplay.networks`)."""

    data: bytes

    @cached_property
    def digest(self) -> str:
        """SHA-256 in hexadecimal, which identifies the weights."""
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True)
class Piece:
    """A range of numbered games that any collector can play: these fields determine them.

    The games of `trees` and `rollouts` are not numbered pieces: they continue from one order to the
    next, and move with their state.
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
    """Callbacks into the learner's process, which do not affect the games."""

    log: Callable[[str], object] = lambda text: None  # write a line to log.txt and the display
    check_stop: Callable[[], object] = lambda: None  # raises if the order should be given up
    show: Callable[[Iterable[Mapping[str, Any]]], object] = lambda boards: None  # see runs/live.py
    pool: Pool | None = None  # a cluster that plays the games; None: this machine


class Collector(Protocol[Order, Harvest]):
    """Plays games with given weights. Derive from it to inherit the defaults."""

    overlaps: bool = False  # whether games run in the background after `begin`

    @abstractmethod
    def begin(self, weights: Weights, order: Order) -> Callable[[], Harvest]:
        """Start an order; the result, to be called exactly once, waits for the harvest.

        Call it before the next `begin`, `counts` or `state`.
        """

    def counts(self) -> dict[str, int]:
        """Totals since the run's first game, by name; none by default."""
        return {}

    def state(self) -> State:
        """The games under way, for an exact resume; the trainer adds its own entries."""
        return State()

    def load_state(self, state: State) -> None:
        """Resume the games of a state; by default there are none."""
        return None

    def close(self) -> None:
        """End processes and threads; may be called twice."""
        return None


# Kind of work -> backend -> class, constructed with (plan, hooks). Classes are loaded on demand,
# so that each backend may need different packages.
BACKENDS = {
    "trees": {
        "threads": "rookery.selfplay.local:ThreadCollector",
        "batches": "rookery.selfplay.local:BatchCollector",
        "server": "rookery.selfplay.server:ServerCollector",
    },
    "data": {"threads": "rookery.selfplay.datagen:DataCollector"},
    "pairs": {"threads": "rookery.selfplay.pairs:PairCollector"},
    "rollouts": {"batches": "rookery.selfplay.rollout:RolloutCollector"},
    "transitions": {"threads": "rookery.selfplay.transitions:TransitionCollector"},
    "leaves": {"threads": "rookery.selfplay.leaves:LeafCollector"},
}


def make_collector(kind: str, backend: str, plan: Any, hooks: Hooks | None = None) -> Any:
    """A collector for a kind of work; `plan` holds what is constant over all orders."""
    if backend not in BACKENDS[kind]:
        known = ", ".join(BACKENDS[kind])
        raise ValueError(f"there is no backend {backend!r} for {kind}; there are {known}")
    hooks = hooks or Hooks()
    if hooks.pool is not None:
        from rookery.selfplay.cluster import ClusterCollector

        return ClusterCollector(kind, backend, plan, hooks, hooks.pool)
    module, _, name = BACKENDS[kind][backend].partition(":")
    return vars(importlib.import_module(module))[name](plan, hooks)
