"""Pieces of work and their results.

A job names a function and all of its arguments as bytes. Its key is the hash of these: two jobs
with one key have the same result, wherever and however often they are done.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

Done = tuple[bytes, int]  # what a work function returns: the result, and the positions in it


@dataclass(frozen=True)
class Job:
    """A piece of work."""

    name: str  # for people: run, weights, seed, numbers
    work: str  # "module:function", called with (shared, content); returns `Done`
    content: bytes
    shared: tuple[str, ...] = ()  # digests of bytes that many jobs share, see `Pool.share`
    # Whether every processor gives the same bits: true of integers, not of floating-point sums.
    exact: bool = True

    @cached_property
    def key(self) -> str:
        """SHA-256 of everything that determines the result."""
        parts = [self.work.encode(), self.content, *(digest.encode() for digest in self.shared)]
        summary = hashlib.sha256()
        for part in parts:
            summary.update(len(part).to_bytes(8, "little"))
            summary.update(part)
        return summary.hexdigest()


@dataclass(frozen=True)
class Answer:
    """A result as it came from a node."""

    data: bytes
    digest: str  # SHA-256 of the data, computed on the node
    positions: int = 0
    seconds: float = 0.0  # on the node
    cpu_seconds: float = 0.0

    @cached_property
    def intact(self) -> bool:
        """Whether the data are those that the node sent."""
        return hashlib.sha256(self.data).hexdigest() == self.digest


@dataclass(frozen=True)
class Lost:
    """A piece whose node, process or result is gone; it is done again."""

    reason: str


@dataclass(frozen=True)
class Failed:
    """A piece whose function raised an exception."""

    reason: str


Outcome = Answer | Lost | Failed


@dataclass(frozen=True)
class NodeInfo:
    """What a node has, as it says itself."""

    id: str
    name: str  # host, and a part of the id
    slots: int  # pieces at once
    facts: dict[str, str] = field(default_factory=dict)  # see `rookery.cluster.node.facts`
