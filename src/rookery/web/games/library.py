"""My games: every game with a move, kept on disk.

One private JSON file per game, in a folder per visitor. A visitor is a browser, known by a
long-lived random cookie; its folder is named by a hash of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rookery.base.storage import atomic_write
from rookery.base.user_folders import make_private

VERSION = 1
MOST_GAMES = 500  # of a visitor; the oldest are deleted
MOST_VISITORS = 200  # further ones keep nothing
WRITE_SECONDS = 0.2  # how long changes of a game are collected
LARGEST = 256 * 1024  # bytes of a file
GAME_ID = re.compile(r"[A-Za-z0-9_-]{8,40}")
VISITOR = re.compile(r"[A-Za-z0-9_-]{16,64}")
# Keys of a game that are listed.
LISTED = ("id", "white", "black", "result", "reason", "changed", "fen", "color")

Record = dict[str, Any]


class Library:
    """All kept games; everything here may block on the disk."""

    def __init__(self, folder: Path) -> None:
        """Keep games in `folder`, which is created when there is one."""
        self.folder = folder

    def write(self, visitor: str, record: Record) -> None:
        """Create or replace a game; silently not for a visitor without a folder to have."""
        own = self._own(visitor)
        if own is None or not GAME_ID.fullmatch(str(record["id"])):
            return
        if not own.is_dir():
            make_private(self.folder)
            if sum(1 for _ in self.folder.iterdir()) >= MOST_VISITORS:
                return
            make_private(own)
        path = own / f"{record['id']}.json"
        fresh = not path.exists()
        atomic_write(path, json.dumps({"version": VERSION, **record}) + "\n")
        path.chmod(0o600)
        if fresh:
            self._thin(own)

    def read(self, visitor: str, game: object) -> Record:
        """Return a game; an unknown or damaged one is a `KeyError`."""
        own = self._own(visitor)
        if own is None or not isinstance(game, str) or not GAME_ID.fullmatch(game):
            raise KeyError(game)
        record = _read(own / f"{game}.json")
        if record is None:
            raise KeyError(game)
        return record

    def games(self, visitor: str) -> list[Record]:
        """Return all intact games of a visitor, the last changed first."""
        own = self._own(visitor)
        found = [_read(path) for path in own.glob("*.json")] if own is not None else []
        return sorted(
            (record for record in found if record is not None),
            key=lambda record: record["changed"],
            reverse=True,
        )

    def delete(self, visitor: str, game: object) -> None:
        """Delete a game."""
        self.read(visitor, game)
        own = self._own(visitor)
        assert own is not None  # it was read
        (own / f"{game}.json").unlink(missing_ok=True)

    def _own(self, visitor: str) -> Path | None:
        if not VISITOR.fullmatch(visitor):
            return None
        return self.folder / hashlib.sha256(visitor.encode()).hexdigest()[:32]

    def _thin(self, own: Path) -> None:
        paths = sorted(own.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for path in paths[: max(0, len(paths) - MOST_GAMES)]:
            path.unlink(missing_ok=True)


def summary(record: Mapping[str, Any]) -> Record:
    """Return what the list shows of a game."""
    return {**{key: record[key] for key in LISTED}, "plies": len(record["moves"])}


def _read(path: Path) -> Record | None:
    """Return the game in a file; None if it is not one of ours."""
    try:
        if path.is_symlink() or path.stat().st_size > LARGEST:
            return None
        record = json.loads(path.read_bytes())
        texts = all(isinstance(record[key], str) for key in LISTED if key != "changed")
        sound = (
            texts
            and record["version"] == VERSION
            and isinstance(record["changed"], int | float)
            and isinstance(record["wishes"], dict)
            and isinstance(record["moves"], list)
            and record["id"] == path.stem
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return record if sound else None


class Keeper:
    """Writes games in a thread, soon after they change."""

    def __init__(self, library: Library) -> None:
        """Write to `library`."""
        self._library = library
        self._waiting: dict[str, tuple[str, Record]] = {}
        self._writing: asyncio.Task[None] | None = None

    def keep(self, visitor: str, record: Record) -> None:
        """Write a game soon; a later change of it replaces this one."""
        self._waiting[record["id"]] = (visitor, record)
        if self._writing is None or self._writing.done():
            with contextlib.suppress(RuntimeError):  # no event loop: `close` writes
                self._writing = asyncio.get_running_loop().create_task(self._write_soon())

    async def _write_soon(self) -> None:
        while self._waiting:
            await asyncio.sleep(WRITE_SECONDS)
            await asyncio.to_thread(self.flush)

    def flush(self) -> None:
        """Write what is waiting; a full disk loses the copy, not the game."""
        while self._waiting:
            _, (visitor, record) = self._waiting.popitem()
            with contextlib.suppress(OSError):
                self._library.write(visitor, record)
