"""A file of finished batches of games, so that a long rating can be resumed.

One JSON object per line, appended when a batch ends: what was played (the key) and the result. A
rating is a function of its batches, so a second run reads them and makes the same choices without
playing them again. An incomplete last line, left by a crash, is dropped.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rookery.base.row_journal import RowJournal


@dataclass(frozen=True)
class BatchKey:
    """What was played; a stored batch is reused only if every field is equal."""

    player: str
    opponent: str
    games: int
    seed: int
    conditions: str


@dataclass(frozen=True)
class BatchResult:
    """Counts from the player's point of view."""

    wins: int
    draws: int
    losses: int
    faults: int  # games forfeited by the player: a crash, an illegal move, a timeout


class BatchFile:
    """Batches on disk, read once and then only appended to."""

    def __init__(self, path: Path) -> None:
        """Read the file if it exists; a `ValueError` names the first line of another format."""
        self._journal = RowJournal(path, _parse, "batch", "a batch of games")
        self._batches = dict(self._journal.rows)

    def __len__(self) -> int:
        """Number of batches."""
        return len(self._batches)

    def find(self, key: BatchKey) -> BatchResult | None:
        """The result of a batch played before, or None."""
        return self._batches.get(key)

    def add(self, key: BatchKey, result: BatchResult) -> None:
        """Append a batch and sync it to disk."""
        self._journal.append({"batch": asdict(key), "result": asdict(result)})
        self._batches[key] = result


def _parse(entry: Any) -> tuple[BatchKey, BatchResult]:
    return BatchKey(**entry["batch"]), BatchResult(**entry["result"])
