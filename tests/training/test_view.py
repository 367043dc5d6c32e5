from __future__ import annotations

import io
import os
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from rookery.runs.checkpoint import Counters
from rookery.training.budget import parse_budget
from rookery.training.recipe import load_recipe
from rookery.training.session import start
from rookery.training.trainer import Metrics
from rookery.training.view import LiveView, PlainView, Recent, Snapshot, make_view, shares, summary
from support.runs import write_recipe


def snapshot(iterations: int = 5, budget: str = "10it", **changes: Any) -> Snapshot:
    metrics = Metrics(
        samples=100,
        games=4,
        losses={"policy": 0.5, "value": float("nan")},
        values={"drawn_win_rate": float("nan"), "entropy": 2.25},
        results={"wins": 3, "draws": 1},
        terminations={"checkmate": 3, "stalemate": 1, "[bold]odd[/bold]": 0},
    )
    counters = Counters(iterations, 100 * iterations, 4 * iterations, seconds=2.0 * iterations)
    rating = "+5 =5 -0 against random, Elo difference +191 [+51, +331]"
    values = {"counters": counters, "metrics": metrics, "seconds": 2.0, "rating": rating}
    return Snapshot(**{**values, "budget": parse_budget(budget), **changes})  # type: ignore[arg-type]


def test_rows_tell_everything() -> None:
    recent = Recent()
    for iteration in range(1, 6):
        recent.snapshots.append(snapshot(iteration))
    rows = dict(summary(recent))
    assert rows["iteration"] == "5 of 10"
    assert rows["games"] == "20 (2.0 per second)"
    assert rows["positions"] == "500 (50 per second)"
    assert rows["losses"] == "policy 0.5"  # without the one that is not a number
    assert rows["measures"] == "entropy 2.25"
    assert rows["results"] == "wins 75 %, draws 25 %"
    assert rows["endings"] == "checkmate 75 %, stalemate 25 %"
    assert "+191" in rows["rating"]
    assert rows["time"] == "10s, 10s left"


def test_time_left_of_a_time_budget() -> None:
    recent = Recent()
    recent.snapshots.append(snapshot(5, "1m"))
    assert recent.left() == 50
    assert dict(summary(recent))["iteration"] == "5"


def test_rows_without_content_are_left_out() -> None:
    recent = Recent()
    recent.snapshots.append(snapshot(metrics=Metrics(samples=1), rating=""))
    assert [label for label, _ in summary(recent)] == ["iteration", "games", "positions", "time"]
    assert shares([]) == ""


def test_plain_view_writes_lines_now_and_then(tmp_path: Path) -> None:
    stream = io.StringIO()
    view = PlainView(stream, every=1000)
    view.start(tmp_path, load_recipe(write_recipe(tmp_path)), parse_budget("10it"))
    for iteration in range(1, 9):
        view.update(snapshot(iteration))
    view.message("[red]saved[/red]")
    view.close()
    lines = stream.getvalue().splitlines()
    assert len(lines) == 4
    assert lines[1].startswith("iteration 1 of 10 | games 4")
    assert lines[2] == "[red]saved[/red]"
    assert lines[3].startswith("iteration 8 of 10")  # the last one, not a stale one
    view.close()
    assert len(stream.getvalue().splitlines()) == 4
    assert "\x1b" not in stream.getvalue()


def test_live_view_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole run with its display on a pseudo-terminal."""
    master, slave = os.openpty()
    received = bytearray()

    def drain() -> None:
        while True:
            try:
                data = os.read(master, 4096)
            except OSError:
                return
            if not data:
                return
            received.extend(data)

    reader = threading.Thread(target=drain)
    reader.start()
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    with open(slave, "w", buffering=1) as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        view = make_view()
        assert isinstance(view, LiveView)
        start(write_recipe(tmp_path), str(tmp_path / "run"), "20it", view=view)
        monkeypatch.undo()
    reader.join(10)
    os.close(master)
    text = received.decode()
    for word in ("iteration", "20 of 20", "positions", "losses", "rating", "against random"):
        assert word in text, text[-2000:]
    assert "\x1b[?25h" in text  # the cursor is visible again


def test_no_terminal_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert isinstance(make_view(), PlainView)
