"""A UCI engine inside the test process: lines in, lines out."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

import pytest

from rookery.players.base import Player
from rookery.players.registry import make_player
from rookery.uci.engine import Engine

PATIENCE = 60.0  # seconds until a test gives up; everything here takes less than one


def require_shipped_engine() -> None:
    """Skip the test if the engine's network is missing."""
    try:
        make_player("rookery").close()
    except (ValueError, OSError, ImportError) as error:
        pytest.skip(f"needs the shipped engine: {error}")


class Session:
    """Sends lines to an `Engine` and keeps the lines that it writes."""

    def __init__(
        self,
        player: Player | Callable[[], Player],
        load: bool = True,
        board: str | None = None,
    ) -> None:
        self.lines: list[str] = []
        self._new_line = threading.Condition()
        make = player if not isinstance(player, Player) else (lambda: player)
        self.engine = Engine(make, self._write, seed=1, board=board)
        self.open = True
        if load:
            assert self.engine.wait_idle(PATIENCE)

    def _write(self, line: str) -> None:
        with self._new_line:
            self.lines.append(line)
            self._new_line.notify_all()

    def send(self, *lines: str) -> None:
        """Send lines without waiting for an answer."""
        for line in lines:
            assert self.engine.receive(line)

    def wait(self, start: str, count: int = 1) -> str:
        """Wait for the count-th line that starts so, and return it."""
        with self._new_line:
            assert self._new_line.wait_for(lambda: len(self.all(start)) >= count, PATIENCE), (
                f"no {start!r} number {count} in {self.lines[-20:]}"
            )
            return self.all(start)[count - 1]

    def ask(self, *lines: str) -> list[str]:
        """Send lines and return what is written until the engine is idle."""
        before = len(self.lines)
        self.send(*lines)
        assert self.engine.wait_idle(PATIENCE)
        return self.lines[before:]

    def all(self, start: str) -> list[str]:
        """Return the lines written so far that start so."""
        return [line for line in self.lines if line.startswith(start)]

    @property
    def best_moves(self) -> list[str]:
        """The moves of all `bestmove` lines so far."""
        return [line.split()[1] for line in self.all("bestmove")]

    def close(self, seconds: float = PATIENCE) -> bool:
        """Close the engine; returns whether it ended in time."""
        self.open = False
        return self.engine.close(seconds)

    def __enter__(self) -> Session:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the engine unless the test has done so."""
        if self.open:
            self.close()
