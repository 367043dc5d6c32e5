"""Puzzle files.

Two formats: Lichess's CSV, whose position is the one before the opponent's first move, and files
with the columns `fen` and `solution_uci` or `pv_uci`, where the solver moves first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from rookery._core import Game
from rookery.data.position_files import TextFile, complete_fen, table_rows

T = TypeVar("T")


@dataclass(frozen=True)
class Puzzle:
    """A puzzle; `line` alternates solver and opponent, the solver first."""

    name: str
    fen: str  # the solver is to move
    line: tuple[str, ...]  # UCI
    rating: float | None
    themes: tuple[str, ...]


def read_puzzles(path: Path, limit: int | None = None, seed: int = 0) -> list[Puzzle]:
    """Read a CSV file, plain or gzipped; with `limit`, that many puzzles drawn by the seed."""
    if not path.is_file():
        raise ValueError(f"puzzles {str(path)!r}: there is no such file")
    try:
        columns, rows = _read_table(path)
    except MemoryError:
        raise ValueError(f"puzzles {str(path)!r} do not fit in memory; split the file") from None
    if "fen" not in columns or not columns.keys() & {"moves", "solution_uci", "pv_uci"}:
        clipped = ", ".join(columns)[:80]  # of a file that is no table it may be long
        raise ValueError(
            f"puzzles {str(path)!r}: needs the columns FEN and Moves (Lichess), or fen and "
            f"solution_uci; it has {clipped or 'none'}"
        )
    puzzles = []
    for number, row in drawn(rows, limit, seed):
        values = {name: row[at] if at < len(row) else "" for name, at in columns.items()}
        try:
            puzzle = _puzzle(values, f"line {number}")
        except ValueError as error:
            raise ValueError(f"puzzles {str(path)!r}, line {number}: {error}") from error
        if puzzle.line:
            puzzles.append(puzzle)
    if not puzzles:
        raise ValueError(f"puzzles {str(path)!r} holds no puzzle")
    return puzzles


def _read_table(path: Path) -> tuple[dict[str, int], list[tuple[int, list[str]]]]:
    """The columns' places by their names in lower case, and the rows with their lines' numbers."""
    with TextFile(path) as file:
        rows = table_rows(file)
        _, names = next(rows, (0, []))
        return {name.lower(): place for place, name in enumerate(names)}, list(rows)


def themed_puzzles(path: Path, themes: Sequence[str]) -> list[Puzzle]:
    """The puzzles of a file with any of the themes; all of them without themes."""
    wanted = set(themes)
    puzzles = [p for p in read_puzzles(path) if not wanted or wanted & set(p.themes)]
    if not puzzles:
        raise ValueError(f"{path} has no puzzle with the themes {', '.join(themes)}")
    return puzzles


def drawn(items: list[T], limit: int | None, seed: int) -> list[T]:
    """At most `limit` of the items, drawn by the seed, in their original order."""
    if limit is not None and limit < 1:
        raise ValueError(f"--limit is {limit}; it must be 1 or more")
    if limit is None or limit >= len(items):
        return items
    chosen = np.random.default_rng(seed).permutation(len(items))[:limit]
    return [items[i] for i in sorted(chosen)]


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
        raise ValueError(f"rating {rating!r} is not a number")
    return Puzzle(
        name=values.get("puzzleid") or values.get("title") or name,
        fen=start,
        line=tuple(line),
        rating=float(rating) if rating else None,
        themes=tuple(values.get("themes", "").split()),
    )
