"""Everything that can be read of a run folder, also while a trainer is at work in it.

Files may be growing, torn, damaged or missing: readers get what is sound. `rookery.training.folder`
lists the files and writes them.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rookery.base.storage import atomic_write

RECIPE = "recipe.toml"
METRICS = "metrics.jsonl"
TIMING = "timing.jsonl"
RATINGS = "ratings.json"
MODEL = "model.safetensors"
LOG = "log.txt"
MOST_BYTES = 256 << 20  # of a file of rows; more than that is not read
CHUNK = 8 << 20
LARGEST_PGN = 1 << 20  # bytes of a file of games that are read
LOG_BYTES = 16 << 10  # of the end of the log


class GrowingRows:
    """A file of JSON objects, one per line, that grows; only what is new is read."""

    def __init__(self, path: Path) -> None:
        """Nothing is read yet."""
        self._path = path
        self._offset = 0
        self._identity: tuple[int, int] | None = None
        self._rows: list[dict[str, Any]] = []

    def refresh(self) -> list[dict[str, Any]]:
        """All sound rows, after reading what was added; begins again if the file was cut."""
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW)
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
                end = data.rfind(b"\n") + 1  # a row without its newline is not complete
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
    """One run. Rows that were read stay in memory, so asking again costs only what is new."""

    def __init__(self, path: Path) -> None:
        """Name the folder; nothing is read yet."""
        self.path = path
        self._metrics = GrowingRows(path / METRICS)
        self._timing = GrowingRows(path / TIMING)

    def metrics(self) -> list[dict[str, Any]]:
        """What the seed determines, a row per iteration."""
        return [row for row in self._metrics.refresh() if "iteration" in row]

    def timing(self) -> list[dict[str, Any]]:
        """What the clock determines, a row per iteration."""
        return list(self._timing.refresh())

    def recipe(self) -> dict[str, Any]:
        """The recipe as stored, unchecked; needs no algorithm."""
        try:
            return tomllib.loads((self.path / RECIPE).read_text("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{self.path / RECIPE} is not valid TOML: {error}") from None

    def evaluations(self) -> list[dict[str, Any]]:
        """The evaluations of training, oldest first; none if the file is damaged."""
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
        """Whether a trainer holds the run's lock; the lock itself is not touched.

        Trying to take it, even for an instant, could keep a trainer out that starts just then.
        """
        try:
            inode = (self.path / "lock").stat().st_ino
            held = Path("/proc/locks").read_text()
        except OSError:
            return False
        return any(f":{inode} " in line and "FLOCK" in line for line in held.splitlines())

    def game_texts(self) -> Iterator[tuple[str, str]]:
        """Name and PGN text of the files of sample games, the newest first.

        Games against opponents come before those of self-play, of which there are more.
        """
        files = sorted((self.path / "games").glob("*.pgn"), reverse=True)
        for path in sorted(files, key=lambda path: path.stem.endswith("-selfplay")):
            if path.is_symlink():
                return
            with path.open("rb") as file:
                yield path.stem, file.read(LARGEST_PGN).decode("utf-8", "replace")


def read_ratings(run: Path) -> dict[str, Any]:
    """The content of ratings.json: "evaluations" of training, "ladder" of `rookery rate`.

    Raises:
        ValueError: it is not JSON.
    """
    try:
        content = json.loads((run / RATINGS).read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(f"{run / RATINGS} is damaged ({error}); move it away") from None
    return content if isinstance(content, dict) else {"ladder": content}


def write_ratings(run: Path, content: Mapping[str, Any]) -> None:
    """Replace ratings.json in one step."""
    atomic_write(run / RATINGS, json.dumps(dict(content), indent=1, allow_nan=False) + "\n")


def number(value: object) -> float | None:
    """A value of a row as a number, None for anything else (booleans too)."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None  # type: ignore[arg-type]
