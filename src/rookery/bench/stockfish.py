"""Stockfish as a peer."""

from __future__ import annotations

import contextlib
import subprocess
from abc import abstractmethod
from collections.abc import Mapping

from rookery.base.closing import Closing
from rookery.bench.measure import Participant, interleave

QUIT_SECONDS = 5.0
MISSING = {"Stockfish": "not found; apt install stockfish, or set ROOKERY_STOCKFISH"}


class Stockfish(Closing):
    """A Stockfish process with one thread."""

    def __init__(self, program: str) -> None:
        """Start it and read its name."""
        self._process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.name = "Stockfish"
        self.send("uci")
        for line in self.read_until("uciok"):
            if line.startswith("id name "):
                self.name = line.removeprefix("id name ").strip()
        self.send("setoption name Threads value 1")

    @abstractmethod
    def measure(self, seconds: float) -> float:
        """Work for about `seconds` and return units per second."""

    def send(self, command: str) -> None:
        """Write a line."""
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()

    def read_until(self, word: str) -> list[str]:
        """Read lines up to the one that begins with `word`."""
        assert self._process.stdout is not None
        lines = []
        for line in self._process.stdout:
            lines.append(line)
            if line.startswith(word):
                return lines
        raise OSError(f"{self.name} exited before it sent {word!r}")

    def close(self) -> None:
        """End the process."""
        with contextlib.suppress(BrokenPipeError):
            self.send("quit")
        try:
            self._process.wait(QUIT_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def interleave_with(
    peer: type[Stockfish], participants: Mapping[str, Participant]
) -> tuple[dict[str, float], dict[str, str]]:
    """Measure the participants and, if installed, Stockfish; returns medians and missing peers."""
    from rookery.engines.find import find_stockfish

    program = find_stockfish()
    if program is None:
        return interleave(participants), MISSING
    with peer(program) as stockfish:
        first, *others = participants.items()
        everyone = dict([first, (stockfish.name, stockfish.measure), *others])
        return interleave(everyone), {}
