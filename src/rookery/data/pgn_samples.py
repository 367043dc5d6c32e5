"""Samples from games in PGN: the move played is the policy, the result of the game the value."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from pathlib import Path

import chess
import chess.pgn

from rookery._core import FenError, Game
from rookery.data.sample_writer import SampleWriter

RESULTS = {"1-0": 1, "0-1": -1, "1/2-1/2": 0}
STANDARD = ("standard", "from position")  # variants with the usual rules


def open_pgn(path: Path) -> io.StringIO:
    """The text of a PGN file, plain or gzipped."""
    from rookery.data.openings import read_text

    if not path.is_file():
        raise ValueError(f"PGN {str(path)!r}: there is no such file")
    return io.StringIO(read_text(path))


def read_games(path: Path) -> Iterator[chess.pgn.Game]:
    """Games of a PGN file, plain or gzipped, one at a time."""
    stream = open_pgn(path)
    while True:
        game = chess.pgn.read_game(stream)
        if game is None:
            return
        yield game


def rating_of(headers: Mapping[str, str]) -> int:
    """The lower of both players' ratings; 0 if one is unknown."""
    texts = [headers.get(name, "") for name in ("WhiteElo", "BlackElo")]
    return min(int(text) if text.isdigit() else 0 for text in texts)


def positions_of(game: chess.pgn.Game) -> Iterator[tuple[Game, str]]:
    """Every position of a game with the move played in it; the same `Game` goes on each time."""
    try:
        position = Game(game.board().fen())
    except FenError:
        return
    for move in game.mainline_moves():
        if not position.legal_count():
            return
        yield position, move.uci()
        position.push(move.uci())


def write_pgn_samples(
    paths: list[Path],
    writer: SampleWriter,
    limit: int | None = None,
    least_rating: int = 0,
    skip_plies: int = 0,
) -> dict[str, int]:
    """Write samples of all games that have a result and strong enough players.

    Args:
        paths: PGN files, plain or gzipped.
        writer: Takes the samples; the caller closes it.
        limit: Most games.
        least_rating: Of both players.
        skip_plies: Plies at the start of a game that are not learnt.
    """
    counts = {"games": 0, "skipped": 0, "samples": 0}
    for path in paths:
        for game in read_games(path):
            if limit is not None and counts["games"] >= limit:
                return counts
            result = RESULTS.get(game.headers.get("Result", "*"))
            variant = game.headers.get("Variant", "Standard").lower()
            moves = sum(1 for _ in game.mainline_moves())
            strange = game.errors or variant not in STANDARD
            if result is None or strange or not moves or rating_of(game.headers) < least_rating:
                counts["skipped"] += 1
                continue
            counts["games"] += 1
            for position, move in positions_of(game):
                if position.ply < skip_plies:
                    continue
                mover = result if position.turn else -result
                left = moves - position.ply
                writer.add(position, {move: 1.0}, mover, mover, left, counts["games"])
                counts["samples"] += 1
    return counts
