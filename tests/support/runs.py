"""Training runs for tests: a quiet view, and commands in forked children that can be killed.

A fork has torch imported already, so that a run starts in milliseconds instead of seconds.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from rookery.cli import main
from rookery.runs.algorithms import ALGORITHMS
from rookery.runs.checkpoint import STATE, Checkpoints
from rookery.training.session import start
from rookery.training.view import PlainView, Snapshot
from support import tiny_algorithm  # loaded once, here, for all children

torch.set_num_threads(1)
ALGORITHMS.register(tiny_algorithm.ALGORITHM)

RECIPE = """
algorithm = "tiny"
summary = "for tests"

[run]
budget = "40it"
evaluations = 4

[tiny]
games = 4
"""


class QuietView(PlainView):
    """Keeps messages and snapshots instead of showing them."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []
        self.updates: list[Snapshot] = []

    def message(self, text: str) -> None:
        """Keep a message."""
        self.messages.append(text)

    def update(self, snapshot: Snapshot) -> None:
        """Keep a snapshot."""
        self.updates.append(snapshot)


def write_recipe(folder: Path, text: str = RECIPE, name: str = "tiny") -> str:
    """Write a recipe file; returns its path."""
    path = folder / f"{name}.toml"
    path.write_text(text)
    return str(path)


class Child:
    """A command in a forked process, its output in files.

    Args:
        folder: Where the output goes.
        words: The command line, without the name of the program.
        before: Called in the child before the command.
    """

    def __init__(self, folder: Path, *words: str, before: Callable[[], None] | None = None) -> None:
        self.out, self.err = folder / "child.out", folder / "child.err"
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self._run(words, before)

    def _run(self, words: tuple[str, ...], before: Callable[[], None] | None) -> None:
        status = 70
        try:
            for number, path in ((1, self.out), (2, self.err)):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
            sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            if before is not None:
                before()
            status = main(list(words))
        except BaseException:
            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
            os._exit(status)

    def send(self, number: int) -> None:
        """Send a signal."""
        os.kill(self.pid, number)

    def wait(self, seconds: float = 60.0) -> int:
        """Wait for the end; returns the exit status, negative for a signal as in subprocess."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.002)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise AssertionError(f"still running after {seconds} s: {self.err.read_text()}")

    def wait_for(self, condition: Callable[[], bool], seconds: float = 30.0) -> None:
        """Wait until a condition becomes true; kills the child if it does not."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                raise AssertionError(f"never came true: {self.err.read_text()}")
            time.sleep(0.002)


def rows(run: Path, name: str = "metrics.jsonl") -> int:
    """Count the complete lines of a run's metrics, without those of evaluations."""
    try:
        lines = (run / name).read_bytes().split(b"\n")[:-1]
        return sum(not line.startswith(b'{"evaluation"') for line in lines)
    except FileNotFoundError:
        return 0


def final_state(run: Path) -> bytes:
    """Read the tensors of the newest checkpoint, as stored."""
    checkpoints = Checkpoints(run / "checkpoints")
    return checkpoints.read(checkpoints.steps()[-1]).read(STATE)


def run_to_end(folder: Path, *words: str) -> tuple[int, str, str]:
    """Run a command in a fork; returns status, output and errors."""
    child = Child(folder, *words)
    status = child.wait()
    return status, child.out.read_text(), child.err.read_text()


def train(tmp_path: Path, *settings: str, name: str = "run", **options: Any) -> Any:
    """Train the tiny algorithm in tmp_path/name."""
    recipe = write_recipe(tmp_path)
    view = options.pop("view", None) or QuietView()
    return start(recipe, str(tmp_path / name), settings=settings, view=view, **options)
