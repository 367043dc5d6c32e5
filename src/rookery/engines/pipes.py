"""A child process and its three pipes, on systems with our guard and on those without.

Where the guard (`core/guard/guard.cpp`) is installed it is the parent of the program: it is killed
by no signal to us and notices our end, by whatever signal, as the end of a pipe. It then kills the
program and all its descendants, on Linux also those that left the process group and the session.
Elsewhere, as on Windows, the program is our own child, threads read its pipes, and only a regular
end of ours takes it along.
"""

from __future__ import annotations

import contextlib
import os
import queue
import selectors
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol

from rookery._cpu import __file__ as module_file
from rookery.engines.faults import EngineFault

GUARD = Path(module_file).with_name("rookery-guard")
TERMINATE, KILL = b"t", b"k"  # commands to the guard
READ_BYTES = 65536
PIECE = 4096  # of one write where writes block; the smallest pipes hold as much

Piece = tuple[bool, bytes]  # whether it is of standard error; empty: the end of the stream


class Pipes(Protocol):
    """A running program."""

    pid: int

    def write(self, data: bytes) -> int:
        """Write what fits; a BlockingIOError if nothing does."""
        ...

    def read(self, seconds: float) -> list[Piece]:
        """What arrives within this time."""
        ...

    def open(self) -> bool:
        """Whether an output has not ended."""
        ...

    def exit_code(self) -> int | None:
        """Its exit code (negative: the signal), or None while it runs; it is not reaped."""
        ...

    def terminate(self) -> None:
        """Ask it to end."""
        ...

    def kill(self) -> None:
        """End it at once; thread-safe, and no command can follow."""
        ...

    def close(self) -> None:
        """Wait for its end, a little, and close the pipes."""
        ...

    def close_input(self) -> None:
        """Close its standard input."""
        ...


def open_pipes(
    command: Sequence[str], memory: int, environment: Mapping[str, str], directory: str | None
) -> Pipes:
    """Start a program; `memory` bounds its address space in bytes (0: no limit; only guarded)."""
    if GUARD.is_file() and hasattr(os, "set_blocking") and hasattr(os, "fork"):
        return GuardedPipes(command, memory, environment, directory)
    return ThreadedPipes(command, environment, directory)


class _Child:
    """What both kinds share."""

    _process: subprocess.Popen[bytes]

    def close_input(self) -> None:
        """Close its standard input."""
        with contextlib.suppress(OSError):
            self._process.stdin.close()  # type: ignore[union-attr]

    def exit_code(self) -> int | None:
        """Its exit code, or None while it runs."""
        if self._process.returncode is not None or not hasattr(os, "waitid"):
            return self._process.poll()
        try:
            flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
            status = os.waitid(os.P_PID, self._process.pid, flags)
        except ChildProcessError:
            return self._process.poll()
        if status is None:
            return None
        return status.si_status if status.si_code == os.CLD_EXITED else -status.si_status

    def close(self) -> None:
        """Wait for its end, a little, and close the pipes."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5.0)  # the guard ends when nothing of the program is left
        for stream in (self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()


class GuardedPipes(_Child):
    """Non-blocking pipes to a child of the guard."""

    def __init__(
        self,
        command: Sequence[str],
        memory: int,
        environment: Mapping[str, str],
        directory: str | None,
    ) -> None:
        """Start the program."""
        self._controlling = threading.Lock()
        self._control: int | None = None  # our end of the guard's pipe
        self._start(list(command), memory, environment, directory)
        process = self._process
        assert process.stdin and process.stdout and process.stderr
        self._stdin = process.stdin.fileno()
        self._selector = selectors.DefaultSelector()
        for stream, is_error in ((process.stdout, False), (process.stderr, True)):
            self._selector.register(stream.fileno(), selectors.EVENT_READ, is_error)
        for stream in (process.stdin, process.stdout, process.stderr):
            os.set_blocking(stream.fileno(), False)

    def _start(
        self, command: list[str], memory: int, environment: Mapping[str, str], directory: str | None
    ) -> None:
        """Start the guard, which starts the program."""
        control, self._control = os.pipe()
        reading, report = os.pipe()
        arguments = [os.getpid(), control, report, memory]
        try:
            self._process = subprocess.Popen(
                [str(GUARD), *map(str, arguments), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=(control, report),
                start_new_session=True,
                cwd=directory,
                env=environment,
            )
        except (OSError, ValueError) as error:
            os.close(reading)
            self._command(KILL)
            raise EngineFault("missing", f"cannot start {command[0]!r}: {error}") from error
        finally:
            os.close(control)
            os.close(report)
        try:
            with open(reading, encoding="ascii") as lines:  # ends when the program has begun
                said = lines.read().split()
            if "error" in said or not said:
                # The id of the program may come after its error: two processes write them.
                code = int(said[said.index("error") + 1]) if said else 0
                why = OSError(code, os.strerror(code), command[0])
                raise EngineFault("missing", f"cannot start {command[0]!r}: {why}")
        except BaseException:
            self._command(KILL)
            self._process.communicate()  # nothing; waits for the guard
            raise
        self.pid = int(said[0])  # of the program

    def write(self, data: bytes) -> int:
        """Write what fits."""
        return os.write(self._stdin, data)

    def read(self, seconds: float) -> list[Piece]:
        """What arrives within this time."""
        found = []
        for key, _ in self._selector.select(max(0.0, seconds)):
            try:
                data = os.read(key.fd, READ_BYTES)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            if not data:
                self._selector.unregister(key.fd)
            found.append((bool(key.data), data))
        return found

    def open(self) -> bool:
        """Whether an output has not ended."""
        return bool(self._selector.get_map())

    def terminate(self) -> None:
        """Ask it to end."""
        self._command(TERMINATE)

    def kill(self) -> None:
        """End it at once."""
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

    def close(self) -> None:
        """Wait for its end, a little, and close the pipes."""
        super().close()
        self._selector.close()


class ThreadedPipes(_Child):
    """Blocking pipes to our own child; a thread reads each output, another writes the input."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], directory: str | None
    ) -> None:
        """Start the program."""
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=directory,
                env=environment,
            )
        except (OSError, ValueError) as error:
            raise EngineFault("missing", f"cannot start {command[0]!r}: {error}") from error
        self.pid = self._process.pid
        self._arrived: queue.Queue[Piece] = queue.Queue(64)  # a flood waits in the pipe
        self._written: queue.Queue[bytes] = queue.Queue(1)
        self._broken = False
        self._streams = 2
        process = self._process
        assert process.stdin and process.stdout and process.stderr
        for target, arguments in (
            (self._pump, (process.stdout, False)),
            (self._pump, (process.stderr, True)),
            (self._feed, (process.stdin,)),
        ):
            threading.Thread(target=target, args=arguments, daemon=True).start()

    def _pump(self, stream: IO[bytes], is_error: bool) -> None:
        with contextlib.suppress(OSError, ValueError):
            while data := os.read(stream.fileno(), READ_BYTES):
                self._arrived.put((is_error, data))
        self._arrived.put((is_error, b""))

    def _feed(self, stream: IO[bytes]) -> None:
        try:
            while data := self._written.get():
                while data:
                    data = data[os.write(stream.fileno(), data) :]
        except (OSError, ValueError):
            self._broken = True
        with contextlib.suppress(OSError):
            stream.close()

    def write(self, data: bytes) -> int:
        """Write what fits."""
        if self._broken:
            raise BrokenPipeError(0, "the program has closed its input")
        try:
            self._written.put(data[:PIECE], timeout=0.01)
        except queue.Full:
            raise BlockingIOError from None
        return min(len(data), PIECE)

    def read(self, seconds: float) -> list[Piece]:
        """What arrives within this time."""
        found = []
        with contextlib.suppress(queue.Empty):
            found.append(self._arrived.get(timeout=max(0.0, seconds) or 0.001))
            while True:
                found.append(self._arrived.get_nowait())
        self._streams -= sum(not data for _, data in found)
        return found

    def open(self) -> bool:
        """Whether an output has not ended."""
        return self._streams > 0

    def close_input(self) -> None:
        """Close its standard input."""
        with contextlib.suppress(queue.Full):
            self._written.put(b"", timeout=0.1)  # its thread closes the pipe

    def terminate(self) -> None:
        """Ask it to end."""
        with contextlib.suppress(OSError):
            self._process.terminate()

    def kill(self) -> None:
        """End it at once."""
        with contextlib.suppress(OSError):
            self._process.kill()

    def close(self) -> None:
        """Wait for its end, a little, and close the pipes."""
        until = time.monotonic() + 1.0
        while self.open() and time.monotonic() < until:  # so that no thread waits for us
            self.read(0.05)
        super().close()
