"""Puzzle files.

Lichess's CSV, whose position is the one before the opponent's first move, and files with the
columns `fen` and `solution_uci` or `pv_uci`, where the solver moves first.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rookery._core import Game
from rookery.data.position_files import complete_fen, read_text


@dataclass(frozen=True)
class Puzzle:
    """A puzzle; `line` alternates solver and opponent, the solver first."""

    name: str
    fen: str  # the solver is to move
    line: tuple[str, ...]  # UCI
    rating: float | None
    themes: tuple[str, ...]


def read_puzzles(path: Path, limit: int | None = None, seed: int = 0) -> list[Puzzle]:
    """Read a CSV file, plain or gzipped; `limit` draws that many by the seed."""
    if not path.is_file():
        raise ValueError(f"puzzles {str(path)!r}: there is no such file")
    if limit is not None and limit < 1:
        raise ValueError(f"--limit is {limit}; it must be 1 or more")
    reader = csv.DictReader(io.StringIO(read_text(path)))
    try:
        columns = {name.lower(): name for name in reader.fieldnames or []}
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:  # a field too long for any puzzle
        number = reader.reader.line_num
        raise ValueError(f"puzzles {str(path)!r}, line {number}: {error}") from error
    if "fen" not in columns or not columns.keys() & {"moves", "solution_uci", "pv_uci"}:
        raise ValueError(
            f"puzzles {str(path)!r}: needs the columns FEN and Moves (Lichess), or fen and "
            f"solution_uci; it has {', '.join(columns) or 'none'}"
        )
    if limit is not None and limit < len(rows):
        chosen = np.random.default_rng(seed).permutation(len(rows))[:limit]
        rows = [rows[i] for i in sorted(chosen)]
    puzzles = []
    for number, row in rows:
        values = {lower: (row.get(name) or "") for lower, name in columns.items()}
        try:
            puzzle = _puzzle(values, f"line {number}")
        except ValueError as error:
            raise ValueError(f"puzzles {str(path)!r}, line {number}: {error}") from error
        if puzzle.line:
            puzzles.append(puzzle)
    if not puzzles:
        raise ValueError(f"puzzles {str(path)!r} holds no puzzle")
    return puzzles


def _puzzle(values: dict[str, str], name: str) -> Puzzle:
    game = Game(complete_fen(values["fen"]))
    line = (values.get("moves") or values.get("solution_uci") or values.get("pv_uci") or "").split()
    if "moves" in values and line:
        game.push(line[0])
        line = line[1:]
    start = game.fen()
    for move in line:
        game.push(move)
    rating = values.get("rating", "")
    if rating and not math.isfinite(float(rating)):
        raise ValueError(f"rating {rating!r} is no number")
    return Puzzle(
        name=values.get("puzzleid") or values.get("title") or name,
        fen=start,
        line=tuple(line),
        rating=float(rating) if rating else None,
        themes=tuple(values.get("themes", "").split()),
    )
