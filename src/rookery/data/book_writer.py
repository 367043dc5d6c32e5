"""Polyglot opening books made from games: what was played how often, and with what success.

The weight of a move is 2 for each game that its side won and 1 for each draw, as in the books that
the program polyglot makes. An entry takes 16 bytes, big-endian:

    8 bytes   key of the position
    2 bytes   move: to, from << 6, promotion << 12 (1 knight to 4 queen); castling: king takes rook
    2 bytes   weight
    4 bytes   zero (polyglot's own place for learning)
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import chess
import chess.pgn

from rookery._core import Game
from rookery.data.pgn_samples import RESULTS, STANDARD, open_pgn, rating_of

ENTRY = struct.Struct(">QHHI")
MOST_WEIGHT = 2**16 - 1

Statistics = dict[tuple[int, int], list[int]]  # (key, move): number of games, weight


def book_from_pgn(
    paths: Sequence[Path],
    plies: int = 20,
    least_games: int = 2,
    least_rating: int = 0,
    limit: int | None = None,
) -> tuple[bytes, dict[str, int]]:
    """The content of a book, and numbers of games, positions and entries.

    Args:
        paths: PGN files, plain or gzipped.
        plies: Of each game that are looked at.
        least_games: Moves that were played in fewer are left out.
        least_rating: Of both players.
        limit: Most games.
    """
    counts = {"games": 0, "skipped": 0}
    statistics: Statistics = {}
    for game in _games(paths, plies):
        if limit is not None and counts["games"] >= limit:
            break
        played = None if rating_of(game.headers) < least_rating else game.positions()
        if played is None:
            counts["skipped"] += 1
            continue
        counts["games"] += 1
        _count(statistics, played, RESULTS[game.headers["Result"]])
    entries = _entries(statistics, least_games)
    counts["positions"] = len({key for key, _, _ in entries})
    counts["entries"] = len(entries)
    return b"".join(ENTRY.pack(*entry, 0) for entry in entries), counts


def _count(statistics: Statistics, played: list[tuple[int, int, bool]], result: int) -> None:
    """Add a game; a position that it repeats with the same move counts once."""
    for key, move, white in set(played):
        entry = statistics.setdefault((key, move), [0, 0])
        entry[0] += 1
        entry[1] += 1 + (result if white else -result)


def _entries(statistics: Statistics, least_games: int) -> list[tuple[int, int, int]]:
    """Key, move and weight, in the order of a book: by key, then the heaviest first."""
    kept = sorted(
        (key, -weight, move)
        for (key, move), (games, weight) in statistics.items()
        if games >= least_games and weight > 0
    )
    entries = []
    for key, moves in groupby(kept, key=lambda entry: entry[0]):
        weights = [(move, -negative) for _, negative, move in moves]
        heaviest = max(weights[0][1], MOST_WEIGHT)
        entries += [(key, move, max(1, w * MOST_WEIGHT // heaviest)) for move, w in weights]
    return entries


def _games(paths: Sequence[Path], plies: int) -> Iterator[_BookGame]:
    for path in paths:
        stream = open_pgn(path)
        while (game := _read(stream, plies)) is not None:
            yield game


def _read(stream: io.StringIO, plies: int) -> _BookGame | None:
    return chess.pgn.read_game(stream, Visitor=lambda: _BookGame(plies))


class _BookGame(chess.pgn.BaseVisitor["_BookGame"]):
    """The first plies of a game."""

    def __init__(self, plies: int) -> None:
        self.headers: dict[str, str] = {}
        self._plies = plies
        self._start: chess.Board | None = None
        self._moves: list[tuple[str, int]] = []  # UCI and as a book writes it
        self._broken = False

    def visit_header(self, tagname: str, tagvalue: str) -> None:
        self.headers[tagname] = tagvalue

    def visit_board(self, board: chess.Board) -> None:
        if self._start is None:
            self._start = board.copy()

    def begin_variation(self) -> chess.pgn.SkipType:
        return chess.pgn.SKIP

    def begin_parse_san(self, board: chess.Board, san: str) -> chess.pgn.SkipType | None:
        return chess.pgn.SKIP if len(self._moves) >= self._plies else None

    def visit_move(self, board: chess.Board, move: chess.Move) -> None:
        self._moves.append((move.uci(), book_move(board, move)))

    def handle_error(self, error: Exception) -> None:
        self._broken = True

    def visit_result(self, result: str) -> None:
        if self.headers.get("Result", "*") == "*":
            self.headers["Result"] = result

    def result(self) -> _BookGame:
        return self

    def positions(self) -> list[tuple[int, int, bool]] | None:
        """Key, move and side of each ply; None for a game that teaches nothing.

        That is one without result or moves, one that cannot be read, or another variant.
        """
        variant = self.headers.get("Variant", "Standard").lower()
        known = variant in STANDARD and self.headers.get("Result", "*") in RESULTS
        if self._broken or not known or not self._moves or self._start is None:
            return None
        if self._start.chess960:
            return None
        found = []
        try:
            game = Game(self._start.fen())
            for uci, move in self._moves:
                found.append((game.polyglot_key, move, game.turn))
                game.push(uci)
        except ValueError:  # a null move, or a position that no game can have
            return None
        return found


def book_move(board: chess.Board, move: chess.Move) -> int:
    """A legal move as Polyglot writes it, in 15 bits."""
    to = move.to_square
    if board.is_castling(move):
        file = 7 if board.is_kingside_castling(move) else 0
        to = chess.square(file, chess.square_rank(move.from_square))
    promotion = 0 if move.promotion is None else move.promotion - chess.PAWN
    return to | move.from_square << 6 | promotion << 12
