"""Samples from PGN games: the policy target is the move played, the value the result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rookery.data.pgn import read_pgn_files
from rookery.data.sample_writer import SampleWriter


def write_pgn_samples(
    paths: list[Path],
    writer: SampleWriter,
    limit: int | None = None,
    least_rating: int = 0,
    skip_plies: int = 0,
    report: Callable[[str], None] = lambda text: None,
) -> dict[str, int]:
    """Write samples of all games with a result and players of sufficient rating.

    Args:
        paths: PGN files, plain or gzipped.
        writer: Takes the samples; the caller closes it.
        limit: Largest number of games.
        least_rating: Minimum rating of both players.
        skip_plies: Plies at the start of a game without samples.
        report: Called with a line if games could not be read.
    """
    counts = {"games": 0, "skipped": 0, "samples": 0}
    for game in read_pgn_files(paths, report=report):
        if limit is not None and counts["games"] >= limit:
            break
        if game.points is None or not game.teaches or game.lower_rating < least_rating:
            counts["skipped"] += 1
            continue
        counts["games"] += 1
        for position, move in game.positions():
            if position.ply < skip_plies:
                continue
            mover = game.points if position.turn else -game.points
            left = len(game.moves) - position.ply
            writer.add(position, {move: 1.0}, mover, mover, left, counts["games"])
            counts["samples"] += 1
    return counts
