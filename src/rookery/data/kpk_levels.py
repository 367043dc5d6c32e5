"""King and pawn against king: the start positions of Kanis 2016 (section 3.7) and their levels.

The paper shows the regions in which the kings are placed in figures 3 to 5, but only their
description and their shares of won positions (Table 4) survive in its text. The regions below follow
the description and are chosen such that the won shares, over all positions of a level with the pawn
side to move, round to those of Table 4. The pawn is always on ranks 2 to 6: that alone turns the
76.5 % of the whole board (124,960 of 163,328 positions) into the paper's 73 %; with a pawn on the
seventh rank little is left to play.

| level | weak king | strong king | positions | won | paper |
|---|---|---|---|---|---|
| all | anywhere | anywhere | 136,140 | 72.6 % | 73 % |
| easy | not in front of the pawn's rank, at least 3 king steps from it | anywhere | 44,812 | 97.7 % | 98 % |
| intermediate | on one of the 8 squares around the pawn | in front of it, at most 2 files away | 3,420 | 74.2 % | 74 % |
| hard | 2 or 3 ranks in front, at most 1 file away | 1 to 3 ranks in front, at most 3 files away | 1,860 | 40.0 % | 40 % |

Easy: the weak king is (almost always) too late. Intermediate: the strong king has to support its
pawn. Hard: both kings are in front of the pawn and fight for the promotion square.

"In front" is from the pawn's view; positions are listed for White and mirrored for Black.
"""  # noqa: E501 (the table)

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

LEVELS = ("all", "easy", "intermediate", "hard")


@cache
def kpk_squares(level: str) -> NDArray[np.int8]:
    """List all legal positions of a level as squares [N, 3]: white king, white pawn, black king.

    White is to move. The rows are in ascending order, so that row numbers are stable.
    """
    if level not in LEVELS:
        raise ValueError(f"KPK level is {level!r}; it must be one of {', '.join(LEVELS)}")
    # Three axes [64, 64, 64]: white king, pawn, black king.
    king, pawn, weak = np.ogrid[0:64, 0:64, 0:64]
    legal = _legal(king, pawn, weak) & (pawn >= 8) & (pawn < 48)
    squares = np.argwhere(legal & _region(level, king, pawn, weak)).astype(np.int8)
    squares.setflags(write=False)
    return squares


def _legal(
    king: NDArray[np.int_], pawn: NDArray[np.int_], weak: NDArray[np.int_]
) -> NDArray[np.bool_]:
    """Distinct squares, kings not adjacent, pawn not giving check."""
    attacked = (weak // 8 == pawn // 8 + 1) & (np.abs(weak % 8 - pawn % 8) == 1)
    apart = (king != pawn) & (weak != pawn) & (_steps(king, weak) > 1)
    legal: NDArray[np.bool_] = apart & ~attacked
    return legal


def _region(
    level: str, king: NDArray[np.int_], pawn: NDArray[np.int_], weak: NDArray[np.int_]
) -> NDArray[np.bool_]:
    """The squares that the table above allows for the kings."""
    king_ahead, king_aside = king // 8 - pawn // 8, np.abs(king % 8 - pawn % 8)
    weak_ahead, weak_aside = weak // 8 - pawn // 8, np.abs(weak % 8 - pawn % 8)
    region: NDArray[np.bool_]
    if level == "easy":
        region = (weak_ahead <= 0) & (_steps(weak, pawn) >= 3)
    elif level == "intermediate":
        region = (_steps(weak, pawn) == 1) & (king_ahead >= 1) & (king_aside <= 2)
    elif level == "hard":
        strong = (king_ahead >= 1) & (king_ahead <= 3) & (king_aside <= 3)
        region = strong & (weak_ahead >= 2) & (weak_ahead <= 3) & (weak_aside <= 1)
    else:
        region = np.ones((1, 1, 1), dtype=np.bool_)
    return region


def _steps(one: NDArray[np.int_], other: NDArray[np.int_]) -> NDArray[np.int_]:
    """King steps between two squares."""
    steps: NDArray[np.int_] = np.maximum(np.abs(one // 8 - other // 8), np.abs(one % 8 - other % 8))
    return steps


def kpk_fen(squares: NDArray[np.int8], strong: str = "white") -> str:
    """Write one row of `kpk_squares` as a FEN, the pawn side (`strong`) to move."""
    if strong not in ("white", "black"):
        raise ValueError(f"the pawn side is {strong!r}; it must be 'white' or 'black'")
    letters = "KPk" if strong == "white" else "kpK"
    flip = 0 if strong == "white" else 56  # XOR with 56 flips the ranks
    board = [" "] * 64
    for letter, square in zip(letters, squares, strict=True):
        board[int(square) ^ flip] = letter
    rows = ["".join(board[8 * rank : 8 * rank + 8]) for rank in range(7, -1, -1)]
    placement = "/".join(rows)
    for blanks in range(8, 0, -1):
        placement = placement.replace(" " * blanks, str(blanks))
    return f"{placement} {strong[0]} - - 0 1"


def kpk_fens(level: str, strong: str = "white") -> list[str]:
    """List all positions of a level as FENs."""
    return [kpk_fen(row, strong) for row in kpk_squares(level)]
