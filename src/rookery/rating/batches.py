"""A file of finished batches of games, so that a long rating can be resumed.

One JSON object a line, written as each batch ends: what was played (the key) and how it went. A
rating is a function of its batches, so a second run that finds them here takes the same way
without playing them again. A line torn by a crash is dropped.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class BatchKey:
    """What was played; a batch is used again only if all of it is the same."""

    player: str
    opponent: str
    games: int
    seed: int
    conditions: str


@dataclass(frozen=True)
class BatchResult:
    """How it went, from the player's side."""

    wins: int
    draws: int
    losses: int
    faults: int  # games the player lost by its own fault


class BatchFile:
    """Batches on disk, read once and then only appended to."""

    def __init__(self, path: Path) -> None:
        """Read the file if it exists; a `ValueError` names a line that is not ours."""
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
            os.truncate(path, len(whole))  # the process died while it wrote

    def __len__(self) -> int:
        """Number of batches."""
        return len(self._batches)

    def find(self, key: BatchKey) -> BatchResult | None:
        """The result of a batch that was played before."""
        return self._batches.get(key)

    def add(self, key: BatchKey, result: BatchResult) -> None:
        """Append a batch and make sure that it is on disk."""
        entry = json.dumps({"batch": asdict(key), "result": asdict(result)})
        with self.path.open("a", encoding="utf-8") as file:
            file.write(entry + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._batches[key] = result
