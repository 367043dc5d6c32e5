"""The prediction server: self-play processes share one network (Vanhoutte 2022, section 3.8).

The processes search trees; this one evaluates the leaves of all of them as one batch. Rounds are
synchronous: a batch always holds the leaves of every active process in the same order, so equal
seeds give equal games regardless of timing. docs/alphazero.md says when this is worthwhile,
server_worker.py describes the messages.

If a process dies, or does not answer for `PATIENCE` seconds, the iteration fails with a one-line
error and all processes are ended. A process whose server dies exits by itself.
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

from rookery.data.samples import SampleBlock
from rookery.nets.evaluator import Evaluator
from rookery.runs.state import State
from rookery.selfplay import trees
from rookery.selfplay.collector import Collector, Hooks, Weights
from rookery.selfplay.messages import pack, unpack
from rookery.selfplay.networks import evaluator_of
from rookery.selfplay.server_worker import GROUPS, games_of, shared_leaves
from rookery.selfplay.trees import TreeGame, TreeHarvest, TreeOrder, TreePlan

PATIENCE = 120.0  # seconds; an answer usually takes milliseconds
EXIT_SECONDS = 5.0  # that a process gets to exit


class PredictionError(ValueError):
    """A self-play process has failed; the message says which one and why."""


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
                raise self._error(f"has not answered for {PATIENCE:.0f} s")
            content = unpack(self.connection.recv_bytes())
        except (EOFError, OSError):
            raise self._gone() from None
        if isinstance(content, str):
            raise self._error(f"failed: {content}")
        return content

    def _error(self, how: str) -> PredictionError:
        return PredictionError(f"self-play process {self.number} {how}")

    def _gone(self) -> PredictionError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(EXIT_SECONDS)
        status = self.process.returncode
        if status is None:
            how = "has closed its connection"
        else:
            how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        return self._error(f"{how}; continue with rookery resume")


class ServerCollector(Collector[TreeOrder, TreeHarvest]):
    """The server and its self-play processes."""

    def __init__(self, plan: TreePlan, hooks: Hooks) -> None:
        """Start the processes."""
        self.plan, self.hooks = plan, hooks
        self.games = games_of(plan)
        self.peers: list[Peer] = []
        self._counts: list[dict[str, int]] = []
        self._close = weakref.finalize(self, _end, self.peers)
        with _anonymous_file() as memory:
            self._leaves = shared_leaves(memory.fileno(), plan)
            self.peers += [Peer(number, memory.fileno()) for number in range(plan.processes)]
        self._command([{"plan": plan, "process": peer.number} for peer in self.peers])

    def begin(self, weights: Weights, order: TreeOrder) -> Callable[[], TreeHarvest]:
        """Load the weights; the games are played when the result is called."""
        evaluator = evaluator_of(weights, self.plan.workers, self.plan.precision)
        command = {"order": order, "quota": order.share(GROUPS * len(self.peers))}

        def finish() -> TreeHarvest:
            parts = self._command([command] * len(self.peers), evaluator)
            return trees.merge([_harvest(part) for part in parts])

        return finish

    def counts(self) -> dict[str, int]:
        """Totals since the first game of the run, as of the last harvest."""
        return {name: sum(part[name] for part in self._counts) for name in self._counts[0]}

    def state(self) -> State:
        """The games of each group of each process."""
        sets = self._command(["save"] * len(self.peers))
        return trees.put_sets([part.tobytes() for part in sets], self.games)

    def load_state(self, state: State) -> None:
        """Resume these games; processes missing from the state start new games."""
        stored = trees.get_sets(state, self.games, self.hooks.log)
        sets = [np.frombuffer(part, np.uint8) for part in stored]
        firsts = range(0, GROUPS * len(self.peers), GROUPS)
        self._command([{"load": sets[at : at + GROUPS]} for at in firsts])

    def close(self) -> None:
        """End the processes."""
        self._close()

    def _command(self, commands: Sequence[Any], evaluator: Evaluator | None = None) -> list[Any]:
        """Send one command to each process; the concatenated parts of their results."""
        try:
            for peer, command in zip(self.peers, commands, strict=True):
                peer.send(command)
            if evaluator is not None:
                self._serve(evaluator)
            results = [peer.receive() for peer in self.peers]
        except BaseException:
            self.close()
            raise
        self._counts = [result["counts"] for result in results]
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


def _end(peers: list[Peer]) -> None:
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
