"""Polyglot opening books, read through python-chess.

    with find_book() as book:
        book.moves(Game())        # [BookMove('e2e4', 12135), ...]

A book is found by its path, in `ROOKERY_DATA`/openings, or in the usual folders of distributions.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import chess
import chess.polyglot
import numpy as np

from rookery._core import Game
from rookery.base.closing import Closing
from rookery.data.paths import MissingDataError, search_folders

ENTRY_BYTES = 16  # of the Polyglot format
USUAL_FOLDERS = (
    "/usr/share/games/gnuchess",
    "/usr/share/games/polyglot",
    "/usr/share/scid/books",
    "/usr/local/share/polyglot",
    "~/.local/share/polyglot",
)
HOW_TO_GET = (
    "install Debian's gnuchess-book, or put a Polyglot *.bin file in the folder 'openings' of a "
    "folder named by ROOKERY_DATA"
)
# Polyglot writes castling as the king taking its own rook.
CASTLING = {"e1h1": "e1g1", "e1a1": "e1c1", "e8h8": "e8g8", "e8a8": "e8c8"}


@dataclass(frozen=True)
class BookMove:
    """A book move."""

    move: str  # UCI
    weight: int  # how good or how frequent; meaningful only within one position


class Book(Closing):
    """An open Polyglot book. Close it, or use it in a `with` statement."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open the book at `path`."""
        self.path = Path(path)
        if not self.path.is_file():
            raise MissingDataError(f"there is no opening book at {str(path)!r}; {HOW_TO_GET}")
        size = self.path.stat().st_size
        if size == 0 or size % ENTRY_BYTES:
            raise ValueError(
                f"{str(path)!r} is not a Polyglot book: its {size} bytes are not a positive "
                f"multiple of {ENTRY_BYTES}"
            )
        self._reader = chess.polyglot.open_reader(self.path)

    def __len__(self) -> int:
        """Return the number of entries (one per position and move)."""
        return len(self._reader)

    def moves(self, game: Game) -> list[BookMove]:
        """List the legal book moves in the current position, by descending weight."""
        found = [
            BookMove(_spelling(entry.move.uci(), game), entry.weight)
            for entry in self._reader.find_all(game.polyglot_key, minimum_weight=0)
        ]
        legal = [entry for entry in found if game.is_legal(entry.move)]
        return sorted(legal, key=lambda entry: -entry.weight)

    def contains(self, game: Game, move: str) -> bool:
        """Tell whether `move` is a book move in the current position of `game`."""
        return any(entry.move == move for entry in self.moves(game))

    def choose(self, game: Game, rng: np.random.Generator) -> str | None:
        """Draw a move with probability proportional to its weight; None outside the book."""
        entries = self.moves(game)
        if not entries:
            return None
        weights = np.array([entry.weight for entry in entries], dtype=np.float64)  # [L]
        if not weights.any():
            weights += 1.0  # a book without weights: uniform
        return entries[int(rng.choice(len(entries), p=weights / weights.sum()))].move

    def positions(self) -> Iterator[int]:
        """Yield the Polyglot key of every entry, in ascending order, with repetitions."""
        return (entry.key for entry in self._reader)

    def close(self) -> None:
        """Close the file; may be called more than once."""
        self._reader.close()


def _spelling(move: str, game: Game) -> str:
    """A book move in the game's notation of castling."""
    if move not in CASTLING or game.chess960:
        return move
    is_king = game.piece_at(chess.parse_square(move[:2])).upper() == "K"
    return CASTLING[move] if is_king else move


def book_paths() -> list[Path]:
    """List the books in the usual places, those of `ROOKERY_DATA` first."""
    return [
        path
        for folder in search_folders("openings", USUAL_FOLDERS)
        for path in sorted(folder.glob("*.bin"))
    ]


def find_book(path: str | os.PathLike[str] | None = None) -> Book:
    """Open the book at `path`, or the first one in the usual places."""
    if path is not None:
        return Book(path)
    for candidate in book_paths():
        return Book(candidate)
    raise MissingDataError(f"no opening book found; {HOW_TO_GET}")
