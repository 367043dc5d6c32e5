"""A file of finished batches of games, so that a long rating can be resumed.

One JSON object per line, appended when a batch ends: what was played (the key) and the result. A
rating is a function of its batches, so a second run reads them and makes the same choices without
playing them again. An incomplete last line, left by a crash, is dropped.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path


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
        self.path = path
        self._batches: dict[BatchKey, BatchResult] = {}
        if not path.exists():
            return
        data = path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                entry = json.loads(line)
                self._batches[BatchKey(**entry["batch"])] = BatchResult(**entry["result"])
            except (ValueError, KeyError, TypeError):
                raise ValueError(
                    f"{str(path)!r}, line {number}, is not a batch of games; name another file"
                ) from None
        if not whole and not data.startswith(b'{"batch"'[: len(data)]):
            raise ValueError(f"{str(path)!r} holds no batches of games; name another file")
        if len(whole) < len(data):
            os.truncate(path, len(whole))  # the process died while writing

    def __len__(self) -> int:
        """Number of batches."""
        return len(self._batches)

    def find(self, key: BatchKey) -> BatchResult | None:
        """The result of a batch played before, or None."""
        return self._batches.get(key)

    def add(self, key: BatchKey, result: BatchResult) -> None:
        """Append a batch and sync it to disk."""
        entry = json.dumps({"batch": asdict(key), "result": asdict(result)})
        with self.path.open("a", encoding="utf-8") as file:
            file.write(entry + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._batches[key] = result
