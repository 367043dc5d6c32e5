"""Samples from puzzles (Vanhoutte 2022, section 3.6.1): the solver's moves are best and win."""

from __future__ import annotations

from pathlib import Path

from rookery._core import Game
from rookery.data.puzzles import drawn, themed_puzzles
from rookery.data.sample_writer import SampleWriter


def write_puzzle_samples(
    path: Path, writer: SampleWriter, themes: list[str], limit: int | None = None, seed: int = 0
) -> dict[str, int]:
    """Write a sample for each move of the solver.

    Only puzzles that end in mate are certainly won, so these are the usual themes.

    Args:
        path: CSV of puzzles, plain or gzipped.
        writer: Takes the samples; the caller closes it.
        themes: Puzzles with any of these themes; empty: all.
        limit: Largest number of puzzles, drawn by the seed.
        seed: Of the draw.
    """
    counts = {"puzzles": 0, "samples": 0}
    for number, puzzle in enumerate(drawn(themed_puzzles(path, themes), limit, seed)):
        counts["puzzles"] += 1
        position = Game(puzzle.fen)
        for ply, move in enumerate(puzzle.line):
            if ply % 2 == 0:
                writer.add(position, {move: 1.0}, 1.0, 1.0, len(puzzle.line) - ply, number)
                counts["samples"] += 1
            position.push(move)
    return counts
