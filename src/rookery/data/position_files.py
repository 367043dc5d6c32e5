"""Files with one position per line, FEN or EPD, plain or gzipped."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from rookery._core import FenError
from rookery.data.paths import MissingDataError


def read_text(path: Path) -> str:
    """Text of a plain or gzipped file; undecodable bytes are replaced."""
    raw = path.read_bytes()
    if raw[:2] == b"\x1f\x8b":
        try:
            raw = gzip.decompress(raw)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise ValueError(f"{path}: the gzip file is cut off or damaged") from None
    return raw.decode("utf-8", "replace")


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
