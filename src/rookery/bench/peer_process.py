"""Peers, measured in separate processes.

A peer uses our Python environment, where the extra `bench` installs it. The protocol is one line
each way: a number of seconds in, a JSON object with `value` out.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rookery.base.closing import Closing
from rookery.base.extras import how_to_install
from rookery.bench.measure import REPETITIONS, SECONDS, Participant, interleave

RUNNER = Path(__file__).parent / "peers" / "run.py"
EXTRAS = {
    "maskable_ppo": "sb3,train",
    "reconchess_random": "blind",
}  # extras that install a peer; default: bench
QUIT_SECONDS = 10.0


class PeerMissingError(OSError):
    """The peer cannot be measured; the text gives the reason and the remedy."""

    def __init__(self, script: str, reason: str) -> None:
        """Add the remedy to the reason."""
        command = how_to_install(EXTRAS.get(script, "bench"))
        super().__init__(f"{reason}; make bench installs it (or: {command})")
        self.script = script


class PeerProcess(Closing):
    """A running peer; a context manager that ends it."""

    def __init__(self, script: str, *arguments: str) -> None:
        """Start `peers/SCRIPT.py`; raises PeerMissingError if it cannot run."""
        self.script = script
        # One thread each, and neither window nor greeting from pygame.
        environment = os.environ | {
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "SDL_VIDEODRIVER": "dummy",
            "PYGAME_HIDE_SUPPORT_PROMPT": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, str(RUNNER), script, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        try:
            hello = self._read()
            if "error" in hello:
                raise PeerMissingError(script, str(hello["error"]))
        except BaseException:
            self.close()
            raise
        self.label = str(hello["label"])
        self.conditions = str(hello["conditions"])

    def measure(self, seconds: float) -> float:
        """Let the peer work for about `seconds` and return its units per second."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{seconds}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise PeerMissingError(self.script, "the peer exited unexpectedly") from None
        return float(self._read()["value"])

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(QUIT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _read(self) -> dict[str, Any]:
        """Read the next JSON object, skipping what libraries print."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):
                answer: dict[str, Any] = json.loads(line)
                return answer
        raise PeerMissingError(self.script, "the peer exited unexpectedly")


def interleave_with_peers(
    participants: Mapping[str, Participant],
    commands: Mapping[str, Sequence[str]],
    repetitions: int = REPETITIONS,
    seconds: float = SECONDS,
) -> tuple[dict[str, float], dict[str, PeerProcess], dict[str, str]]:
    """Measure the participants and all peers that run.

    `commands` are the scripts and arguments of the peers by name. Returns the medians, the measured
    peers, and the reasons why others are missing; if a peer dies, measures again without it.
    """
    peers: dict[str, PeerProcess] = {}
    missing: dict[str, str] = {}
    with contextlib.ExitStack() as stack:
        for name, command in commands.items():
            try:
                peers[name] = stack.enter_context(PeerProcess(*command))
            except PeerMissingError as error:
                missing[error.script] = str(error)
        while True:
            running = {name: peer.measure for name, peer in peers.items()}
            try:
                return interleave({**participants, **running}, repetitions, seconds), peers, missing
            except PeerMissingError as error:
                missing[error.script] = str(error)
                peers = {n: peer for n, peer in peers.items() if peer.script != error.script}
