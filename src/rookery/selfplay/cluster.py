"""Games played on a cluster: the same collectors as on one machine, on other machines.

A piece carries its order and, if its games continue, the games under way; plan and weights are
shared (`Pool.share`) and sent once. The node makes the collector of one machine, plays, and returns
the harvest and the games.
"""

from __future__ import annotations

import hashlib
import sys
import types
import typing
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from rookery.base.messages import pack, unpack
from rookery.cluster.jobs import Done, Job
from rookery.cluster.node import cached
from rookery.cluster.pool import Pool
from rookery.runs.state import State
from rookery.selfplay.collector import Collector, Hooks, Weights, make_collector
from rookery.selfplay.splits import SPLITS

WORK = "rookery.selfplay.cluster:play"


@dataclass
class Set:
    """Games that continue from order to order, as of the last harvest."""

    state: dict[str, Any]  # see `state_content`
    counts: Mapping[str, int]


class ClusterCollector(Collector[Any, Any]):
    """Plays a kind of work on a pool."""

    def __init__(self, kind: str, backend: str, plan: Any, hooks: Hooks, pool: Pool) -> None:
        """Prepare; games that continue begin here."""
        self.kind, self.backend, self.plan, self.hooks, self.pool = kind, backend, plan, hooks, pool
        self.split = SPLITS[kind]
        count = self.split.sets(plan, backend)
        self.sets = [self._begin_set(number, None) for number in range(count)]
        self.overlaps = count > 1 and self.split.overlaps
        if count == 1:
            hooks.log("all games form one set, so one node plays; see 'sets' in docs/cluster.md")
        self._ahead: list[Job] = []

    def begin(self, weights: Weights, order: Any) -> Callable[[], Any]:
        """Send the pieces; the result waits for them."""
        jobs = self._jobs(weights, order)
        following = self.split.following(order)
        ahead = self._jobs(weights, following) if following is not None else []
        wanted = {job.key for job in (*jobs, *ahead)}
        self.pool.forget([job for job in self._ahead if job.key not in wanted])
        self.pool.submit([*jobs, *ahead])
        self._ahead = [*jobs, *ahead]

        def finish() -> Any:
            try:
                results = [unpack(self.pool.take(job, self.hooks.check_stop)) for job in jobs]
            except BaseException:
                self.close()
                raise
            self._ahead = ahead
            if self.sets:
                self.sets = [Set(each["state"], each["counts"]) for each in results]
            harvest = self.split.harvest
            return self.split.merge([revive(harvest, each["harvest"]) for each in results])

        return finish

    def _jobs(self, weights: Weights, order: Any) -> list[Job]:
        further = [getattr(order, name) for name in self.split.weights]
        blobs = [weights.data, *(each.data for each in further if each is not None)]
        order = replace(order, **dict.fromkeys(self.split.weights))
        common: dict[str, Any] = {"kind": self.kind, "backend": self.backend}
        common["further"] = [each is not None for each in further]
        if not self.sets:
            plan = self.split.alone(self.plan)
            shared = tuple(self.pool.share(each) for each in (pack(plan), *blobs))
            parts = self.split.parts(plan, order, self.pool.slots)
            return [
                self._job(weights, label, {**common, "order": part}, shared)
                for label, part in parts
            ]
        order = self.split.order_of_set(order, len(self.sets))
        digests = [self.pool.share(each) for each in blobs]
        jobs = []
        for number, each in enumerate(self.sets):
            plan = self.pool.share(pack(self.split.one(self.plan, number)))
            content = {**common, "order": order, "state": each.state}
            label = f"{self.plan.seed}/set {number}"
            jobs.append(self._job(weights, label, content, (plan, *digests)))
        return jobs

    def _job(
        self, weights: Weights, label: str, content: dict[str, Any], shared: tuple[str, ...]
    ) -> Job:
        name = f"{self.kind}/{weights.digest[:16]}/{label}"
        return Job(name, WORK, pack(content), shared, self.split.exact)

    # --- Games that continue ---

    def _begin_set(self, number: int, state: State | None) -> Set:
        """New games, or those of a state, as one machine has them."""
        local = make_collector(self.kind, self.backend, self.split.one(self.plan, number))
        try:
            if state is not None:
                local.load_state(state)
            return Set(state_content(local.state()), local.counts())
        finally:
            local.close()

    def counts(self) -> dict[str, int]:
        """Totals since the run's first game."""
        names = self.sets[0].counts if self.sets else {}
        return {name: sum(each.counts[name] for each in self.sets) for name in names}

    def state(self) -> State:
        """The games under way of all sets."""
        if not self.sets:
            return State()
        states = [state_of(each.state) for each in self.sets]
        joined: State = self.split.join(self.plan, states)
        return joined

    def load_state(self, state: State) -> None:
        """Resume the games of a state; missing sets begin new games."""
        if self.sets:
            parts = self.split.divide(self.plan, state, len(self.sets), self.hooks.log)
            self.sets = [self._begin_set(number, part) for number, part in enumerate(parts)]

    def close(self) -> None:
        """Give up the pieces under way; the pool belongs to the run."""
        self.pool.forget(self._ahead)
        self._ahead = []


# --- On a node ---


def play(shared: tuple[bytes, ...], content: bytes) -> Done:
    """Play a piece, as a work function of the cluster."""
    message = unpack(content)
    kind, backend, split = message["kind"], message["backend"], SPLITS[message["kind"]]
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)  # a piece has one core
    further = iter(shared[2:])
    changes = {
        name: Weights(next(further)) if given else None
        for name, given in zip(split.weights, message["further"], strict=True)
    }
    order = replace(revive(split.order, message["order"]), **changes)

    def make() -> Any:
        return make_collector(kind, backend, revive(split.plan, unpack(shared[0])), Hooks(_refuse))

    if "state" not in message:
        collector = cached((kind, backend, hashlib.sha256(shared[0]).digest()), make)
        harvest = collector.begin(Weights(shared[1]), order)()
        return pack({"harvest": harvest}), split.positions(harvest)
    collector = make()
    try:
        collector.load_state(state_of(message["state"]))
        harvest = collector.begin(Weights(shared[1]), order)()
        state = state_content(collector.state())
        result = {"harvest": harvest, "state": state, "counts": collector.counts()}
        return pack(result), split.positions(harvest)
    finally:
        collector.close()


def _refuse(text: str) -> None:
    """A collector on a node has nothing to say unless something differs from the trainer's."""
    if "instead of" in text or "change from here on" in text:
        raise ValueError(f"this node differs from the trainer: {text}")


# --- Plain data ---


def state_content(state: State) -> dict[str, Any]:
    """A state as arrays and JSON values."""
    return {"tensors": {k: v.numpy() for k, v in state.tensors.items()}, "values": state.values}


def state_of(content: Mapping[str, Any]) -> State:
    """The inverse of `state_content`."""
    import torch

    tensors = {k: torch.from_numpy(np.array(v)) for k, v in content["tensors"].items()}
    return State(tensors, dict(content["values"]))


def revive(kind: Any, value: Any) -> Any:
    """A value of the annotated type from what `unpack` returns: dataclasses from dictionaries."""
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        kinds = [each for each in typing.get_args(kind) if each is not type(None)]
        return value if value is None else revive(kinds[0], value)
    if is_dataclass(kind) and isinstance(value, Mapping):
        hints = typing.get_type_hints(kind)
        found = {each.name: revive(hints[each.name], value[each.name]) for each in fields(kind)}
        return kind(**found)  # type: ignore[operator]
    if typing.get_origin(kind) is Counter:
        return Counter(value)
    if typing.get_origin(kind) in (list, Sequence) and isinstance(value, list):
        inner = typing.get_args(kind)[0]
        return [revive(inner, each) for each in value]
    return value
