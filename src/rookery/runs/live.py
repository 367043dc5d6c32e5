"""`live.json` in a run folder: the games that a trainer is playing right now.

`rookery watch` shows them on small boards. The file is written at most once a second; docs/play.md
describes it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from rookery.runs.snapshot import read_snapshot, write_snapshot

LIVE = "live.json"
VERSION = 1
MOST_BOARDS = 12
MOST_FRAMES = 120  # positions of a replayed game
EVERY = 1.0  # seconds
_KEYS = {"fen": 100, "last": 8, "title": 80, "result": 8}  # text fields and their longest lengths

_written: dict[str, float] = {}  # folder -> time of the last write, by a monotonic clock


def write_live(folder: Path, boards: Iterable[Mapping[str, Any]], every: float = EVERY) -> bool:
    """Write boards for `rookery watch`, at most once in `every` seconds; returns whether it did.

    Args:
        folder: The run folder (`Context.folder`).
        boards: Only the first twelve are used. Each has `fen` (or the first field of one) and, if
            known, `last` (the last move in UCI), `title`, `value` ([-1, 1], White's view) and
            `result` (such as "1-0", if the game is over). A finished game may have `frames` instead
            of `fen`: placements (first fields of FENs) that the page steps through. A generator
            is not consumed when it is too early to write.
        every: Seconds between two writes.
    """
    key = str(folder)
    now = time.monotonic()
    if now - _written.get(key, -math.inf) < every:
        return False
    _written[key] = now
    rows = [_row(board) for board in islice(boards, MOST_BOARDS)]
    return write_snapshot(folder / LIVE, {"version": VERSION, "boards": rows})


def read_live(folder: Path) -> dict[str, Any] | None:
    """The boards of a run and when they were written; None if the file is missing or damaged."""
    content = read_snapshot(folder / LIVE)
    if content is None or content.get("version") != VERSION:
        return None
    boards = content.get("boards")
    if not isinstance(boards, list):
        return None
    rows = [_row(board) for board in boards[:MOST_BOARDS] if isinstance(board, dict)]
    return {"time": content["time"], "boards": [row for row in rows if row["fen"] or row["frames"]]}


def _row(board: Mapping[str, Any]) -> dict[str, Any]:
    """One board with only the known keys, truncated to sensible lengths."""
    row: dict[str, Any] = {}
    for key, longest in _KEYS.items():
        text = board.get(key)
        row[key] = text[:longest] if isinstance(text, str) else ""
    frames = board.get("frames")
    texts = [f for f in frames if isinstance(f, str)] if isinstance(frames, list | tuple) else []
    row["frames"] = [text.partition(" ")[0][:72] for text in texts[:MOST_FRAMES]]
    value = board.get("value")
    known = isinstance(value, int | float) and math.isfinite(value)
    row["value"] = round(float(value), 4) if known and value is not None else None
    return row
