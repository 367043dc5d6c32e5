"""Samples on disk: `replay/NUMBER.parquet`, for algorithms that learn from older games.

The list of valid shards, with their checksums, is part of the trainer's state, so that a resumed
run sees exactly the samples that its checkpoint saw. A shard that is not on the list (written
after the checkpoint) or that fails its checksum is moved to `replay/quarantine/` and counted. A
shard that was dropped stays on the disk until no kept checkpoint names it.
"""

from __future__ import annotations

import io
import os
import shutil
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rookery.training.state import Json, StateError
from rookery.training.storage import atomic_write, checksum

QUARANTINE = "quarantine"


class Replay:
    """The shards of one run, oldest first.

    In `Trainer.state()`: `state.values["replay"] = replay.state()`; in `load_state`:
    `replay.restore(state.value("replay"))`.
    """

    def __init__(
        self,
        folder: Path,
        keep_checkpoints: int = 3,
        report: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Use `folder`, the run's replay/; nothing is read yet."""
        self.folder = folder
        self.quarantined = 0
        self._shards: dict[str, dict[str, Json]] = {}  # name -> rows, sha256
        self._next = 0
        self._report = report
        # Shards dropped since each of the last checkpoints; one more than are kept.
        self._dropped: deque[list[str]] = deque([[]], maxlen=keep_checkpoints + 2)

    @property
    def rows(self) -> int:
        """Samples in all shards."""
        return sum(int(shard["rows"]) for shard in self._shards.values())

    def names(self) -> list[str]:
        """All shards, oldest first."""
        return list(self._shards)

    def add(self, table: Any) -> str:
        """Store a `pyarrow.Table` as a new shard and return its name."""
        import pyarrow.parquet

        buffer = io.BytesIO()
        pyarrow.parquet.write_table(table, buffer)
        data = buffer.getvalue()
        name = f"{self._next:08d}.parquet"
        atomic_write(self.folder / name, data)
        self._next += 1
        self._shards[name] = {"rows": table.num_rows, "sha256": checksum(data)}
        return name

    def read(self, name: str) -> Any:
        """A shard as a `pyarrow.Table`, checked."""
        import pyarrow.parquet

        data = self._sound(name)
        if data is None:
            raise StateError(f"the shard {self.folder / name} is missing or damaged")
        return pyarrow.parquet.read_table(io.BytesIO(data))

    def drop_oldest(self, rows: int) -> None:
        """Forget the oldest shards while the others hold at least `rows` samples."""
        for name in self.names():
            left = self.rows - int(self._shards[name]["rows"])
            if left < rows:
                return
            del self._shards[name]
            self._dropped[-1].append(name)

    def state(self) -> Json:
        """The list of shards, for the checkpoint that is being written."""
        if len(self._dropped) == self._dropped.maxlen:
            for name in self._dropped[0]:  # no checkpoint that is kept names these any more
                (self.folder / name).unlink(missing_ok=True)
        self._dropped.append([])
        return {"shards": dict(self._shards), "next": self._next}

    def restore(self, state: Json) -> None:
        """Go back to a list of shards; all others, and damaged ones, are quarantined."""
        aside = self.folder / QUARANTINE
        shutil.rmtree(aside, ignore_errors=True)
        self._next = int(state["next"])
        self._shards = {name: dict(shard) for name, shard in state["shards"].items()}
        self.quarantined = 0
        damaged = [name for name in self._shards if self._sound(name) is None]
        for name in damaged:
            del self._shards[name]
        for path in sorted(self.folder.glob("*.parquet")):
            if path.name not in self._shards:
                aside.mkdir(exist_ok=True)
                os.replace(path, aside / path.name)
                self.quarantined += 1
        if damaged:
            self._report(f"{len(damaged)} shards are missing or damaged; going on without them")

    def _sound(self, name: str) -> bytes | None:
        try:
            data = (self.folder / name).read_bytes()
        except OSError:
            return None
        return data if checksum(data) == self._shards[name]["sha256"] else None
