"""A chess clock, kept by the server."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


class Clock:
    """Time of both sides; it starts after the first move."""

    def __init__(
        self, seconds: float, increment: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        """Give each side `seconds`, and `increment` after each of its moves."""
        self.seconds, self.increment = seconds, increment
        self._left = {True: seconds, False: seconds}  # by colour, True: White
        self._running: bool | None = None
        self._since = 0.0
        self._now = now

    def set_left(self, white: float, black: float) -> None:
        """Set the seconds left of both sides, as in a game that is continued."""
        self._left = {True: white, False: black}

    @property
    def running(self) -> bool | None:
        """Whose clock is running: True for White's."""
        return self._running

    def left(self, white: bool) -> float:
        """Return the seconds left; negative after the flag has fallen."""
        left = self._left[white]
        return left - (self._now() - self._since) if self._running is white else left

    def press(self, mover: bool) -> None:
        """Switch clocks after a move by `mover`."""
        if self._running is mover:
            self._left[mover] = self.left(mover) + self.increment
        self._start(not mover)

    def set_turn(self, white: bool) -> None:
        """Switch to a side's clock without a move, as after a takeback."""
        if self._running is not None:
            self._left[self._running] = self.left(self._running)
            self._start(white)

    def pause(self) -> None:
        """Stop both clocks."""
        if self._running is not None:
            self._left[self._running] = self.left(self._running)
            self._running = None

    def resume(self, white: bool) -> None:
        """Continue after a pause."""
        if self._running is None:
            self._start(white)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON for the page: seconds left now, and whose clock is running."""
        running = {None: "", True: "white", False: "black"}[self._running]
        return {
            "white": round(max(0.0, self.left(True)), 2),
            "black": round(max(0.0, self.left(False)), 2),
            "running": running,
            "seconds": self.seconds,
            "increment": self.increment,
        }

    def _start(self, white: bool) -> None:
        self._running, self._since = white, self._now()
