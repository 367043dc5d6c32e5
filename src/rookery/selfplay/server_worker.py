"""A self-play process: games and trees without a network; the prediction server evaluates leaves.

`ServerCollector` starts it as `python -m rookery.selfplay.server_worker SOCKET MEMORY`, with two
inherited file descriptors. It executes commands until told to exit or the server is gone. It does
not import torch. Messages on the socket (`rookery.base.messages`):

    server -> process   {plan, process}         first: what to play, and which process this is
                        {order}                 play until each group has done its share
                        [logits, values]        of a group's leaves, float32 [L] and [B]
                        {load}, "end"           games under way, as `SelfPlay.get_state` has them
    process -> server   [counts, legal]         of a group's leaves, int32 [B] and [L]
                        None                    the group has played enough
                        {counts, parts, games}  a command is done: totals, and for each group
                                                its harvest and its games under way
                        text                    an error message; the process exits

Observations are large and go through shared memory. The games of a process form `GROUPS` groups
that alternate: while the server evaluates the leaves of one, the trees of the other are searched.
The leaves of a group are contiguous over all processes, one batch for the server:

    group 0: [process 0: N leaves][process 1: N leaves] ...   group 1: [process 0: ...] ...
"""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import sys
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import SelfPlay
from rookery.base.messages import pack, unpack
from rookery.encodings import OBSERVATIONS
from rookery.selfplay.trees import Quota, TreeOrder, TreePlan, counts_of, prepare, take

GROUPS = 2


def games_of(plan: TreePlan) -> int:
    """Games of each group, chosen so that a batch has as many leaves as without processes."""
    return max(1, plan.games // plan.processes)


def shared_leaves(memory: int, plan: TreePlan) -> NDArray[Any]:
    """The shared memory as [GROUPS, leaves of all processes, *shape]."""
    layout = OBSERVATIONS[plan.options["observation"]]
    shape = (GROUPS, plan.processes * games_of(plan), *layout.shape)
    # As `SelfPlay` writes them: bytes if the layout allows.
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
        self._sets = GROUPS * plan.processes
        self._quotas: list[Quota] = []
        # [GROUPS, N, *shape]: this process's part.
        self._leaves = shared_leaves(memory, plan)[:, process * games : (process + 1) * games]
        self._groups = [
            SelfPlay(games=games, seed=plan.seed_of(number), **plan.options)
            for number in range(first, first + GROUPS)
        ]

    def run(self) -> None:
        """Execute commands until told to exit."""
        parts: list[Any] = []
        while True:
            games = [np.frombuffer(group.get_state(), np.uint8) for group in self._groups]
            self._send({"counts": counts_of(self._groups), "parts": parts, "games": games})
            match unpack(self._connection.recv_bytes()):
                case {"order": order}:
                    parts = self._play(TreeOrder(**order))
                case {"load": sets}:
                    for group, stored in zip(self._groups, sets, strict=False):
                        group.set_state(stored.tobytes())
                    parts = []
                case _:
                    return

    def _play(self, order: TreeOrder) -> list[Any]:
        """Play until every group has done its share of an order; the harvest of each group."""
        self._quotas = [prepare(group, order, self._sets) for group in self._groups]
        playing = [number for number in range(GROUPS) if self._ask(number)]
        while playing:
            playing = [number for number in playing if self._continue(number)]
        return [take(group) for group in self._groups]

    def _ask(self, number: int) -> bool:
        """Search until every game of a group needs the network; False if it has played enough."""
        group = self._groups[number]
        if self._quotas[number].met(group):
            self._send(None)
            return False
        group.gather()
        self._leaves[number] = group.observations
        self._send([np.diff(group.legal_offsets).astype(np.int32), group.legal_actions])
        return True

    def _continue(self, number: int) -> bool:
        """Receive the answers for a group and continue its search."""
        self._groups[number].apply(*unpack(self._connection.recv_bytes()))
        return self._ask(number)

    def _send(self, content: Any) -> None:
        self._connection.send_bytes(pack(content))


def main(arguments: list[str]) -> int:
    """Run the worker; returns the exit status."""
    connection, memory = Connection(int(arguments[0])), int(arguments[1])
    try:
        first = unpack(connection.recv_bytes())
        Worker(connection, memory, TreePlan(**first["plan"]), first["process"]).run()
    except (EOFError, ConnectionError):
        return 1  # the server is gone, and with it whoever would read an explanation
    except Exception as error:  # the trainer reports it
        with contextlib.suppress(OSError):
            connection.send_bytes(pack(f"{type(error).__name__}: {error}"))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
