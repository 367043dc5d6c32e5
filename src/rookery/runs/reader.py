"""Reading run folders, even while a trainer is writing to them.

Files may be growing, truncated, damaged or missing; readers return what is intact.
`rookery.training.folder` lists the files and writes them.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rookery.base.storage import PLAIN_FILE, atomic_write

RECIPE = "recipe.toml"
METRICS = "metrics.jsonl"
TIMING = "timing.jsonl"
RATINGS = "ratings.json"
MODEL = "model.safetensors"
LOG = "log.txt"
MOST_BYTES = 256 << 20  # read of a file of rows
CHUNK = 8 << 20
LARGEST_PGN = 1 << 20  # bytes read of a file of games
LOG_BYTES = 16 << 10  # read from the end of the log


class GrowingRows:
    """A growing file of JSON objects, one per line, read incrementally."""

    def __init__(self, path: Path) -> None:
        """Read nothing yet."""
        self._path = path
        self._offset = 0
        self._identity: tuple[int, int] | None = None
        self._rows: list[dict[str, Any]] = []

    def refresh(self) -> list[dict[str, Any]]:
        """All valid rows, including new ones; starts over if the file was truncated or replaced."""
        try:
            descriptor = os.open(self._path, os.O_RDONLY | PLAIN_FILE)
        except OSError:
            return self._rows
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            identity = (status.st_dev, status.st_ino)
            if identity != self._identity or status.st_size < self._offset:
                self._offset, self._identity, self._rows = 0, identity, []
            while self._offset < min(status.st_size, MOST_BYTES):
                file.seek(self._offset)
                data = file.read(CHUNK)
                end = data.rfind(b"\n") + 1  # the last row may be incomplete
                if end == 0:
                    break
                self._offset += end
                self._rows += _sound_rows(data[:end])
        return self._rows


def _sound_rows(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.split(b"\n"):
        try:
            row = json.loads(line) if line else None
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


class RunReader:
    """One run folder. Rows are cached, so that repeated calls read only new ones."""

    def __init__(self, path: Path) -> None:
        """Read nothing yet."""
        self.path = path
        self._metrics = GrowingRows(path / METRICS)
        self._timing = GrowingRows(path / TIMING)

    def metrics(self) -> list[dict[str, Any]]:
        """The rows of metrics.jsonl, one per iteration."""
        return [row for row in self._metrics.refresh() if "iteration" in row]

    def timing(self) -> list[dict[str, Any]]:
        """The rows of timing.jsonl, one per iteration."""
        return list(self._timing.refresh())

    def recipe(self) -> dict[str, Any]:
        """The stored recipe, not validated; loads no algorithm."""
        try:
            return tomllib.loads((self.path / RECIPE).read_text("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{self.path / RECIPE} is not valid TOML: {error}") from None

    def evaluations(self) -> list[dict[str, Any]]:
        """The evaluations during training, oldest first; empty if the file is damaged."""
        try:
            found = read_ratings(self.path).get("evaluations", [])
        except (OSError, ValueError):
            return []
        return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []

    def log_lines(self, most: int) -> list[str]:
        """The last lines of the log."""
        try:
            with (self.path / LOG).open("rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - LOG_BYTES))
                return file.read(LOG_BYTES).decode("utf-8", "replace").splitlines()[-most:]
        except OSError:
            return []

    def is_active(self) -> bool:
        """Whether a trainer holds the run's lock.

        The lock is not tested by taking it, which could make a trainer fail that starts just then.
        """
        try:
            inode = (self.path / "lock").stat().st_ino
            held = Path("/proc/locks").read_text()
        except OSError:
            return False
        return any(f":{inode} " in line and "FLOCK" in line for line in held.splitlines())

    def game_texts(self) -> Iterator[tuple[str, str]]:
        """Name and PGN text of the files of sample games, newest first, self-play last."""
        files = sorted((self.path / "games").glob("*.pgn"), reverse=True)
        for path in sorted(files, key=lambda path: path.stem.endswith("-selfplay")):
            if path.is_symlink():
                return
            with path.open("rb") as file:
                yield path.stem, file.read(LARGEST_PGN).decode("utf-8", "replace")


def read_ratings(run: Path) -> dict[str, Any]:
    """The content of ratings.json: "evaluations" of training, "ladder" of `rookery rate`."""
    try:
        content = json.loads((run / RATINGS).read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(f"{run / RATINGS} is damaged ({error}); move it away") from None
    return content if isinstance(content, dict) else {"ladder": content}


def write_ratings(run: Path, content: Mapping[str, Any]) -> None:
    """Replace ratings.json atomically."""
    atomic_write(run / RATINGS, json.dumps(dict(content), indent=1, allow_nan=False) + "\n")


def number(value: object) -> float | None:
    """A row's value as a float; None for anything that is not a number (booleans included)."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None  # type: ignore[arg-type]
