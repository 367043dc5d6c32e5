"""Making Polyglot opening books from games.

The weight of a move is 2 for each game that its side won and 1 for each draw, as in books made by
the program polyglot. An entry takes 16 bytes, big-endian:

    8 bytes   key of the position
    2 bytes   move: to, from << 6, promotion << 12 (1 knight to 4 queen); castling: king takes rook
    2 bytes   weight
    4 bytes   zero (used by polyglot for learning)
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

import chess

from rookery._core import Game
from rookery.data.pgn import PgnGame, read_pgn_files

ENTRY = struct.Struct(">QHHI")
MOST_WEIGHT = 2**16 - 1

Statistics = dict[tuple[int, int], list[int]]  # (key, move): number of games, weight


def book_from_pgn(
    paths: Sequence[Path],
    plies: int = 20,
    least_games: int = 2,
    least_rating: int = 0,
    limit: int | None = None,
    report: Callable[[str], None] = lambda text: None,
) -> tuple[bytes, dict[str, int]]:
    """The content of a book, and the numbers of games, positions and entries.

    Args:
        paths: PGN files, plain or gzipped.
        plies: Number of plies used of each game.
        least_games: Moves played in fewer games are left out.
        least_rating: Minimum rating of both players.
        limit: Largest number of games.
        report: Called with a line if games could not be read.
    """
    counts = {"games": 0, "skipped": 0}
    statistics: Statistics = {}
    for game in read_pgn_files(paths, plies, report=report):
        if limit is not None and counts["games"] >= limit:
            break
        played = _played(game) if game.teaches and game.lower_rating >= least_rating else set()
        if not played or game.points is None:
            counts["skipped"] += 1
            continue
        counts["games"] += 1
        for key, move, white in played:
            entry = statistics.setdefault((key, move), [0, 0])
            entry[0] += 1
            entry[1] += 1 + (game.points if white else -game.points)
    entries = book_entries(statistics, least_games)
    counts["positions"] = len({key for key, _, _ in entries})
    counts["entries"] = len(entries)
    return b"".join(ENTRY.pack(*entry, 0) for entry in entries), counts


def book_entries(statistics: Statistics, least_games: int) -> list[tuple[int, int, int]]:
    """Key, move and weight in book order: by key, then by descending weight."""
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


def _played(game: PgnGame) -> set[tuple[int, int, bool]]:
    """Key, book move and side of each ply, without repetitions; empty for Chess960 games."""
    if game.start is None or game.start.chess960:
        return set()
    return {(at.polyglot_key, book_move(at, move), at.turn) for at, move in game.positions()}


def book_move(game: Game, uci: str) -> int:
    """A legal move in Polyglot's encoding of 15 bits."""
    move = chess.Move.from_uci(uci)
    to = move.to_square
    if game.piece_at(move.from_square) in ("K", "k"):
        step = chess.square_file(to) - chess.square_file(move.from_square)
        if abs(step) == 2:  # castling: onto the rook
            to += 1 if step > 0 else -2
    promotion = 0 if move.promotion is None else move.promotion - chess.PAWN
    return to | move.from_square << 6 | promotion << 12
