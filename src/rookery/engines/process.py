"""A line-based engine process that can never block, flood or outlive us.

All pipes are non-blocking, every read has a deadline, and the output per answer is bounded. `close`
ends the process politely, then by force.

The process is the child of a guard (`core/guard/guard.cpp`), a small program that is killed by no
signal to us and notices our end, by whatever signal, as the end of a pipe. It then kills the engine
and all its descendants, on Linux also those that left the process group and the session.

UCI itself is in `uci_engine.py`.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import selectors
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rookery._core import __file__ as core_file
from rookery.engines.faults import EngineFault, clean

GUARD = Path(core_file).with_name("rookery-guard")
TERMINATE, KILL = b"t", b"k"  # commands to the guard
_LINE_END = re.compile(rb"\r\n|\n|\r")

# Running engines. On Ctrl-C or interpreter exit they are killed from another thread than the one
# waiting for their answer.
_live: weakref.WeakSet[EngineProcess] = weakref.WeakSet()
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
        self._owner = (os.getpid(), threading.get_ident())
        self._controlling = threading.Lock()
        self._control: int | None = None  # our end of the guard's pipe
        self._start(environment, directory)
        with _live_lock:
            _live.add(self)
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._stdin = self._process.stdin.fileno()
        self._stdout = self._process.stdout.fileno()
        self._stderr = self._process.stderr.fileno()
        for descriptor in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(descriptor, False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._selector.register(self._stderr, selectors.EVENT_READ)

    def _start(self, environment: Mapping[str, str] | None, directory: str | None) -> None:
        """Start the guard, which starts the program."""
        control, self._control = os.pipe()
        reading, report = os.pipe()
        memory = min(self.limits.memory_bytes or 0, sys.maxsize)  # beyond it there is no limit
        arguments = [os.getpid(), control, report, memory]
        try:
            self._process = subprocess.Popen(
                [str(GUARD), *map(str, arguments), *self.command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=(control, report),
                start_new_session=True,
                cwd=directory,
                env={**os.environ, **(environment or {})},
            )
        except (OSError, ValueError) as error:
            os.close(reading)
            self._command(KILL)
            raise EngineFault("missing", f"cannot start {self.command[0]!r}: {error}") from error
        finally:
            os.close(control)
            os.close(report)
        try:
            with open(reading, encoding="ascii") as lines:  # ends when the program has begun
                said = lines.read().split()
            if "error" in said or not said:
                code = int(said[-1]) if said else 0
                why = OSError(code, os.strerror(code), self.command[0])
                raise EngineFault("missing", f"cannot start {self.command[0]!r}: {why}")
        except BaseException:
            self._command(KILL)
            self._process.communicate()  # nothing; waits for the guard
            raise
        self.pid = int(said[0])  # of the program

    def send(self, line: str) -> None:
        """Write one line; a program that does not read it in time raises a fault."""
        if "\n" in line or "\r" in line:
            raise ValueError(f"a command is one line, got {line!r}")
        data = line.encode() + b"\n"
        deadline = time.monotonic() + self.limits.write_seconds
        while data:
            try:
                data = data[os.write(self._stdin, data) :]
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
        with contextlib.suppress(OSError):
            self._process.stdin.close()  # type: ignore[union-attr]
        self._wait_quietly(self.limits.quit_seconds)
        if not self._has_exited():
            self._command(TERMINATE)
            self._wait_quietly(min(0.2, self.limits.quit_seconds))
        self._command(KILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5.0)  # the guard ends when nothing of the program is left
        self._selector.close()
        for stream in (self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()

    def kill(self) -> None:
        """End the program at once; thread-safe, even while another thread waits for its answer.

        The waiting thread sees the end of the output and still has to `close`.
        """
        self._command(KILL)

    def _command(self, command: bytes) -> None:
        """Send a command to the guard; the first `KILL` is the last one."""
        with self._controlling, contextlib.suppress(OSError):
            if self._control is None:
                return
            try:
                os.write(self._control, command)
            finally:
                if command == KILL:
                    os.close(self._control)
                    self._control = None

    def belongs_to(self, threads: Container[int] | None) -> bool:
        """Whether one of these threads (None: any) of this process started the engine."""
        return os.getpid() == self._owner[0] and (threads is None or self._owner[1] in threads)

    def __del__(self) -> None:
        """Close an engine whose owner forgot to."""
        if getattr(self, "_selector", None) is not None and not self._closed:
            with contextlib.suppress(Exception):
                self.limits = ProcessLimits(quit_seconds=0.0, write_seconds=0.0)
                self.close()

    # Reading

    def _pump(self, timeout: float) -> None:
        """Wait up to `timeout` seconds for output and read what is there."""
        for key, _ in self._selector.select(max(0.0, timeout)):
            try:
                data = os.read(key.fd, 65536)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            arrival = time.monotonic()
            if not data:
                self._selector.unregister(key.fd)
                self._ended = self._ended or key.fd == self._stdout
                continue
            self._printed += len(data)
            if key.fd == self._stderr:
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

    def _has_exited(self) -> bool:
        """Whether the process has exited, without reaping it."""
        if self._process.returncode is not None:
            return True
        try:
            flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self._process.pid, flags) is not None
        except ChildProcessError:
            return True

    def _exit_code(self) -> int | None:
        """Exit code without reaping (negative: the signal), or None while running."""
        deadline = time.monotonic() + 0.1
        while not self._has_exited() and time.monotonic() < deadline:
            time.sleep(0.002)
        if self._process.returncode is not None:
            return self._process.returncode
        with contextlib.suppress(ChildProcessError):
            flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
            status = os.waitid(os.P_PID, self._process.pid, flags)
            if status is not None:
                exited = status.si_code == os.CLD_EXITED
                return status.si_status if exited else -status.si_status
        return None

    def _wait_quietly(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not self._has_exited():
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return
            self._printed = 0
            self._lines.clear()
            self._partial.clear()
            # Keep reading: a program blocked on a full pipe cannot quit.
            if self._selector.get_map():
                with contextlib.suppress(EngineFault):
                    self._pump(min(remaining, 0.02))
            else:
                time.sleep(min(remaining, 0.02))


def kill_engines(threads: Container[int] | None = None) -> int:
    """Kill the running engines started by these threads (identifiers; None: all)."""
    with _live_lock:
        engines = [engine for engine in _live if engine.belongs_to(threads)]
    for engine in engines:
        engine.kill()
    return len(engines)


atexit.register(kill_engines)
