"""Standard input and output of the engine, and its end.

The process ends within a second, whatever the player is doing, on `quit`, at the end of the input,
when its output is closed, on Ctrl-C and on SIGTERM.
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import NoReturn, Protocol

from rookery.players.base import Player
from rookery.uci.engine import Engine

LONGEST_LINE = 1 << 21  # bytes; a game of 10,000 moves has about 100 kB
READ_BYTES = 1 << 16
SWITCH_SECONDS = 0.0005  # `stop` should not wait for a player that computes in Python
CLOSE_SECONDS = 0.6  # for searches to answer and the player to close
WAIT_SECONDS = 0.2
LOAD_SECONDS = 30.0  # for answers that need the player: printf "uci\nquit\n" | rookery uci


class Output:
    """Writes whole lines, unbuffered; thread-safe."""

    def __init__(self, descriptor: int) -> None:
        """Write to an open file descriptor."""
        self.descriptor = descriptor
        self.broken = False  # the reader is gone
        self._lock = threading.Lock()

    def write(self, line: str) -> None:
        """Write one line; does nothing once the reader is gone."""
        data = line.encode("utf-8", "replace").replace(b"\n", b" ") + b"\n"
        with self._lock:
            while data and not self.broken:
                try:
                    data = data[os.write(self.descriptor, data) :]
                except BlockingIOError:  # some clients use non-blocking pipes
                    _wait_writable(self.descriptor)
                except OSError:  # EPIPE, or EIO of a closed terminal
                    self.broken = True


class LineBuffer:
    """Splits bytes into lines and drops those that are too long."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        """Drop lines longer than `longest` bytes."""
        self._longest = longest
        self._parts: list[bytes] = []
        self._size = 0
        self._dropping = False

    def feed(self, data: bytes) -> Iterator[str | None]:
        """Yield each complete line as text, None for one that was too long."""
        *complete, rest = data.split(b"\n")
        for piece in complete:
            self._add(piece)
            yield self._take()
        self._add(rest)

    def end(self) -> Iterator[str | None]:
        """Yield the last line if it has no newline."""
        if self._size or self._dropping:
            yield self._take()

    def _add(self, piece: bytes) -> None:
        if self._size + len(piece) > self._longest:
            self._parts, self._size, self._dropping = [], 0, True
        if not self._dropping and piece:
            self._parts.append(piece)
            self._size += len(piece)

    def _take(self) -> str | None:
        line = None if self._dropping else b"".join(self._parts).decode("utf-8", "replace")
        self._parts, self._size, self._dropping = [], 0, False
        return line


class Input(Protocol):
    """Standard input, whose reading can be ended from elsewhere."""

    def chunks(self) -> Iterator[bytes]:
        """What arrives, and b"" at its end; stops when woken or when nobody reads the output."""
        ...

    def wake(self) -> None:
        """End the reading; safe in a signal handler."""
        ...


class PolledInput:
    """Waits for input, a wake-up and the end of the output at once."""

    def __init__(self, source: int, output: Output) -> None:
        """Read from a file descriptor."""
        self._source, self._output = source, output
        self._wake_read, self._wake_write = os.pipe()

    def wake(self) -> None:
        """End the reading."""
        os.write(self._wake_write, b"w")

    def chunks(self) -> Iterator[bytes]:
        """What arrives."""
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        poll.register(self._wake_read, select.POLLIN)
        poll.register(self._output.descriptor, 0)  # POLLERR is always reported: nobody reads
        while not self._output.broken:
            ready = dict(poll.poll())
            gone = ready.get(self._output.descriptor, 0) & select.POLLERR
            if self._wake_read in ready or gone or self._source not in ready:
                return  # the last: POLLHUP of the output only
            with contextlib.suppress(BlockingIOError):
                yield os.read(self._source, READ_BYTES)


class ThreadedInput:
    """The same where only sockets can be waited for, as on Windows: a thread reads."""

    def __init__(self, source: int, output: Output) -> None:
        """Read from a file descriptor; the end of the output shows at the next write."""
        self._source, self._output = source, output
        self._arrived: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def wake(self) -> None:
        """End the reading."""
        self._arrived.put(None)

    def chunks(self) -> Iterator[bytes]:
        """What arrives."""
        threading.Thread(target=self._read, daemon=True).start()
        while not self._output.broken:
            with contextlib.suppress(queue.Empty):
                # Not for ever: Python handles signals between two waits.
                data = self._arrived.get(timeout=WAIT_SECONDS)
                if data is None:
                    return
                yield data

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while data := os.read(self._source, READ_BYTES):
                self._arrived.put(data)
        self._arrived.put(b"")


def _wait_writable(descriptor: int) -> None:
    """Wait a moment for a full pipe."""
    try:
        select.select([], [descriptor], [], WAIT_SECONDS)
    except OSError:  # Windows waits for sockets only
        time.sleep(0.01)


def serve(
    make_player: Callable[[], Player],
    *,
    name: str = "",
    seed: int | None = None,
    board: str | None = None,
) -> NoReturn:
    """Serve UCI on standard input and output, then end the process; arguments as of `Engine`."""
    output = Output(os.dup(sys.stdout.fileno()))
    kind = PolledInput if hasattr(select, "poll") else ThreadedInput
    source: Input = kind(sys.stdin.fileno(), output)
    failures: list[str] = []

    def fail(reason: str) -> None:
        failures.append(reason)
        source.wake()

    sys.setswitchinterval(SWITCH_SECONDS)
    # Prints of players and libraries must not corrupt the protocol.
    with contextlib.redirect_stdout(sys.stderr), _signals_wake(source.wake) as caught:
        engine = Engine(
            make_player, output.write, name=name, seed=seed, board=board, on_failure=fail
        )
        if _read_commands(engine, source, output):
            engine.wait_loaded(LOAD_SECONDS)
        engine.close(CLOSE_SECONDS)
    status = 128 + caught[0] if caught else 0
    if failures:
        print(f"rookery: error: {failures[0]}", file=sys.stderr)
        status = 1
    sys.stderr.flush()
    # Ends players that do not stop, and saves the tenth of a second of interpreter shutdown.
    os._exit(status)


def _read_commands(engine: Engine, source: Input, output: Output) -> bool:
    """Forward lines until `quit`, the end of input or output, or a wake-up.

    Returns whether what was sent still deserves an answer: after `quit` and the end of the input.
    """
    buffer = LineBuffer()
    for data in source.chunks():
        for line in buffer.feed(data) if data else buffer.end():
            if line is None:
                output.write(f"info string a line longer than {LONGEST_LINE} bytes is ignored")
            elif not engine.receive(line):
                return True
        if not data:
            return True
    return False


@contextlib.contextmanager
def _signals_wake(wake: Callable[[], None]) -> Iterator[list[int]]:
    """Let the first Ctrl-C or SIGTERM end the reading, a second one the process."""
    caught: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        signal.signal(number, signal.SIG_DFL)
        wake()

    if threading.current_thread() is not threading.main_thread():
        yield caught
        return
    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
