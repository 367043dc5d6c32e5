"""What the dispatcher knows of pieces and nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rookery.cluster.jobs import Answer, Job, NodeInfo

AHEAD = 1  # pieces that wait on a node


@dataclass(eq=False)
class Attempt:
    """A piece on a node."""

    key: str
    node: str
    began: float
    handle: Any = None
    over: bool = False


@dataclass(eq=False)
class Node:
    """A node and its work."""

    info: NodeInfo
    joined: float
    same_kernel: bool = True
    refused: str = ""  # why it gets no work
    running: list[Attempt] = field(default_factory=list)
    done: int = 0
    positions: int = 0
    busy: float = 0.0  # seconds of work on pieces that counted
    cpu: float = 0.0
    silences: int = 0
    losses: int = 0  # in a row
    rests_until: float = float("-inf")

    @property
    def room(self) -> int:
        """Pieces that it may still get."""
        return 0 if self.refused else self.info.slots + AHEAD - len(self.running)


@dataclass(eq=False)
class Task:
    """A job that is not done yet."""

    job: Job
    number: int
    wanted: int  # answers; 2 for a checked piece
    attempts: list[Attempt] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)  # by node
    lost: int = 0
    failures: dict[str, str] = field(default_factory=dict)  # reasons by node
    raised: int = 0
    disputed: bool = False

    def is_on(self, node: str) -> bool:
        """Whether a node does or did it."""
        return node in self.answers or any(attempt.node == node for attempt in self.attempts)

    @property
    def missing(self) -> int:
        """Attempts that it still needs."""
        return 0 if self.disputed else self.wanted - len(self.answers) - len(self.attempts)
