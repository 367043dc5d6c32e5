"""A self-play process: trees and games, but no network; the prediction server evaluates leaves.

`ServerCollector` starts it as `python -m rookery.selfplay.server_worker SOCKET MEMORY`, the numbers
of two inherited descriptors. It follows commands until told to end, or until the server is gone.
torch is never loaded here. The socket carries messages (`rookery.selfplay.messages`):

    server -> process   {plan, process}         first: what to play, and which process this is
                        {order, quota}          play until each group has `quota` samples
                        [logits, values]        of a group's leaves, float32 [L] and [B]
                        "save", {load}, "end"   games under way, as `SelfPlay.get_state` has them
    process -> server   [counts, legal]         of a group's leaves, int32 [B] and [L]
                        None                    the group has played enough
                        {counts, parts}         a command is done: totals, and for each group
                                                what it has played or its state
                        text                    why the process gives up

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

    def __init__(self, connection: Connection, memory: int, plan: TreePlan, process: int) -> None:
        """Begin games; `memory` is the shared memory's descriptor."""
        games, first = games_of(plan), process * GROUPS
        self._connection = connection
        # [GROUPS, N, *shape]: this process's part.
        self._leaves = shared_leaves(memory, plan)[:, process * games : (process + 1) * games]
        self._groups = [
            SelfPlay(games=games, seed=plan.seed_of(number), **plan.options)
            for number in range(first, first + GROUPS)
        ]

    def run(self) -> None:
        """Follow commands until told to end."""
        parts: list[Any] = []
        while True:
            self._send({"counts": counts_of(self._groups), "parts": parts})
            match unpack(self._connection.recv_bytes()):
                case {"order": order, "quota": quota}:
                    parts = self._play(TreeOrder(**order), quota)
                case {"load": sets}:
                    for group, stored in zip(self._groups, sets, strict=False):
                        group.set_state(stored.tobytes())
                    parts = []
                case "save":
                    parts = [np.frombuffer(group.get_state(), np.uint8) for group in self._groups]
                case _:
                    return

    def _play(self, order: TreeOrder, quota: int) -> list[Any]:
        """Play until every group has so many samples; what finished games teach."""
        for group in self._groups:
            prepare(group, order)
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
        self._groups[number].apply(*unpack(self._connection.recv_bytes()))
        return self._ask(number, quota)

    def _send(self, content: Any) -> None:
        self._connection.send_bytes(pack(content))


def main(arguments: list[str]) -> int:
    """Work; the exit status says how it ended."""
    connection, memory = Connection(int(arguments[0])), int(arguments[1])
    try:
        first = unpack(connection.recv_bytes())
        Worker(connection, memory, TreePlan(**first["plan"]), first["process"]).run()
    except (EOFError, ConnectionError):
        print("rookery: a self-play process ends: its trainer is gone", file=sys.stderr)
        return 1
    except Exception as error:  # the trainer reports it in one line
        connection.send_bytes(pack(f"{type(error).__name__}: {error}"))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
