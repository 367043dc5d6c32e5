"""The prediction server: self-play processes share one network (Vanhoutte 2022, section 3.8).

The processes search trees; this one evaluates the leaves of all of them as one batch. Rounds are
synchronous: a batch always holds the leaves of every active process in the same order, so equal
seeds give equal games regardless of timing. docs/alphazero.md says when this is worthwhile,
server_worker.py describes the messages.

If a process dies, or does not answer for `PATIENCE` seconds, all are started again with the games
as they were after the last order, and the order is played once more: the same games, so the run
ends with the same bytes. After `MOST_ATTEMPTS` the iteration fails with a one-line error. A process
whose server dies exits by itself.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import IO, Any

import numpy as np

from rookery.base.messages import pack, unpack
from rookery.data.samples import SampleBlock
from rookery.nets.evaluator import Evaluator
from rookery.runs.state import State
from rookery.selfplay import trees
from rookery.selfplay.collector import Collector, Hooks, Weights
from rookery.selfplay.networks import evaluator_of
from rookery.selfplay.server_worker import GROUPS, games_of, shared_leaves
from rookery.selfplay.trees import TreeGame, TreeHarvest, TreeOrder, TreePlan

PATIENCE = 120.0  # seconds; an answer usually takes milliseconds
EXIT_SECONDS = 5.0  # that a process gets to exit
MOST_ATTEMPTS = 10  # of one command, if processes die


class PredictionError(ValueError):
    """A self-play process has failed; the message says which one and why."""


class LostError(PredictionError):
    """A self-play process is dead or silent; another one can take its place."""


class Peer:
    """One self-play process, as the server sees it."""

    def __init__(self, number: int, memory: int) -> None:
        """Start it with its socket and the shared memory."""
        ours, theirs = socket.socketpair()
        self.number = number
        # A stopped process must not block the server: sending has a timeout, as receiving does.
        patience = struct.pack("ll", int(PATIENCE), 0)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, patience)
        self.connection = Connection(ours.detach())
        worker = "rookery.selfplay.server_worker"
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-m", worker, str(theirs.fileno()), str(memory)],
                pass_fds=(theirs.fileno(), memory),
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # only the trainer handles Ctrl-C
            )

    def send(self, content: Any) -> None:
        """Send a command or answers."""
        try:
            self.connection.send_bytes(pack(content))
        except OSError:
            raise self._gone() from None

    def receive(self) -> Any:
        """The next message; a string reports a failure."""
        try:
            if not self.connection.poll(PATIENCE):
                raise self._lost(f"has not answered for {PATIENCE:.0f} s")
            content = unpack(self.connection.recv_bytes())
        except (EOFError, OSError):
            raise self._gone() from None
        if isinstance(content, str):
            raise PredictionError(f"self-play process {self.number} failed: {content}")
        return content

    def _lost(self, how: str) -> LostError:
        return LostError(f"self-play process {self.number} {how}")

    def _gone(self) -> LostError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(EXIT_SECONDS)
        status = self.process.returncode
        if status is None:
            how = "has closed its connection"
        else:
            how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        return self._lost(how)


class ServerCollector(Collector[TreeOrder, TreeHarvest]):
    """The server and its self-play processes."""

    def __init__(self, plan: TreePlan, hooks: Hooks) -> None:
        """Start the processes."""
        if not hasattr(os, "fork"):  # as on Windows, where descriptors cannot be passed on
            raise PredictionError(
                "this system has no self-play processes; set selfplay.processes=0"
            )
        self.plan, self.hooks = plan, hooks
        self.games = games_of(plan)
        self.peers: list[Peer] = []
        self._counts: list[dict[str, int]] = []
        self._sets: list[bytes] = []  # the games after the last command, of each group
        self._memory = _anonymous_file()
        self._leaves = shared_leaves(self._memory.fileno(), plan)
        self._close = weakref.finalize(self, _close, self.peers, self._memory)
        self._command([])

    def begin(self, weights: Weights, order: TreeOrder) -> Callable[[], TreeHarvest]:
        """Load the weights; the games are played when the result is called."""
        evaluator = evaluator_of(weights, self.plan.workers, self.plan.precision, self.plan.device)
        command = {"order": order}

        def finish() -> TreeHarvest:
            parts = self._command([command] * self.plan.processes, evaluator)
            return trees.merge([_harvest(part) for part in parts])

        return finish

    def counts(self) -> dict[str, int]:
        """Totals since the first game of the run, as of the last harvest."""
        return {name: sum(part[name] for part in self._counts) for name in self._counts[0]}

    def state(self) -> State:
        """The games of each group of each process."""
        return trees.put_sets(self._sets, self.games)

    def load_state(self, state: State) -> None:
        """Resume these games; processes missing from the state start new games."""
        stored = trees.get_sets(state, self.games, self.hooks.log)
        self._command(self._loading(stored))

    def close(self) -> None:
        """End the processes."""
        self._close()

    def _loading(self, sets: Sequence[bytes]) -> list[Any]:
        """Commands that load the games of each process."""
        arrays = [np.frombuffer(part, np.uint8) for part in sets]
        firsts = range(0, GROUPS * self.plan.processes, GROUPS)
        return [{"load": arrays[at : at + GROUPS]} for at in firsts]

    def _command(self, commands: Sequence[Any], evaluator: Evaluator | None = None) -> list[Any]:
        """Send one command to each process; the concatenated parts of their results.

        Without commands, only start the processes.
        """
        attempt = 1
        try:
            while True:
                try:
                    if not self.peers:
                        self._start()
                    return self._exchange(commands, evaluator) if commands else []
                except LostError as error:
                    if attempt == MOST_ATTEMPTS:
                        raise PredictionError(f"{error}; continue with rookery resume") from None
                    self.hooks.log(f"{error}; the processes start again from their last games")
                    _kill(self.peers)
                    attempt += 1
        except BaseException:
            self.close()
            raise

    def _start(self) -> None:
        """Start all processes, with the games of the last ones if there were any."""
        for number in range(self.plan.processes):
            self.peers.append(Peer(number, self._memory.fileno()))
        before = self._sets
        try:
            self._exchange([{"plan": self.plan, "process": peer.number} for peer in self.peers])
            if before:
                self._exchange(self._loading(before))
        except LostError:
            self._sets = before
            raise

    def _exchange(self, commands: Sequence[Any], evaluator: Evaluator | None = None) -> list[Any]:
        for peer, command in zip(self.peers, commands, strict=True):
            peer.send(command)
        if evaluator is not None:
            self._serve(evaluator)
        results = [peer.receive() for peer in self.peers]
        self._counts = [result["counts"] for result in results]
        self._sets = [part.tobytes() for result in results for part in result["games"]]
        return [part for result in results for part in result["parts"]]

    def _serve(self, evaluator: Evaluator) -> None:
        """Evaluate leaves until all groups of all processes have played enough."""
        playing = [list(self.peers) for _ in range(GROUPS)]
        # Answers are sent after the other group's leaves have arrived: then every process is
        # receiving, which avoids a deadlock. It costs no time, as a process reads the answers
        # only after sending those leaves.
        held: list[tuple[Peer, Any]] = []
        while any(playing):
            self.hooks.check_stop()
            for group in range(GROUPS):
                asked = [(peer, peer.receive()) for peer in playing[group]]
                for peer, answer in held:
                    peer.send(answer)
                requests = {peer: leaves for peer, leaves in asked if leaves is not None}
                playing[group] = list(requests)
                held = self._evaluate(evaluator, group, requests) if requests else []

    def _evaluate(
        self, evaluator: Evaluator, group: int, requests: dict[Peer, Any]
    ) -> list[tuple[Peer, Any]]:
        """Answers for all processes that still play a group, from one batch."""
        games, observations = self.games, self._leaves[group]
        if len(requests) < len(self.peers):
            firsts = [peer.number * games for peer in requests]
            observations = np.concatenate([observations[at : at + games] for at in firsts])
        counts, legal = (np.concatenate(part) for part in zip(*requests.values(), strict=True))
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        logits, values = evaluator.evaluate(observations, legal, offsets)
        cuts = np.arange(games, len(counts), games)
        parts = zip(np.split(logits, offsets[cuts]), np.split(values, cuts), strict=True)
        return list(zip(requests, parts, strict=True))


def _harvest(content: Any) -> TreeHarvest:
    games = [TreeGame(**game) for game in content["games"]]
    return TreeHarvest(SampleBlock(**content["block"]), games)


def _anonymous_file() -> IO[bytes]:
    """Unnamed shared memory, freed when the last process that maps it ends."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("rookery-leaves"), "r+b")
    return tempfile.TemporaryFile()


def _close(peers: list[Peer], memory: IO[bytes]) -> None:
    """Tell all processes to exit; kill those that do not."""
    for peer in peers:
        with contextlib.suppress(OSError):
            peer.connection.send_bytes(pack("end"))
        peer.connection.close()
    for peer in peers:
        try:
            peer.process.wait(EXIT_SECONDS)
        except subprocess.TimeoutExpired:
            peer.process.kill()
            peer.process.wait()
    memory.close()


def _kill(peers: list[Peer]) -> None:
    """Kill all processes: those that live wait for answers that will not come."""
    for peer in peers:
        peer.process.kill()
    for peer in peers:
        peer.process.wait()
        peer.connection.close()
    peers.clear()
