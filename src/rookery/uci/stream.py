"""Standard input and output of the engine, and its end.

The process ends within a second, whatever the player is doing, on `quit`, at the end of the input,
when its output is closed, on Ctrl-C and on SIGTERM.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import NoReturn

from rookery.players.base import Player
from rookery.uci.engine import Engine

LONGEST_LINE = 1 << 21  # bytes; a game of 10,000 moves has about 100 kB
READ_BYTES = 1 << 16
SWITCH_SECONDS = 0.0005  # `stop` should not wait for a player that computes in Python
CLOSE_SECONDS = 0.6  # for searches to answer and the player to close
LOAD_SECONDS = 30.0  # for the answer to `uci` if the input has ended: echo uci | rookery uci


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
                    select.select([], [self.descriptor], [])
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


def serve(
    make_player: Callable[[], Player], *, name: str = "", seed: int | None = None
) -> NoReturn:
    """Serve UCI on standard input and output, then end the process."""
    source, output = sys.stdin.fileno(), Output(os.dup(sys.stdout.fileno()))
    wake_read, wake_write = os.pipe()
    failures: list[str] = []

    def fail(reason: str) -> None:
        failures.append(reason)
        os.write(wake_write, b"f")

    sys.setswitchinterval(SWITCH_SECONDS)
    # Prints of players and libraries must not corrupt the protocol.
    with contextlib.redirect_stdout(sys.stderr), _signals_wake(wake_write) as caught:
        engine = Engine(make_player, output.write, name=name, seed=seed, on_failure=fail)
        if _read_commands(engine, source, wake_read, output):
            engine.wait_loaded(LOAD_SECONDS)
        engine.close(CLOSE_SECONDS)
    status = 128 + caught[0] if caught else 0
    if failures:
        print(f"rookery: error: {failures[0]}", file=sys.stderr)
        status = 1
    sys.stderr.flush()
    # Ends players that do not stop, and saves the tenth of a second of interpreter shutdown.
    os._exit(status)


def _read_commands(engine: Engine, source: int, wake: int, output: Output) -> bool:
    """Forward lines until `quit`, the end of input or output, or a wake-up.

    Returns whether it was the end of the input.
    """
    poll = select.poll()
    poll.register(source, select.POLLIN)
    poll.register(wake, select.POLLIN)
    poll.register(output.descriptor, 0)  # POLLERR is always reported: the reader is gone
    buffer = LineBuffer()
    while not output.broken:
        ready = dict(poll.poll())
        if wake in ready or ready.get(output.descriptor, 0) & select.POLLERR:
            return False
        if source not in ready:
            return False  # POLLHUP of the output only
        try:
            data = os.read(source, READ_BYTES)
        except BlockingIOError:
            continue
        for line in buffer.feed(data) if data else buffer.end():
            if line is None:
                output.write(f"info string a line longer than {LONGEST_LINE} bytes is ignored")
            elif not engine.receive(line):
                return False
        if not data:
            return True
    return False


@contextlib.contextmanager
def _signals_wake(wake: int) -> Iterator[list[int]]:
    """Let the first Ctrl-C or SIGTERM end the reading, a second one the process."""
    caught: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        signal.signal(number, signal.SIG_DFL)
        os.write(wake, b"s")

    if threading.current_thread() is not threading.main_thread():
        yield caught
        return
    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
