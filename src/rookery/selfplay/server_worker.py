"""A self-play process: trees and games, but no network; the prediction server evaluates leaves.

`ServerCollector` starts it as `python -m rookery.selfplay.server_worker SOCKET MEMORY`, the numbers
of two inherited descriptors. It follows commands until told to end, or until the server is gone.
torch is never loaded here. The socket carries messages (`rookery.selfplay.messages`):

    server -> process   {"do": name, ...}   a command: a method of `Worker` with its arguments
                        [logits, values]    of a group's leaves, float32 [L] and [B]
    process -> server   [counts, legal]     of a group's leaves, int32 [B] and [L]
                        None                the group has played enough
                        {"counts", "parts"} the result of a command: totals, and a list
                        text                why the process gives up

Observations are large: they go through memory that all processes share. The games of a process are
in `GROUPS` groups that take turns: while the server evaluates the leaves of one, the trees of the
other are searched. All processes' leaves of a group are contiguous, one batch for the server:

    group 0: [process 0: N leaves][process 1: N leaves] ...   group 1: [process 0: ...] ...
"""

from __future__ import annotations

import math
import mmap
import os
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import SelfPlay
from rookery.encodings import OBSERVATIONS
from rookery.selfplay.messages import pack, unpack
from rookery.selfplay.trees import TreeOrder, TreePlan, counts_of, prepare, take

GROUPS = 2


def games_of(plan: TreePlan) -> int:
    """Games of each group: a batch has as many leaves as without processes."""
    return max(1, plan.games // plan.processes)


def shared_leaves(memory: int, plan: TreePlan) -> NDArray[Any]:
    """The shared memory as [GROUPS, leaves of all processes, *shape]."""
    layout = OBSERVATIONS[plan.options["observation"]]
    shape = (GROUPS, plan.processes * games_of(plan), *layout.shape)
    # What `SelfPlay` writes: bytes where the layout allows them.
    dtype = np.dtype("uint8" if "uint8" in layout.dtypes else "float32")
    size = math.prod(shape) * dtype.itemsize
    os.ftruncate(memory, size)
    return np.frombuffer(mmap.mmap(memory, size), dtype).reshape(shape)


class Worker:
    """The games of one process."""

    def __init__(self, connection: Connection, memory: int) -> None:
        """Wait for commands on `connection`; `memory` is the shared memory's descriptor."""
        self._connection = connection
        self._memory = memory
        self._groups: list[SelfPlay] = []
        self._leaves: NDArray[Any]  # [GROUPS, N, *shape], this process's part

    def run(self) -> None:
        """Follow commands until told to end."""
        commands: dict[str, Callable[..., list[Any]]]
        commands = {"make": self.make, "play": self.play, "save": self.save, "load": self.load}
        while (command := self._receive())["do"] != "end":
            parts = commands[command.pop("do")](**command)
            self._send({"counts": counts_of(self._groups), "parts": parts})

    def make(self, plan: dict[str, Any], process: int) -> list[Any]:
        """Begin games."""
        wanted = TreePlan(**plan)
        games, first = games_of(wanted), process * GROUPS
        self._leaves = shared_leaves(self._memory, wanted)[:, process * games :][:, :games]
        self._groups = [
            SelfPlay(games=games, seed=wanted.seed_of(number), **wanted.options)
            for number in range(first, first + GROUPS)
        ]
        return []

    def play(self, order: dict[str, Any], quota: int) -> list[Any]:
        """Play until every group has so many samples; what finished games teach."""
        for group in self._groups:
            prepare(group, TreeOrder(**order))
        playing = [number for number in range(GROUPS) if self._ask(number, quota)]
        while playing:
            playing = [number for number in playing if self._continue(number, quota)]
        return [take(group) for group in self._groups]

    def _ask(self, number: int, quota: int) -> bool:
        """Search until every game of a group needs the network; False if it has played enough."""
        group = self._groups[number]
        if group.ready >= quota:
            self._send(None)
            return False
        group.gather()
        self._leaves[number] = group.observations
        self._send([np.diff(group.legal_offsets).astype(np.int32), group.legal_actions])
        return True

    def _continue(self, number: int, quota: int) -> bool:
        """Hand a group its answers and search on."""
        self._groups[number].apply(*self._receive())
        return self._ask(number, quota)

    def save(self) -> list[Any]:
        """The games under way."""
        return [np.frombuffer(group.get_state(), np.uint8) for group in self._groups]

    def load(self, sets: list[NDArray[np.uint8]]) -> list[Any]:
        """Resume other games; none: continue with those there are."""
        for group, state in zip(self._groups, sets, strict=bool(sets)):
            group.set_state(state.tobytes())
        return []

    def _send(self, content: Any) -> None:
        self._connection.send_bytes(pack(content))

    def _receive(self) -> Any:
        return unpack(self._connection.recv_bytes())


def main(arguments: list[str]) -> int:
    """Work; the exit status says how it ended."""
    connection = Connection(int(arguments[0]))
    try:
        Worker(connection, int(arguments[1])).run()
    except (EOFError, ConnectionError):
        print("rookery: a self-play process ends: its trainer is gone", file=sys.stderr)
        return 1
    except Exception as error:  # the trainer reports it in one line
        connection.send_bytes(pack(f"{type(error).__name__}: {error}"))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
