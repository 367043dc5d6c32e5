"""A journal of JSON objects, one per line, each synced to the disk before it counts.

A killed process leaves at most an incomplete last line, which the next one cuts off.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from rookery.base.storage import PLAIN_FILE, write_all

Row = TypeVar("Row")


class RowJournal(Generic[Row]):
    """Rows on disk, read once and then only appended to.

    Args:
        path: The file; it need not exist.
        parse: Makes a row of a JSON object; a ValueError, KeyError or TypeError refuses it.
        first_key: The key that every object begins with, to tell a torn line from another file.
        what: What a line holds, for the error about a file of something else.
    """

    def __init__(self, path: Path, parse: Callable[[Any], Row], first_key: str, what: str) -> None:
        """Read the file; a `ValueError` names the first line of another format."""
        self.path = path
        self._parse = parse
        self.rows: list[Row] = []
        if not path.exists():
            return
        data = path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                self.rows.append(parse(json.loads(line)))
            except (ValueError, KeyError, TypeError):
                raise ValueError(
                    f"{str(path)!r}, line {number}, is not {what}; name another file"
                ) from None
        if not whole and not data.startswith(f'{{"{first_key}"'.encode()[: len(data)]):
            raise ValueError(f"{str(path)!r} does not hold {what} on each line; name another file")
        if len(whole) < len(data):
            os.truncate(path, len(whole))  # the process died while writing

    def append(self, content: dict[str, Any]) -> Row:
        """Add a row and sync it to the disk."""
        row = self._parse(content)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | PLAIN_FILE
        descriptor = os.open(self.path, flags, 0o644)
        try:
            text = json.dumps(content, separators=(",", ":"), allow_nan=False)
            write_all(descriptor, text.encode() + b"\n", self.path)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self.rows.append(row)
        return row
