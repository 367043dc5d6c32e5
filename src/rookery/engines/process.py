"""A line-based engine process that can never block, flood or outlive us.

All pipes are non-blocking, every read has a deadline, and the output per answer is bounded. `close`
ends the process politely, then by force.

`pipes.py` starts the process so that nothing of it outlives us, on systems where that is possible.

UCI itself is in `uci_engine.py`.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import signal
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rookery.engines.faults import EngineFault, clean
from rookery.engines.pipes import Pipes, open_pipes

_LINE_END = re.compile(rb"\r\n|\n|\r")


class Running(Protocol):
    """What `kill_engines` needs of an engine."""

    def kill(self) -> None:
        """End it at once; thread-safe."""
        ...

    def belongs_to(self, threads: Container[int] | None) -> bool:
        """Whether one of these threads (None: any) of this process started it."""
        ...


# Running engines. On Ctrl-C or interpreter exit they are killed from another thread than the one
# waiting for their answer.
_live: weakref.WeakSet[Running] = weakref.WeakSet()
_live_lock = threading.Lock()


@dataclass(frozen=True)
class ProcessLimits:
    """Bounds on a misbehaving program."""

    line_bytes: int = 1 << 20  # longest line
    output_bytes: int = 1 << 24  # most output (both streams) between a command and its answer
    write_seconds: float = 5.0  # how long the program may leave its input unread
    memory_bytes: int | None = None  # address space of each process; None: the system's limit
    quit_seconds: float = 1.0  # how long it may take to exit after `quit`


class EngineProcess:
    """A child process with line-based input and output; every fault is an `EngineFault`."""

    def __init__(
        self,
        command: Sequence[str],
        limits: ProcessLimits | None = None,
        environment: Mapping[str, str] | None = None,
        directory: str | None = None,
    ) -> None:
        """Start `command`, an argument list; no shell is involved."""
        if not command or not command[0]:
            raise EngineFault("missing", "empty engine command")
        self.limits = limits or ProcessLimits()
        self.command = list(command)
        self._lines: deque[tuple[str, float]] = deque()
        self._partial = bytearray()
        self._stderr_tail = bytearray()
        self._printed = 0
        self._ended = False
        self._closed = False
        self.stopped = False  # by `kill`: its end is no fault of the program
        self._owner = (os.getpid(), threading.get_ident())
        memory = min(self.limits.memory_bytes or 0, sys.maxsize)  # beyond it there is no limit
        variables = {**os.environ, **(environment or {})}
        self._pipes: Pipes = open_pipes(command, memory, variables, directory)
        self.pid = self._pipes.pid
        register(self)

    def send(self, line: str) -> None:
        """Write one line; a program that does not read it in time raises a fault."""
        if "\n" in line or "\r" in line:
            raise ValueError(f"a command is one line, got {line!r}")
        data = line.encode() + b"\n"
        deadline = time.monotonic() + self.limits.write_seconds
        while data:
            try:
                data = data[self._pipes.write(data) :]
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise EngineFault("hang", f"does not read its input ({line[:60]!r})") from None
                # The program may be blocked writing to us: reading its output can free it.
                self._pump(0.01)
            except OSError as error:
                self._pump(0.05)
                raise EngineFault("crash", f"{error.strerror}; {self.obituary()}") from None

    def begin_answer(self) -> None:
        """Reset the output counter before a new command."""
        self._printed = 0

    def read_line(self, deadline: float) -> tuple[str, float] | None:
        """Next line with its time of arrival, or None if `deadline` (monotonic) passes first."""
        while True:
            if self._lines:
                return self._lines.popleft()
            if self._ended:
                raise EngineFault("crash", self.obituary())
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                # Output that arrived in time but was not read yet still counts.
                self._pump(0.0)
                return self._lines.popleft() if self._lines else None
            self._pump(remaining)

    def obituary(self) -> str:
        """How the process ended: exit code or signal, and the end of its stderr."""
        code = self._exit_code()
        how = "output closed" if code is None else f"exit code {code}"
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                how = f"killed by {signal.Signals(-code).name}"
        tail = self._stderr_tail.decode("utf-8", "replace").strip().replace("\n", " | ")
        return f"{how}; stderr: {clean(tail, 160)}" if tail else how

    def close(self, farewell: str = "quit") -> None:
        """End the program and all its descendants; never raises, never waits long."""
        if self._closed or os.getpid() != self._owner[0]:
            return  # a forked copy of us does not own the engine
        self._closed = True
        with contextlib.suppress(EngineFault, OSError):
            self.send(farewell)
        self._pipes.close_input()
        self._wait_quietly(self.limits.quit_seconds)
        if self._pipes.exit_code() is None:
            self._pipes.terminate()
            self._wait_quietly(min(0.2, self.limits.quit_seconds))
        self._pipes.kill()
        self._pipes.close()

    def kill(self) -> None:
        """End the program at once; thread-safe, even while another thread waits for its answer.

        The waiting thread sees the end of the output and still has to `close`.
        """
        self.stopped = True
        self._pipes.kill()

    def belongs_to(self, threads: Container[int] | None) -> bool:
        """Whether one of these threads (None: any) of this process started the engine."""
        return os.getpid() == self._owner[0] and (threads is None or self._owner[1] in threads)

    def __del__(self) -> None:
        """Close an engine whose owner forgot to."""
        if getattr(self, "_pipes", None) is not None and not self._closed:
            with contextlib.suppress(Exception):
                self.limits = ProcessLimits(quit_seconds=0.0, write_seconds=0.0)
                self.close()

    # Reading

    def _pump(self, timeout: float) -> None:
        """Wait up to `timeout` seconds for output and read what is there."""
        for is_error, data in self._pipes.read(timeout):
            arrival = time.monotonic()
            if not data:
                self._ended = self._ended or not is_error
                continue
            self._printed += len(data)
            if is_error:
                self._stderr_tail = (self._stderr_tail + data)[-2048:]
            else:
                self._take(data, arrival)
        if self._printed > self.limits.output_bytes:
            raise EngineFault("flood", f"printed {self._printed} bytes without an answer")

    def _take(self, data: bytes, arrival: float) -> None:
        self._partial += data
        *lines, rest = _LINE_END.split(bytes(self._partial))
        self._lines.extend((line.decode("utf-8", "replace"), arrival) for line in lines if line)
        self._partial = bytearray(rest)
        if len(self._partial) > self.limits.line_bytes:
            raise EngineFault("flood", f"a line of more than {self.limits.line_bytes} bytes")

    # Ending

    def _exit_code(self) -> int | None:
        """Exit code (negative: the signal), or None while running; waits a moment for it."""
        deadline = time.monotonic() + 0.1
        while (code := self._pipes.exit_code()) is None and time.monotonic() < deadline:
            time.sleep(0.002)
        return code

    def _wait_quietly(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self._pipes.exit_code() is None:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return
            self._printed = 0
            self._lines.clear()
            self._partial.clear()
            # Keep reading: a program blocked on a full pipe cannot quit.
            if self._pipes.open():
                with contextlib.suppress(EngineFault):
                    self._pump(min(remaining, 0.02))
            else:
                time.sleep(min(remaining, 0.02))


def register(engine: Running) -> None:
    """Let `kill_engines` find an engine, as long as somebody refers to it."""
    with _live_lock:
        _live.add(engine)


def kill_engines(threads: Container[int] | None = None) -> int:
    """Kill the running engines started by these threads (identifiers; None: all)."""
    with _live_lock:
        engines = [engine for engine in _live if engine.belongs_to(threads)]
    for engine in engines:
        engine.kill()
    return len(engines)


atexit.register(kill_engines)
