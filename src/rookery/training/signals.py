"""Ctrl-C and SIGTERM: the first asks the loop to stop, the second stops immediately.

So does SIGHUP, of which a closed terminal may send several: from the shell and from the system. A
further one changes nothing.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

_HANGUP = getattr(signal, "SIGHUP", None)  # Windows has none
_SIGNALS = [number for number in (signal.SIGINT, signal.SIGTERM, _HANGUP) if number is not None]


class StopRequest:
    """A context in which `requested` becomes true at the first signal."""

    def __init__(self, notify: Callable[[str], None] = lambda text: None) -> None:
        """Prepare; `notify` is called with a message at the first signal."""
        self.requested = False
        self._notify = notify
        self._before: dict[int, Any] = {}
        self._hung_up = False

    def __enter__(self) -> StopRequest:
        """Install the handlers, which only the main thread can do."""
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
                    self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the previous handlers; the end of a closed terminal may still send SIGHUPs."""
        for number, handler in self._before.items():
            ignored = number == _HANGUP and self._hung_up
            signal.signal(number, signal.SIG_IGN if ignored else handler)
        self._before.clear()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._hung_up |= number == _HANGUP
        if self.requested:
            if number == _HANGUP:
                return
            raise KeyboardInterrupt
        self.requested = True
        with contextlib.suppress(Exception):  # a failing display must not prevent the stop
            self._notify("stopping; a second signal stops at once")
