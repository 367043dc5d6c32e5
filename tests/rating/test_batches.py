"""Interrupted ratings resume from their journal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rookery.players.registry import make_player
from rookery.rating.batches import BatchFile, BatchKey, BatchResult
from rookery.rating.ladder import Climb, LadderSettings
from rookery.rating.rungs import Rung

KEY = BatchKey("player", "random", 8, 7, "openings start")
RESULT = BatchResult(5, 2, 1, 0)


def test_batches_are_found_again(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    BatchFile(path).add(KEY, RESULT)
    again = BatchFile(path)
    assert len(again) == 1
    assert again.find(KEY) == RESULT
    other = BatchKey("player", "random", 8, 8, "openings start")
    assert again.find(other) is None


def test_a_torn_line_is_dropped_and_the_file_stays_usable(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    BatchFile(path).add(KEY, RESULT)
    whole = path.read_bytes()
    for length in range(len(whole) - 1):
        path.write_bytes(whole + whole[: length + 1].rstrip(b"\n"))
        journal = BatchFile(path)
        assert journal.find(KEY) == RESULT
        other = BatchKey("player", "greedy", 8, 8, "")
        journal.add(other, RESULT)
        assert BatchFile(path).find(other) == RESULT


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("dear diary\nnothing happened\n")
    with pytest.raises(ValueError, match="line 1, is not a batch"):
        BatchFile(path)
    assert path.read_text() == "dear diary\nnothing happened\n"
    path.write_text("one line")
    with pytest.raises(ValueError, match="does not hold a batch of games"):
        BatchFile(path)
    assert path.read_text() == "one line"


def climb(batches: BatchFile | None, after: int = 10**9) -> Climb:
    """Rate greedy between two simple rungs; stop hard after so many batches."""
    rungs = [Rung("random", 0.0, 0.0, True, False), Rung("greedy-safe", 400.0, 0.0, True, False)]
    played = 0

    def count(_: object) -> None:
        nonlocal played
        played += 1
        if played >= after:
            raise KeyboardInterrupt

    return Climb(
        "greedy",
        lambda: make_player("greedy"),
        rungs,
        lambda name: lambda: make_player(name),
        LadderSettings(games=80, width=1.0),
        count,
        batches,
    )


def test_a_resumed_rating_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    straight = climb(None).run().to_json()
    for after in (1, 3):
        path = tmp_path / f"journal{after}"
        with pytest.raises(KeyboardInterrupt):
            climb(BatchFile(path), after).run()
        assert len(BatchFile(path)) == after
        resumed = climb(BatchFile(path)).run().to_json()
        for volatile in ("seconds",):
            resumed.pop(volatile), straight.pop(volatile, None)
        assert resumed == straight


def test_the_command_resumes_from_its_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    command = [sys.executable, "-m", "rookery.cli", "rate", "random", "--games", "20"]
    command += ["--journal", str(path), "--json"]
    first = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=True)
    size = path.stat().st_size
    second = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=True)
    assert size > 0
    assert path.stat().st_size == size  # nothing was played a second time
    assert first.stdout.split('"seconds"')[0] == second.stdout.split('"seconds"')[0]
