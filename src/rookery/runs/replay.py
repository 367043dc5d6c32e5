"""The replay buffer on disk: shards `replay/NUMBER.SUFFIX`.

The list of valid shards, with their checksums, is part of the trainer's state, so that a resumed
run sees exactly the samples that its checkpoint saw. A shard that no kept checkpoint names (written
after the newest one) or that is damaged is moved to `replay/quarantine/` and counted. A dropped
shard stays on the disk until no kept checkpoint names it, so that a run can fall back to each.

A `ShardFormat` defines the file format: Parquet here, packed positions in `rookery.runs.positions`.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from rookery.base.storage import atomic_write, checksum
from rookery.runs.checkpoint import VALUES
from rookery.runs.state import Json, StateError

QUARANTINE = "quarantine"

Item = TypeVar("Item")


class ShardFormat(Protocol[Item]):
    """The file format of shards."""

    suffix: str  # of file names

    def pack(self, item: Item, label: int) -> bytes:
        """Serialise samples; a format may store the shard's label."""
        ...

    def unpack(self, data: bytes, source: str) -> Item:
        """Deserialise samples; a ValueError names the file `source` if it is damaged."""
        ...

    def rows(self, item: Item) -> int:
        """Number of samples."""
        ...


class Parquet:
    """Tables of `pyarrow`."""

    suffix = ".parquet"

    def pack(self, item: Any, label: int) -> bytes:
        """Write a table."""
        import pyarrow.parquet

        buffer = io.BytesIO()
        pyarrow.parquet.write_table(item, buffer)
        return buffer.getvalue()

    def unpack(self, data: bytes, source: str) -> Any:
        """Read a table."""
        import pyarrow.parquet

        try:
            return pyarrow.parquet.read_table(io.BytesIO(data))
        except (OSError, pyarrow.ArrowInvalid) as error:
            raise StateError(f"{source} is not a Parquet file: {error}") from None

    def rows(self, item: Any) -> int:
        """Rows of a table."""
        return int(item.num_rows)


class Replay(Generic[Item]):
    """The shards of one run, oldest first.

    `Trainer.state()` stores `replay.state()`; `load_state` passes it to `replay.restore`, which
    returns the samples of all shards.
    """

    def __init__(
        self,
        folder: Path,
        format: ShardFormat[Item],
        keep_checkpoints: int = 3,
        report: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Use `folder`, the run's replay/, without reading anything yet."""
        self.folder = folder
        self.quarantined = 0
        self._format = format
        self._shards: dict[str, dict[str, Json]] = {}  # name -> rows, sha256, label
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

    def label(self, name: str) -> int:
        """The label that a shard was added with."""
        return int(self._shards[name]["label"])

    def add(self, item: Item, label: int = 0) -> str:
        """Store samples as a new shard and return its name; `label` may be a generation."""
        data = self._format.pack(item, label)
        name = f"{self._next:08d}{self._format.suffix}"
        atomic_write(self.folder / name, data)
        self._next += 1
        rows = self._format.rows(item)
        self._shards[name] = {"rows": rows, "sha256": checksum(data), "label": label}
        return name

    def read(self, name: str) -> Item:
        """The samples of a shard, after verifying its checksum and size."""
        path, shard = self.folder / name, self._shards[name]
        try:
            data = path.read_bytes()
        except OSError as error:
            raise StateError(f"the shard {path} cannot be read: {error.strerror}") from None
        if shard["sha256"] is not None and checksum(data) != shard["sha256"]:
            raise StateError(f"the shard {path} is damaged")
        item = self._format.unpack(data, str(path))
        if self._format.rows(item) != shard["rows"]:
            raise StateError(f"the shard {path} does not hold {shard['rows']} samples")
        return item

    def drop_oldest(self, rows: int) -> None:
        """Drop the oldest shards while the others hold at least `rows` samples."""
        for name in self.names():
            if self.rows - int(self._shards[name]["rows"]) < rows:
                return
            self._drop(name)

    def drop_before(self, label: int) -> None:
        """Drop the shards with smaller labels."""
        for name in self.names():
            if self.label(name) < label:
                self._drop(name)

    def _drop(self, name: str) -> None:
        del self._shards[name]
        self._dropped[-1].append(name)

    def state(self) -> Json:
        """The list of shards, for the checkpoint that is being written."""
        if len(self._dropped) == self._dropped.maxlen:
            for name in self._dropped[0]:  # no kept checkpoint refers to these any more
                (self.folder / name).unlink(missing_ok=True)
        self._dropped.append([])
        return {"shards": {name: dict(s) for name, s in self._shards.items()}, "next": self._next}

    def restore(self, state: Json) -> dict[str, Item]:
        """Read the shards of a checkpoint; damaged ones, and those of none, are quarantined."""
        self._next = int(state["next"])
        self._shards = {name: _entry(stored) for name, stored in state["shards"].items()}
        sound: dict[str, Item] = {}
        reasons, damaged = [], set()
        for name in self.names():
            try:
                sound[name] = self.read(name)
            except ValueError as error:
                reasons.append(str(error))
                damaged.add(name)
                del self._shards[name]
        if reasons:
            self._report(
                f"{len(reasons)} shards are missing or damaged; continuing without them: "
                f"{'; '.join(reasons)}"
            )
        self._quarantine_others(damaged)
        return sound

    def _quarantine_others(self, damaged: set[str]) -> None:
        aside = self.folder / QUARANTINE
        shutil.rmtree(aside, ignore_errors=True)
        self.quarantined = 0
        kept = self._named_by_checkpoints() - damaged
        for path in sorted(self.folder.glob(f"*{self._format.suffix}")):
            if path.name in self._shards:
                continue
            if path.name in kept:
                self._dropped[-1].append(path.name)  # deleted when those checkpoints are
                continue
            aside.mkdir(exist_ok=True)
            os.replace(path, aside / path.name)
            self.quarantined += 1

    def _named_by_checkpoints(self) -> set[str]:
        """Shards that the run's checkpoints name, this one and those to fall back to."""
        pattern = re.compile(rf'"(\d{{8}}{re.escape(self._format.suffix)})"')
        names: set[str] = set()
        for path in (self.folder.parent / "checkpoints").glob(f"*/{VALUES}"):
            if path.parent.name.isdigit():  # others are damaged
                with contextlib.suppress(OSError):
                    names.update(pattern.findall(path.read_text("utf-8", "replace")))
        return names


def _entry(stored: dict[str, Json]) -> dict[str, Json]:
    """Convert the entry of a shard, which older checkpoints store under other keys."""
    return {
        "rows": stored["rows"] if "rows" in stored else stored["count"],
        "sha256": stored.get("sha256"),
        "label": stored.get("label", stored.get("generation", 0)),
    }
