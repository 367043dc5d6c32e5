"""The positions of an endgame, all or a sample, with tablebase results and levels.

An endgame is named by its pieces, White's first: KPK, KQK, KRK, or with a v where needed: KRPvK,
KQvKR. White is to move.
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

LEVELS = ("easy", "intermediate", "hard")  # of Kanis 2016, for KPK only
EXHAUSTIVE_PIECES = 3  # four pieces have about ten million positions


@dataclass(frozen=True)
class EndgamePosition:
    """A start position with its tablebase result."""

    fen: str
    result: int  # for White: 1 won, 0 drawn, -1 lost
    distance: int  # plies to mate (dtm), or to the next capture or pawn move (dtz)
    metric: str  # "dtm" or "dtz"
    level: str  # "easy", "intermediate", "hard" or ""


def parse_ending(text: str) -> str:
    """Normalise `KPK`, `kpk` or `KPvK` to `KPvK`."""
    name = text.strip()
    upper = name.upper().replace("V", "v")
    if "v" not in upper:
        second = upper.find("K", 1)
        upper = f"{upper[:second]}v{upper[second:]}" if second > 0 else upper
    if not re.fullmatch(r"K[QRBNP]*vK[QRBNP]*", upper) or len(upper) < 4:
        raise ValueError(f"ending {text!r} is not two kings with pieces, such as KPK, KRK or KQvKR")
    return upper


def all_positions(material: str) -> Iterator[str]:
    """Yield the FENs of all legal positions with White to move, including stalemates."""
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
            continue  # adjacent kings, or Black in check
        yield fen


def sample_positions(material: str, count: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield the FENs of distinct random positions with White to move."""
    seen: set[str] = set()
    for _ in range(100 * count):
        fen = random_position(material, int(rng.integers(1 << 62)), "white")
        if fen not in seen:
            seen.add(fen)
            yield fen
        if len(seen) == count:
            return


def with_truth(fens: Iterator[str], material: str, tables: CachedTables) -> list[EndgamePosition]:
    """Add result, distance and level; a position without tablebase is an error."""
    levels = kpk_levels() if material == "KPvK" else {}
    found = []
    for fen in fens:
        probe = tables.probe(Game(fen))
        if probe is None:
            raise ValueError(f"no tablebase contains {material} ({fen}); {HOW_TO_GET}")
        level = levels.get(fen.split()[0], "")
        found.append(EndgamePosition(fen, probe.result, probe.distance, probe.metric, level))
    return found


def kpk_levels() -> dict[str, str]:
    """Return the level of each KPK position of Kanis 2016, by piece placement."""
    # The levels overlap in a few positions, which count as the harder one (last wins).
    return {fen.split()[0]: level for level in LEVELS for fen in kpk_fens(level)}


def _fen(letters: list[str], placement: tuple[int, ...]) -> str:
    board = ["1"] * 64
    for letter, square in zip(letters, placement, strict=True):
        board[square] = letter
    rows = "/".join("".join(board[8 * rank : 8 * rank + 8]) for rank in range(7, -1, -1))
    return re.sub("1+", lambda empty: str(len(empty[0])), rows) + " w - - 0 1"


def promotes(move: str) -> bool:
    """Whether a UCI move is a promotion."""
    return len(move) == 5
