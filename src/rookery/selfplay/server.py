"""The prediction server: several self-play processes share one network (paper 002, section 3.8).

Processes search trees; this one judges the leaves of all of them as one batch. Rounds go in step:
a batch always holds the leaves of every process that still plays, in the same order, so that equal
seeds give equal games whichever process is faster. docs/alphazero.md says when this is worth it.

A process that dies, or says nothing for `PATIENCE` seconds, ends the iteration with one line; the
others are ended with it. A process whose server dies ends by itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import SelfPlayGame
from rookery.data.samples import SampleBlock
from rookery.nets.evaluator import Evaluator
from rookery.selfplay.collector import COUNTERS, GameOptions, Harvest, Order, merge, share_of
from rookery.selfplay.server_messages import (
    ANSWERS,
    BYTES,
    COMMAND,
    DONE,
    FAILURE,
    GROUPS,
    LEAVES,
    leaf_bytes,
    make_shared_memory,
    send,
    send_json,
    shared_leaves,
    unpack_arrays,
)

PATIENCE = 120.0  # seconds; a process needs some milliseconds
LAST_WORDS = 5.0  # seconds that a process gets to end


class PredictionError(ValueError):
    """A self-play process that is gone; the text says which one and why."""


class Peer:
    """One self-play process, as the server sees it."""

    def __init__(self, number: int, memory: int) -> None:
        """Start it with a socket of its own and the shared memory."""
        ours, theirs = socket.socketpair()
        self.number = number
        # A process that is stopped must not stop us: sending gives up as receiving does.
        patience = struct.pack("ll", int(PATIENCE), 0)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, patience)
        self.connection = Connection(ours.detach())
        worker = "rookery.selfplay.server_worker"
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", worker, str(theirs.fileno()), str(memory)],
                pass_fds=(theirs.fileno(), memory),
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the trainer, who decides what it means
            )

    def send(self, kind: bytes, *parts: Any) -> None:
        """Send a message, or say that the process is gone."""
        try:
            send(self.connection, kind, *parts)
        except OSError:
            raise self._gone() from None

    def command(self, name: str, **content: Any) -> None:
        """Tell it what to do."""
        self.send(COMMAND, json.dumps({"do": name, **content}).encode())

    def receive(self, *kinds: bytes) -> tuple[bytes, bytes]:
        """Kind and content of the next message, which must be one of `kinds`."""
        try:
            if not self.connection.poll(PATIENCE):
                raise PredictionError(
                    f"self-play process {self.number} has not answered for {PATIENCE:.0f} s"
                )
            message = self.connection.recv_bytes()
        except (EOFError, OSError):
            raise self._gone() from None
        kind, content = message[:1], message[1:]
        if kind == FAILURE:
            raise PredictionError(
                f"self-play process {self.number} failed: {content.decode(errors='replace')}"
            )
        if kind not in kinds:
            raise PredictionError(f"self-play process {self.number} sent {kind!r} unexpectedly")
        return kind, content

    def data(self) -> bytes:
        """The content of a message of bytes."""
        return self.receive(BYTES)[1]

    def _gone(self) -> PredictionError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(LAST_WORDS)
        status = self.process.returncode
        if status is None:
            how = "does not listen any more"
        else:
            how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        return PredictionError(f"self-play process {self.number} {how}; go on with rookery resume")


class Batches:
    """Judges leaves in rounds until every process has played enough."""

    def __init__(self, peers: Sequence[Peer], leaves: Sequence[NDArray[Any]], games: int) -> None:
        """Observations are in `leaves` [groups][processes * games, *shape], `games` of each."""
        self._peers = peers
        self._leaves = leaves
        self._games = games

    def serve(self, evaluator: Evaluator) -> None:
        """Answer until all groups of all processes are done."""
        playing = [list(self._peers) for _ in range(GROUPS)]
        # Answers are held back until the other group's leaves have arrived: then every process
        # is listening, and nobody waits for someone who waits for him. Nothing is lost: a
        # process hears them only after it has sent those leaves.
        held: list[tuple[Peer, bytes]] = []
        while any(playing):
            for group in range(GROUPS):
                asked = [(peer, *peer.receive(LEAVES, DONE)) for peer in playing[group]]
                for peer, answer in held:
                    peer.send(ANSWERS, answer)
                requests = {peer: content for peer, kind, content in asked if kind == LEAVES}
                playing[group] = list(requests)
                held = self._judge(evaluator, group, requests) if requests else []

    def _judge(
        self, evaluator: Evaluator, group: int, requests: dict[Peer, bytes]
    ) -> list[tuple[Peer, bytes]]:
        """Answers to the requests of all processes that still play a group, judged as one batch."""
        games = self._games
        numbers = [np.frombuffer(request, "<i4") for request in requests.values()]
        counts = np.concatenate([part[:games] for part in numbers])
        legal = np.concatenate([part[games:] for part in numbers])
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        observations = self._leaves[group]
        if len(requests) < len(self._peers):
            parts = [peer.number * games for peer in requests]
            observations = np.concatenate([observations[at : at + games] for at in parts])
        logits, values = evaluator.evaluate(observations, legal, offsets)
        answers = []
        for index, peer in enumerate(requests):
            first, last = index * games, (index + 1) * games
            part = logits[offsets[first] : offsets[last]]
            answers.append((peer, part.tobytes() + values[first:last].tobytes()))
        return answers


class ServerCollector:
    """Self-play processes and the server that judges for them; see `collector.Collector`."""

    overlaps = False

    def __init__(
        self,
        options: GameOptions,
        seeds: Sequence[int],
        make_evaluator: Callable[[Any], Evaluator],
    ) -> None:
        """Start processes, `GROUPS` seeds for each; every seed has `options["games"]` games.

        `make_evaluator` copies the weights of a network that is to play.
        """
        if not seeds or len(seeds) % GROUPS:
            raise ValueError(f"{len(seeds)} seeds are not {GROUPS} for each process")
        processes, games = len(seeds) // GROUPS, int(options["games"])
        observation = options["observation"]
        size = GROUPS * processes * games * leaf_bytes(observation)
        self._make_evaluator = make_evaluator
        self._counts: list[dict[str, int]] = []
        self.peers: list[Peer] = []
        self._close = weakref.finalize(self, _end, self.peers)
        memory = make_shared_memory(size)
        try:
            leaves = shared_leaves(memory, observation, processes, games)
            self.peers += [Peer(number, memory) for number in range(processes)]
        finally:
            os.close(memory)
        self._batches = Batches(self.peers, leaves, games)
        with self._ending_on_failure():
            for peer in self.peers:
                first = peer.number * GROUPS
                peer.command(
                    "make",
                    options=dict(options),
                    seeds=list(seeds[first : first + GROUPS]),
                    process=peer.number,
                    processes=processes,
                )
            self._hear_counts()

    @contextlib.contextmanager
    def _ending_on_failure(self) -> Iterator[None]:
        """Leave no process behind when something goes wrong."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def begin(self, network: Any, order: Order) -> Callable[[], Harvest]:
        """Take the weights; the games are played when the result is called."""
        evaluator = self._make_evaluator(network)
        quota = share_of(order, GROUPS * len(self.peers))

        def finish() -> Harvest:
            with self._ending_on_failure():
                for peer in self.peers:
                    peer.command("play", order=asdict(order), quota=quota)
                self._batches.serve(evaluator)
                return self._harvest()

        return finish

    def _harvest(self) -> Harvest:
        parts = [
            (
                SampleBlock(**unpack_arrays(peer.data())),
                [SelfPlayGame(*game) for game in json.loads(peer.data())],
            )
            for peer in self.peers
            for _ in range(GROUPS)
        ]
        self._hear_counts()
        return merge(parts)

    def _hear_counts(self) -> None:
        self._counts = [json.loads(peer.data()) for peer in self.peers]

    def counts(self) -> dict[str, int]:
        """Since the beginning, as of the last harvest."""
        return {name: sum(counts[name] for counts in self._counts) for name in COUNTERS}

    def state(self) -> list[bytes]:
        """The games of each group of each process."""
        with self._ending_on_failure():
            for peer in self.peers:
                peer.command("save")
            return [peer.data() for peer in self.peers for _ in range(GROUPS)]

    def load_state(self, states: Sequence[bytes]) -> None:
        """Go on with them; processes for which there are none begin anew."""
        with self._ending_on_failure():
            complete = len(states) // GROUPS
            for peer in self.peers[:complete]:
                peer.command("load")
                for state in states[peer.number * GROUPS : (peer.number + 1) * GROUPS]:
                    peer.send(BYTES, state)
                self._counts[peer.number] = json.loads(peer.data())

    def close(self) -> None:
        """End the processes."""
        self._close()


def _end(peers: list[Peer]) -> None:
    """Ask all processes to end, and see to it that they do."""
    for peer in peers:
        with contextlib.suppress(OSError):
            send_json(peer.connection, COMMAND, {"do": "end"})
        peer.connection.close()
    for peer in peers:
        try:
            peer.process.wait(LAST_WORDS)
        except subprocess.TimeoutExpired:
            peer.process.kill()
            peer.process.wait()
