"""The records of a run: metrics.jsonl, timing.jsonl and TensorBoard's events.

metrics.jsonl holds what the seed determines and timing.jsonl what the clock does, one row per
iteration each, so that the first is the same, byte by byte, for a run that was stopped and
resumed as for one that was not. Lengths are kept in each checkpoint; resuming cuts back to them.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from rookery.base.storage import write_all


class JsonLines:
    """A file of JSON objects, one per line, that is only appended to."""

    def __init__(self, path: Path) -> None:
        """Open or make the file; a symbolic link in its place is refused."""
        self.path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        self._descriptor = os.open(path, flags, 0o644)

    def append(self, row: Mapping[str, Any]) -> None:
        """Add a row by a single write; numbers that JSON cannot express become null."""
        text = json.dumps(finite(row), separators=(",", ":"), allow_nan=False) + "\n"
        write_all(self._descriptor, text.encode(), self.path)

    def sync(self) -> int:
        """Wait until all rows are on the disk, and return the length in bytes."""
        os.fsync(self._descriptor)
        return os.fstat(self._descriptor).st_size

    def cut(self, length: int) -> int:
        """Truncate to `length`; returns how many bytes the file is short of it."""
        size = os.fstat(self._descriptor).st_size
        if size > length:
            os.ftruncate(self._descriptor, length)
        return max(0, length - size)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def finite(value: Any) -> Any:
    """The same with NaN and infinities replaced by None, at any depth."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


class TensorBoard:
    """Writes scalars for TensorBoard; without the package it writes nothing.

    Events are a convenience beside metrics.jsonl, so trouble with them never stops a run.
    """

    def __init__(self, folder: Path, step: int) -> None:
        """Start a new file; events from `step` on in older files are hidden by TensorBoard."""
        self._file: BinaryIO | None = None
        try:
            from tensorboard.compat.proto import (  # type: ignore[import-untyped]
                event_pb2,
                summary_pb2,
            )
            from tensorboard.summary.writer.record_writer import (  # type: ignore[import-untyped]
                RecordWriter,
            )
        except ImportError:
            return
        self._protos = event_pb2, summary_pb2
        name = f"events.out.tfevents.{time.time():.0f}.{socket.gethostname()}.{os.getpid()}"
        try:
            folder.mkdir(exist_ok=True)
            self._file = (folder / name).open("ab")
            self._records = RecordWriter(self._file)
            self._write(event_pb2.Event(wall_time=time.time(), file_version="brain.Event:2"))
            start = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
            self._write(event_pb2.Event(wall_time=time.time(), step=step, session_log=start))
        except OSError:
            self.close()

    def write(self, step: int, scalars: Mapping[str, float]) -> None:
        """Add scalars of one step."""
        if self._file is None:
            return
        events, summaries = self._protos
        values = [
            summaries.Summary.Value(tag=tag, simple_value=value)
            for tag, value in scalars.items()
            if math.isfinite(value)
        ]
        event = events.Event(
            wall_time=time.time(), step=step, summary=summaries.Summary(value=values)
        )
        try:
            self._write(event)
        except OSError:
            self.close()

    def close(self) -> None:
        """Close the file; later calls do nothing."""
        if self._file is not None:
            file, self._file = self._file, None
            with contextlib.suppress(OSError):
                file.close()

    def _write(self, event: Any) -> None:
        if self._file is not None:
            self._records.write(event.SerializeToString())
            self._file.flush()
