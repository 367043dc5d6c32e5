"""Opening book and tablebases, consulted before the player.

They are used only in games: analysis (`infinite`, `mate`, `searchmoves`, MultiPV) asks for the
player's own evaluation.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rookery._core import Game
from rookery.players.base import Decision
from rookery.uci.options import Options

if TYPE_CHECKING:
    from rookery.data.books import Book
    from rookery.players.tablebase import CachedTables

MOST_TABLE_PIECES = 7


class Knowledge:
    """The open book and tablebases; not thread-safe."""

    def __init__(self, say: Callable[[str], None]) -> None:
        """Report through `say` what cannot be opened."""
        self._say = say
        self._book: Book | None = None
        self._tables: CachedTables | None = None
        self._book_of: tuple[bool, str] = (False, "")
        self._tables_of: tuple[str, str] = ("", "")

    def prepare(self, options: Options) -> None:
        """Open the files that the options name, unless they are open."""
        if (options.own_book, options.book_file) != self._book_of:
            self._book_of = (options.own_book, options.book_file)
            self._open_book()
        if (options.syzygy_path, options.gaviota_path) != self._tables_of:
            self._tables_of = (options.syzygy_path, options.gaviota_path)
            self._open_tables()

    def choose(
        self, game: Game, options: Options, rng: np.random.Generator
    ) -> tuple[str, Decision] | None:
        """Return a known move and its source, or None."""
        self.prepare(options)
        if self._book is not None:
            move = self._book.choose(game, rng)
            if move is not None:
                return "book", Decision(move, line=(move,))
        if self._tables is not None and game.piece_count() <= MOST_TABLE_PIECES:
            return self._from_tables(game, rng)
        return None

    def close(self) -> None:
        """Close all files."""
        if self._book is not None:
            self._book.close()
        if self._tables is not None:
            self._tables.tables.close()
        self._book = self._tables = None

    def _from_tables(self, game: Game, rng: np.random.Generator) -> tuple[str, Decision] | None:
        from rookery.players.tablebase import rank_moves

        assert self._tables is not None
        ranks = rank_moves(game, self._tables)
        if not ranks:
            return None
        best = max(ranks.values())
        moves = [move for move, rank in ranks.items() if rank == best]
        move = moves[int(rng.integers(len(moves)))]
        return "tables", Decision(move, float(best[0]), (move,))

    def _open_book(self) -> None:
        from rookery.data.books import find_book

        wanted, path = self._book_of
        if self._book is not None:
            self._book.close()
            self._book = None
        if wanted:
            try:
                self._book = find_book(path or None)
            except (ValueError, OSError) as error:
                self._say(f"no book: {error}")

    def _open_tables(self) -> None:
        from rookery.data.tablebases import Tablebases
        from rookery.players.tablebase import CachedTables

        if self._tables is not None:
            self._tables.tables.close()
            self._tables = None
        syzygy, gaviota = (
            [part for part in path.split(os.pathsep) if part] for path in self._tables_of
        )
        if syzygy or gaviota:
            try:
                tables = Tablebases(gaviota=gaviota, syzygy=syzygy)
                self._tables = CachedTables(tables)
                self._say(tables.describe())
            except (ValueError, OSError) as error:
                self._say(f"no tablebases: {error}")
