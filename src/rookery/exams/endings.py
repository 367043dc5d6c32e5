"""The positions of an ending: all of them or a sample, with the truth and a level for each.

An ending is named by its pieces, White's first: KPK, KQK, KRK, or with a v where needed: KRPvK,
KQvKR. White has the first part and is to move.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rookery._core import FenError, Game, random_position
from rookery.data.kpk_levels import kpk_fens
from rookery.data.tablebases import HOW_TO_GET
from rookery.players.tablebase import CachedTables

LEVELS = ("easy", "intermediate", "hard")  # of paper 003, for KPK only
EXHAUSTIVE_PIECES = 3  # with four pieces there are some ten million positions


@dataclass(frozen=True)
class EndgamePosition:
    """A start position with what the tables say about it."""

    fen: str
    result: int  # for White, who is to move: 1 won, 0 drawn, -1 lost
    distance: int  # plies to mate, or to the next capture or pawn move (see `metric`)
    metric: str  # "dtm" or "dtz"
    level: str  # "easy", "intermediate", "hard" or ""


def parse_ending(text: str) -> str:
    """`KPK`, `kpk` or `KPvK` as `KPvK`."""
    name = text.strip()
    upper = name.upper().replace("V", "v")
    if "v" not in upper:
        second = upper.find("K", 1)
        upper = f"{upper[:second]}v{upper[second:]}" if second > 0 else upper
    if not re.fullmatch(r"K[QRBNP]*vK[QRBNP]*", upper) or len(upper) < 4:
        raise ValueError(f"ending {text!r} is not two kings with pieces, such as KPK, KRK or KQvKR")
    return upper


def all_positions(material: str) -> Iterator[str]:
    """FENs of every legal position with White to move, stalemates included."""
    white, black = material.split("v")
    letters = [*white, *black.lower()]
    if len(letters) > EXHAUSTIVE_PIECES:
        raise ValueError(
            f"{material} has too many positions for --positions all; take a sample, for example "
            "--positions 1000"
        )
    squares = [range(8, 56) if letter in "Pp" else range(64) for letter in letters]
    for placement in itertools.product(*squares):
        if len(set(placement)) < len(placement):
            continue
        fen = _fen(letters, placement)
        try:
            Game(fen)
        except FenError:
            continue  # kings side by side, or the side that just moved in check
        yield fen


def sample_positions(material: str, count: int, rng: np.random.Generator) -> Iterator[str]:
    """FENs of different random positions with White to move."""
    seen: set[str] = set()
    for _ in range(100 * count):
        fen = random_position(material, int(rng.integers(1 << 62)), "white")
        if fen not in seen:
            seen.add(fen)
            yield fen
        if len(seen) == count:
            return


def with_truth(fens: Iterator[str], material: str, tables: CachedTables) -> list[EndgamePosition]:
    """Add result, distance and level; a position that no table knows is an error."""
    levels = kpk_levels() if material == "KPvK" else {}
    found = []
    for fen in fens:
        probe = tables.probe(Game(fen))
        if probe is None:
            raise ValueError(f"no endgame table knows {material} ({fen}); {HOW_TO_GET}")
        placement = fen.split()[0]
        found.append(
            EndgamePosition(
                fen, probe.result, probe.distance, probe.metric, levels.get(placement, "")
            )
        )
    return found


def kpk_levels() -> dict[str, str]:
    """Level of each KPK position of paper 003, by placement."""
    # Harder levels last: the regions overlap in a few positions, which count as the harder one.
    return {
        fen.split()[0]: level
        for level in ("easy", "intermediate", "hard")
        for fen in kpk_fens(level)
    }


def _fen(letters: list[str], placement: tuple[int, ...]) -> str:
    board = [""] * 64
    for letter, square in zip(letters, placement, strict=True):
        board[square] = letter
    rows = []
    for rank in range(7, -1, -1):
        row, empty = "", 0
        for cell in board[8 * rank : 8 * rank + 8]:
            if not cell:
                empty += 1
                continue
            row += (str(empty) if empty else "") + cell
            empty = 0
        rows.append(row + (str(empty) if empty else ""))
    return f"{'/'.join(rows)} w - - 0 1"


def promotes(move: str) -> bool:
    """Whether a UCI move turns a pawn into a piece."""
    return len(move) == 5
