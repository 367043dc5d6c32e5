"""What is known about a position without searching: opening, book moves, tablebase verdict.

The best known openings are named from `data/openings.tsv`, which is our own; a larger table with
the columns eco, name and pgn (`openings/lichess_eco.tsv` of the folder ROOKERY_DATA) replaces it.
Books and tablebases are those that are installed. What is missing is left out.
"""

from __future__ import annotations

import contextlib
import csv
from importlib import resources
from pathlib import Path
from typing import Any

import chess

from rookery._core import Game
from rookery.data.books import Book, find_book
from rookery.data.paths import data_folder
from rookery.data.tablebases import Tablebases, find_tablebases

KNOWN = "openings.tsv"  # of rookery.data: name, moves in SAN
OPENINGS = Path("openings") / "lichess_eco.tsv"
MOST_PIECES = 5  # beyond which no tablebase is asked
MOST_BOOK_MOVES = 8
OPENING_PLIES = 40  # after which no opening has a name


class Facts:
    """Knows nothing until `load` has been called."""

    def __init__(self) -> None:
        """Open nothing yet."""
        self._names: dict[str, str] = {}  # of openings, by position (EPD)
        self._book: Book | None = None
        self._tables: Tablebases | None = None
        self._loaded = False

    def load(self) -> None:
        """Open what there is, once; takes a few seconds."""
        if self._loaded:
            return
        self._loaded = True
        with contextlib.suppress(OSError, ValueError):
            self._tables = find_tablebases()
        with contextlib.suppress(OSError, ValueError):
            self._book = find_book()
        self._names = known_openings()
        folder = data_folder()
        path = None if folder is None else folder / OPENINGS
        if path is not None and path.is_file():
            with contextlib.suppress(OSError, ValueError, KeyError):
                self._names = read_openings(path)

    def opening(self, game: Game) -> str:
        """The name of the last named position of the game, "" if none is known."""
        if not self._names or game.start_fen != chess.STARTING_FEN:
            return ""
        board = chess.Board()
        name = ""
        for uci in game.moves()[:OPENING_PLIES]:
            board.push_uci(uci)
            name = self._names.get(board.epd(), name)
        return name

    def book_moves(self, game: Game) -> list[dict[str, Any]]:
        """The moves of the installed opening book, with their shares in per cent."""
        if self._book is None:
            return []
        moves = self._book.moves(game)[:MOST_BOOK_MOVES]
        total = sum(move.weight for move in moves)
        board = chess.Board(game.fen())
        return [
            {
                "uci": move.move,
                "san": board.san(chess.Move.from_uci(move.move)),
                "share": round(100 * move.weight / total),
            }
            for move in moves
            if total
        ]

    def tablebase(self, game: Game) -> dict[str, Any] | None:
        """The verdict of an installed tablebase, White's view; None if it has none."""
        if self._tables is None or game.piece_count() > MOST_PIECES:
            return None
        probe = self._tables.probe(game)
        if probe is None:
            return None
        result = probe.result if game.turn else -probe.result
        if not result:
            return {"result": 0, "text": "a draw with best play"}
        text = f"{'White' if result > 0 else 'Black'} wins"
        if probe.metric == "dtm":
            text += f", mate in {(probe.distance + 1) // 2}"
        return {"result": result, "text": text}


def known_openings() -> dict[str, str]:
    """The names that ship, by position."""
    names: dict[str, str] = {}
    with resources.files("rookery.data").joinpath(KNOWN).open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            board = chess.Board()
            for word in row["moves"].split():
                board.push_san(word)
            names[board.epd()] = row["name"]
    return names


def read_openings(path: Path) -> dict[str, str]:
    """Names by position of a table with the columns eco, name and pgn."""
    names: dict[str, str] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            board = chess.Board()
            for word in row["pgn"].split():
                if not word.endswith("."):
                    board.push_san(word)
            names[board.epd()] = f"{row['eco']} {row['name']}"
    return names
