"""Files with one position per line, FEN or EPD, plain or gzipped."""

from __future__ import annotations

import csv
import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from rookery._core import FenError
from rookery.data.paths import MissingDataError

LARGEST_TEXT = 512 << 20  # characters of a file that is read whole
LARGEST_ROW = 512 << 10  # characters of a table's row


class DamagedFileError(ValueError):
    """A file that cannot be read to its end; the message names it."""


class TextFile(io.TextIOWrapper):
    """A plain or gzipped text file, read as a stream; undecodable bytes are replaced.

    A byte-order mark, which editors on Windows write, is skipped.
    """

    def __init__(self, path: Path) -> None:
        """Open the file."""
        self.path = path
        raw = path.open("rb")
        try:
            zipped = raw.peek(2)[:2] == b"\x1f\x8b"
            super().__init__(
                gzip.GzipFile(fileobj=raw, mode="rb") if zipped else raw, "utf-8-sig", "replace"
            )
        except BaseException:
            raw.close()
            raise
        self._raw = raw

    def read(self, size: int | None = -1, /) -> str:
        """Read characters."""
        return self._told(super().read, -1 if size is None else size)

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        """Read a line, or a part of it of `size` characters."""
        return self._told(super().readline, size)

    def __next__(self) -> str:  # type: ignore[override]
        """The next line."""
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def _told(self, read: Callable[[int], str], size: int) -> str:
        """Read, naming the file if it is damaged."""
        try:
            return read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise DamagedFileError(f"{self.path}: the gzip file is cut off or damaged") from None

    def close(self) -> None:
        """Close the file, which a gzip stream leaves open."""
        super().close()
        self._raw.close()


def read_text(path: Path) -> str:
    """Whole text of a plain or gzipped file; undecodable bytes are replaced."""
    with TextFile(path) as file:
        text = file.read(LARGEST_TEXT + 1)
    if len(text) > LARGEST_TEXT:
        raise ValueError(
            f"{path} holds more than {LARGEST_TEXT >> 20} million characters; split the file"
        )
    return text


def table_rows(file: TextFile) -> Iterator[tuple[int, list[str]]]:
    """Rows of a CSV file that are not empty, with the numbers of their last lines from 1.

    A ValueError names the file and the line of a row that is too long for any table.
    """
    number = left = 0

    def lines() -> Iterator[str]:
        nonlocal number, left
        while line := file.readline(left + 1):
            number += 1
            left -= len(line)
            if left < 0:
                raise csv.Error(f"a row has more than {LARGEST_ROW:,} characters")
            yield line

    reader = csv.reader(lines())
    while True:
        left = LARGEST_ROW
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise ValueError(f"{str(file.path)!r}, line {number}: {error}") from None
        if row is None:
            return
        if row:
            yield number, row


def position_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that are neither empty nor comments (`#`), with their numbers from 1."""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if line and not line.startswith("#"):
            yield number, line


def complete_fen(text: str) -> str:
    """FEN from an EPD line: four fields, then either the two counters or operations."""
    words = text.split(";")[0].split()
    if len(words) < 4:
        raise FenError(f"{text[:80]!r} has fewer than the four fields of a position")
    counters = words[4:6]
    if len(counters) == 2 and all(word.isdigit() for word in counters):
        return " ".join(words[:6])
    return " ".join(words[:4]) + " 0 1"


def read_positions(path: str | os.PathLike[str]) -> list[tuple[int, str]]:
    """Line numbers and FENs of a file; does not check the legality of positions."""
    source = Path(path)
    if not source.is_file():
        raise MissingDataError(f"there is no file of positions at {str(path)!r}")
    found = []
    for number, line in position_lines(read_text(source)):
        try:
            found.append((number, complete_fen(line)))
        except FenError as error:
            raise FenError(f"{path}, line {number}: {error}") from None
    return found
