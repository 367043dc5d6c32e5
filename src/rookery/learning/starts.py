"""Where self-play starts from: puzzles (paper 002, section 3.6.1), FENs, random endings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from rookery._core import Game, random_position

ENDING_POSITIONS = 500  # random positions of each kind of ending
MOST_POSITIONS = 100_000  # of a file; more are drawn at random


def start_fens(
    file: str,
    themes: list[str],
    endings: list[str],
    rng: np.random.Generator,
    log: Callable[[str], None] = lambda text: None,
) -> list[str]:
    """Positions of a file (with these themes, if it holds puzzles) and of random endings."""
    fens = []
    if file:
        fens = read_positions(Path(file), themes)
        if len(fens) > MOST_POSITIONS:
            chosen = rng.permutation(len(fens))[:MOST_POSITIONS]
            fens = [fens[i] for i in sorted(chosen)]
        log(f"{len(fens)} start positions from {file}")
    for material in endings:
        strong, weak = material.split("v")
        for number in range(ENDING_POSITIONS):
            sides = material if number % 2 else f"{weak}v{strong}"
            fens.append(random_position(sides, int(rng.integers(1 << 62)), "random"))
    return fens


def read_positions(path: Path, themes: list[str]) -> list[str]:
    """FENs of a CSV of puzzles with any of the themes, or of a file with one per line."""
    from rookery.data.openings import complete_fen, read_text
    from rookery.data.puzzles import read_puzzles

    if ".csv" in path.suffixes:
        wanted = set(themes)
        puzzles = read_puzzles(path)
        found = [p.fen for p in puzzles if not wanted or wanted & set(p.themes)]
    else:
        if not path.is_file():
            raise ValueError(f"selfplay.start_file {str(path)!r}: there is no such file")
        lines = (line.split("#")[0].split(";")[0].strip() for line in read_text(path).splitlines())
        found = [complete_fen(line) for line in lines if line]
    fens = [fen for fen in found if Game(fen).legal_count()]
    if not fens:
        raise ValueError(f"{path} has no position with the themes {', '.join(themes)}")
    return fens
