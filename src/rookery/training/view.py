"""The display of a run: a live table on a terminal, plain lines otherwise.

It goes to standard error, since standard output is for results.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TextIO

from rookery.base.output import reader_is_gone
from rookery.runs.checkpoint import Counters
from rookery.training.budget import Budget, duration
from rookery.training.recipe import Recipe
from rookery.training.trainer import Metrics

WINDOW = 20  # iterations over which speeds, results and endings are averaged
PLAIN_SECONDS = 10.0  # between lines without a terminal


@dataclass(frozen=True)
class Snapshot:
    """The state of a run after an iteration."""

    counters: Counters
    budget: Budget
    metrics: Metrics
    seconds: float  # of the last iteration
    rating: str  # last evaluation as text, or ""
    cluster: str = ""  # the nodes that play, in a line


class View(Protocol):
    """Displays a run; the methods are called when something happens."""

    def start(self, folder: Path, recipe: Recipe, budget: Budget) -> None:
        """A session begins."""

    def message(self, text: str) -> None:
        """A line for the user."""

    def update(self, snapshot: Snapshot) -> None:
        """An iteration is done."""

    def close(self) -> None:
        """The session is over."""


@dataclass
class Recent:
    """The last iterations."""

    snapshots: deque[Snapshot] = field(default_factory=lambda: deque(maxlen=WINDOW))

    @property
    def metrics(self) -> list[Metrics]:
        """The metrics of each iteration, oldest first."""
        return [snapshot.metrics for snapshot in self.snapshots]

    def rate(self, counts: Iterable[int]) -> float:
        """The rate per second of a count given for each iteration."""
        return sum(counts) / max(sum(s.seconds for s in self.snapshots), 1e-9)

    def left(self) -> float:
        """Seconds until the budget is used up."""
        last = self.snapshots[-1]
        kind = last.budget.kind
        missing: float = max(0.0, getattr(last.budget, kind) - getattr(last.counters, kind))
        if kind == "seconds":
            return missing
        counts = (1 if kind == "iterations" else getattr(each, kind) for each in self.metrics)
        return missing / max(self.rate(counts), 1e-9)


def shares(counts: Iterable[Mapping[str, int]], most: int = 5) -> str:
    """Sums of counts as percentages, the largest first."""
    added: Counter[str] = Counter()
    for each in counts:
        added.update(each)
    total = added.total()
    largest = sorted(added.items(), key=lambda item: (-item[1], item[0]))[:most]
    return ", ".join(f"{name} {100 * count / total:.0f} %" for name, count in largest if count)


def summary(recent: Recent) -> list[tuple[str, str]]:
    """The rows of the display: label and text."""
    last = recent.snapshots[-1]
    counters, metrics = last.counters, last.metrics
    limit = f" of {last.budget.iterations}" if last.budget.iterations is not None else ""
    games_rate = recent.rate(m.games for m in recent.metrics)
    samples_rate = recent.rate(m.samples for m in recent.metrics)
    rows = [
        ("iteration", f"{counters.iterations}{limit}"),
        ("games", f"{counters.games:,} ({games_rate:.1f} per second)"),
        ("positions", f"{counters.samples:,} ({samples_rate:,.0f} per second)"),
        ("losses", _defined(metrics.losses)),
        ("measures", _defined(metrics.values)),
        ("results", shares(m.results for m in recent.metrics)),
        ("endings", shares(m.terminations for m in recent.metrics)),
        ("rating", last.rating),
        ("cluster", last.cluster),
        ("time", f"{duration(round(counters.seconds))}, {duration(round(recent.left()))} left"),
    ]
    return [(label, text) for label, text in rows if text]


def _defined(values: Mapping[str, float]) -> str:
    """Names and values without the NaNs, such as the share of wins when no game has ended."""
    found = {key: value for key, value in values.items() if not math.isnan(value)}
    return ", ".join(f"{key} {value:.4g}" for key, value in found.items())


class PlainView:
    """A line every few seconds, for logs and pipes."""

    def __init__(self, stream: TextIO | None = None, every: float = PLAIN_SECONDS) -> None:
        """Write to `stream`, standard error by default."""
        self._stream = stream
        self._every = every
        self._recent = Recent()
        self._printed: Snapshot | None = None
        self._next = 0.0

    def start(self, folder: Path, recipe: Recipe, budget: Budget) -> None:
        """Print folder, recipe and budget."""
        self.message(f"{folder}: {recipe.name}, budget {budget}")

    def message(self, text: str) -> None:
        """Print a line."""
        print(text, file=self._stream or sys.stderr, flush=True)

    def update(self, snapshot: Snapshot) -> None:
        """Print a line if the last one is old enough."""
        self._recent.snapshots.append(snapshot)
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + self._every
            self._print()

    def close(self) -> None:
        """Print the last iteration, unless it was; the stream stays open."""
        if self._recent.snapshots and self._printed is not self._recent.snapshots[-1]:
            self._print()

    def _print(self) -> None:
        self._printed = self._recent.snapshots[-1]
        self.message(" | ".join(f"{label} {text}" for label, text in summary(self._recent)))


class LiveView:
    """A table that is redrawn in place."""

    def __init__(self) -> None:
        """Prepare the table; `start` draws it."""
        from rich.console import Console
        from rich.live import Live

        self._console = Console(stderr=True)
        self._live = Live(console=self._console, auto_refresh=False, transient=False)
        self._recent = Recent()
        self._title = ""
        self._next = 0.0

    def start(self, folder: Path, recipe: Recipe, budget: Budget) -> None:
        """Start drawing."""
        self._title = f"{folder}: {recipe.name}, budget {budget} (Ctrl-C saves and stops)"
        self._live.start()

    def message(self, text: str) -> None:
        """Print a line above the table."""
        from rich.text import Text

        self._console.print(Text(text))

    def update(self, snapshot: Snapshot) -> None:
        """Redraw, at most ten times a second."""
        self._recent.snapshots.append(snapshot)
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + 0.1
            self._live.update(self._table(), refresh=True)

    def close(self) -> None:
        """Draw the final table and restore the terminal."""
        if self._recent.snapshots and self._live.is_started:
            self._live.update(self._table(), refresh=True)
        self._live.stop()

    def _table(self) -> Any:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        last = self._recent.snapshots[-1]
        done = last.budget.progress(last.counters)
        # Text instead of str, so that brackets in names are not parsed as markup.
        table = Table(title=Text(self._title), show_header=False, title_justify="left")
        table.add_column(style="cyan")
        table.add_column(overflow="fold")
        for label, text in summary(self._recent):
            table.add_row(label, Text(text))
        table.add_row("done", ProgressBar(total=1.0, completed=done, width=40))
        return table


class ReadView:
    """A view that notices that nobody can read it any more.

    As in `rookery train ... 2>&1 | head`, or when the window of the terminal is closed.
    """

    def __init__(self, view: View) -> None:
        """Show everything on `view`, while it lasts."""
        self._view = view
        self.unread = False  # the other end of the stream is closed

    def start(self, folder: Path, recipe: Recipe, budget: Budget) -> None:
        """As a `View`."""
        self._show(lambda: self._view.start(folder, recipe, budget))

    def message(self, text: str) -> None:
        """As a `View`."""
        self._show(lambda: self._view.message(text))

    def update(self, snapshot: Snapshot) -> None:
        """As a `View`."""
        self._show(lambda: self._view.update(snapshot))

    def close(self) -> None:
        """As a `View`."""
        self._show(self._view.close)

    def _show(self, work: Callable[[], None]) -> None:
        if self.unread:
            return
        try:
            work()
        except OSError as error:
            if not reader_is_gone(error):
                raise
            self.unread = True


def make_view() -> View:
    """The live table if a person is watching, plain lines otherwise."""
    return LiveView() if sys.stderr.isatty() else PlainView()
