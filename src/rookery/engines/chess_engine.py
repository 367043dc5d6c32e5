"""Engines that code of others starts through python-chess, under our guard.

`chess.engine.SimpleEngine` starts a program as a plain child, and our end by a signal leaves it
behind. Inside `under_guard` it starts the guard instead, which starts the program (`pipes.py`).
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Container, Iterator
from typing import Any

import chess.engine

from rookery.engines.pipes import GUARD
from rookery.engines.process import register

END_SECONDS = 5.0  # that the guard gets to end everything
_POPEN = vars(chess.engine.SimpleEngine)["popen"]
_replacing = threading.Lock()


@contextlib.contextmanager
def under_guard() -> Iterator[None]:
    """Let `SimpleEngine.popen_uci` and `popen_xboard` start guarded engines; one caller at once."""
    with _replacing:
        if GUARD.is_file():
            setattr(chess.engine.SimpleEngine, "popen", staticmethod(_popen))  # noqa: B010
        try:
            yield
        finally:
            setattr(chess.engine.SimpleEngine, "popen", _POPEN)  # noqa: B010


class _Control:
    """Our end of the guard's pipe; `kill_engines` finds it."""

    def __init__(self, end: int) -> None:
        self._ends = [end]
        self._lock = threading.Lock()
        self._owner = (os.getpid(), threading.get_ident())
        self.interrupted = False
        register(self)

    def kill(self) -> None:
        """End the program because its player is no longer wanted."""
        self.interrupted = True
        self.end()

    def end(self) -> None:
        """Let the guard end the program, if it runs, and all its descendants."""
        with self._lock:
            while self._ends:
                os.close(self._ends.pop())

    def belongs_to(self, threads: Container[int] | None) -> bool:
        """Whether one of these threads (None: any) of this process started the engine."""
        return os.getpid() == self._owner[0] and (threads is None or self._owner[1] in threads)


class GuardedEngine(chess.engine.SimpleEngine):
    """Lets the guard end the program before python-chess kills the guard."""

    control: _Control

    @property
    def interrupted(self) -> bool:
        """Whether `kill_engines` has ended it, as when a match is interrupted."""
        return self.control.interrupted

    def close(self) -> None:
        """End the program, all its descendants and the guard."""
        self.control.end()
        _await_end(self.transport.get_pid())
        super().close()


def _popen(
    protocol: type[chess.engine.Protocol],
    command: str | list[str],
    *,
    setpgrp: bool = False,  # the guard gives the program a session of its own
    **options: Any,
) -> GuardedEngine:
    """`SimpleEngine.popen` with the guard between us and the program."""
    guard_end, our_end = os.pipe()
    report, report_end = os.pipe()  # python-chess reports a program that cannot be started
    control = _Control(our_end)
    # python-chess makes the engine in another thread and may close it before we get it.
    kind = type("GuardedEngine", (GuardedEngine,), {"control": control})
    guard = [str(GUARD), *map(str, (os.getpid(), guard_end, report_end, 0))]
    program = command if isinstance(command, list) else [command]
    options |= {"pass_fds": (guard_end, report_end), "start_new_session": True}
    try:
        engine: GuardedEngine = _POPEN.__func__(kind, protocol, [*guard, *program], **options)
    except BaseException:
        control.end()
        raise
    finally:
        for end in (guard_end, report, report_end):
            os.close(end)
    return engine


def _await_end(pid: int) -> None:
    """Wait for a child's end without reaping it, which its event loop does."""
    until = time.monotonic() + END_SECONDS
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    with contextlib.suppress(ChildProcessError):  # reaped already
        while os.waitid(os.P_PID, pid, flags) is None and time.monotonic() < until:
            time.sleep(0.002)
