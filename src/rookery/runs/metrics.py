"""The records of a run: metrics.jsonl, timing.jsonl and TensorBoard's events.

Both files have one row per iteration. metrics.jsonl holds only what the seed determines, so that a
resumed run writes the same bytes as an uninterrupted one; timings are in timing.jsonl. Each
checkpoint stores the lengths of both, and resuming truncates them to these lengths.
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

from rookery.base.json_output import finite
from rookery.base.storage import PLAIN_FILE, write_all


class JsonLines:
    """An append-only file of JSON objects, one per line."""

    def __init__(self, path: Path) -> None:
        """Open or create the file; a symbolic link is refused."""
        self.path = path
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | PLAIN_FILE
        self._descriptor = os.open(path, flags, 0o644)

    def append(self, row: Mapping[str, Any]) -> None:
        """Add a row in a single write; NaN and infinities become null."""
        text = json.dumps(finite(row), separators=(",", ":"), allow_nan=False) + "\n"
        write_all(self._descriptor, text.encode(), self.path)

    def sync(self) -> int:
        """Sync all rows to the disk and return the length in bytes."""
        os.fsync(self._descriptor)
        return os.fstat(self._descriptor).st_size

    def cut(self, length: int) -> int:
        """Truncate to `length`; return how many bytes the file was shorter than that."""
        size = os.fstat(self._descriptor).st_size
        if size > length:
            os.ftruncate(self._descriptor, length)
        return max(0, length - size)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


class TensorBoard:
    """Writes scalars for TensorBoard, if it is installed; write errors never stop a run."""

    def __init__(self, folder: Path, step: int) -> None:
        """Start a new file; TensorBoard hides events from `step` on in older files."""
        self._file: BinaryIO | None = None
        try:
            from tensorboard.compat.proto import event_pb2, summary_pb2
            from tensorboard.summary.writer.record_writer import RecordWriter
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

    def write_settings(self, settings: Mapping[str, Any]) -> None:
        """Add the recipe, flat by dotted key, for TensorBoard's table of hyper-parameters."""
        if self._file is None:
            return
        from tensorboard.plugins.hparams.summary_v2 import hparams_pb

        known = {
            key: value if isinstance(value, bool | int | float | str) else json.dumps(value)
            for key, value in settings.items()
        }
        try:
            summary = hparams_pb(known)
            self._write(self._protos[0].Event(wall_time=time.time(), summary=summary))
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
        summary = summaries.Summary(value=values)
        try:
            self._write(events.Event(wall_time=time.time(), step=step, summary=summary))
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
