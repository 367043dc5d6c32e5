"""A self-play process: trees and games, but no network; the prediction server judges its leaves.

`ServerCollector` starts it as `python -m rookery.selfplay.server_worker SOCKET MEMORY`, the
numbers of two inherited descriptors. It does what it is told until it is told to end, or until the
other side is gone. torch is never loaded here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import SelfPlay
from rookery.data.samples import SampleBlock
from rookery.selfplay.collector import Order, counts_of, prepare
from rookery.selfplay.server_messages import (
    ANSWERS,
    BYTES,
    COMMAND,
    DONE,
    FAILURE,
    GROUPS,
    LEAVES,
    pack_arrays,
    send,
    send_json,
    shared_leaves,
)


class Worker:
    """The games of one process."""

    def __init__(self, connection: Connection, memory: int) -> None:
        """Wait for commands on `connection`; `memory` is the shared memory's descriptor."""
        self._connection = connection
        self._memory = memory
        self.groups: list[SelfPlay] = []
        self._places: list[NDArray[Any]] = []  # of each group's observations

    def run(self) -> None:
        """Obey until told to end."""
        commands: dict[str, Callable[..., None]] = {
            "make": self.make,
            "play": self.play,
            "save": self.save,
            "load": self.load,
        }
        while True:
            content = json.loads(self._receive(COMMAND))
            name = content.pop("do")
            if name == "end":
                return
            commands[name](**content)

    def make(self, options: dict[str, Any], seeds: list[int], process: int, processes: int) -> None:
        """Begin games."""
        games, observation = options["games"], options["observation"]
        everybody = shared_leaves(self._memory, observation, processes, games)
        mine = slice(process * games, (process + 1) * games)
        self._places = [leaves[mine] for leaves in everybody]
        self.groups = [SelfPlay(seed=seed, **options) for seed in seeds]
        send_json(self._connection, BYTES, counts_of(self.groups))

    def play(self, order: dict[str, Any], quota: int) -> None:
        """Play until every group has so many samples; then send all that finished games teach."""
        for group in self.groups:
            prepare(group, Order(**order))
        going = [number for number in range(GROUPS) if self._ask(number, quota)]
        while going:
            going = [number for number in going if self._hear_and_ask(number, quota)]
        for group in self.groups:
            block = SampleBlock.from_selfplay(group.take_samples())
            send(self._connection, BYTES, pack_arrays(block.columns()))
            games = [
                (game.number, game.start, game.moves, game.result, game.ending)
                for game in group.take_games()
            ]
            send_json(self._connection, BYTES, games)
        send_json(self._connection, BYTES, counts_of(self.groups))

    def _ask(self, number: int, quota: int) -> bool:
        """Search until every game of a group needs the network; False if it has played enough."""
        group = self.groups[number]
        if group.ready >= quota:
            send(self._connection, DONE)
            return False
        group.gather()
        self._places[number][:] = group.observations
        counts = np.diff(group.legal_offsets).astype("<i4")
        send(self._connection, LEAVES, counts, group.legal_actions)
        return True

    def _hear_and_ask(self, number: int, quota: int) -> bool:
        """Give a group its answers and go on with it."""
        group = self.groups[number]
        answers = np.frombuffer(self._receive(ANSWERS), "<f4")
        split = len(group.legal_actions)
        group.apply(answers[:split], answers[split:])
        return self._ask(number, quota)

    def save(self) -> None:
        """Send the games under way."""
        for group in self.groups:
            send(self._connection, BYTES, group.get_state())

    def load(self) -> None:
        """Go on with other games."""
        for group in self.groups:
            group.set_state(self._receive(BYTES))
        send_json(self._connection, BYTES, counts_of(self.groups))

    def _receive(self, kind: bytes) -> bytes:
        message = self._connection.recv_bytes()
        if message[:1] != kind:
            raise RuntimeError(f"expected a message {kind!r}, got {message[:1]!r}")
        return message[1:]


def main(arguments: list[str]) -> int:
    """Work; the exit status says how it ended."""
    connection = Connection(int(arguments[0]))
    try:
        Worker(connection, int(arguments[1])).run()
    except (EOFError, ConnectionError):
        print("rookery: a self-play process ends: its trainer is gone", file=sys.stderr)
        return 1
    except Exception as error:  # the trainer says it in one line
        send(connection, FAILURE, f"{type(error).__name__}: {error}".encode())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
