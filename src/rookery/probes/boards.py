"""Many positions as arrays, so that a concept is a few lines for all of them at once.

Everything is seen by the side to move ("own"): row 0 is its last rank, row 7 its first; columns are
the files a to h. Arrays [N, 8, 8] have one entry per square. Squares outside a smaller board are
empty.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import Game, encode_batch

Squares = NDArray[Any]  # [N, 8, 8]
Labels = NDArray[np.bool_]  # [N]
Steps = tuple[tuple[int, int], ...]

PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(1, 7)
WORTH = (0, 1, 3, 3, 5, 9, 0)  # pawns, by piece; a king is not material
STRAIGHT: Steps = ((-1, 0), (1, 0), (0, -1), (0, 1))  # (rows, columns)
DIAGONAL: Steps = ((-1, -1), (-1, 1), (1, -1), (1, 1))
JUMPS: Steps = ((-2, -1), (-2, 1), (-1, -2), (-1, 2), (1, -2), (1, 2), (2, -1), (2, 1))
AROUND = STRAIGHT + DIAGONAL
OPPONENT = 6  # added to a piece's code


class Boards:
    """N positions; what concepts need of them is computed once, on first use."""

    def __init__(self, games: Sequence[Game]) -> None:
        """Read the pieces."""
        self.games = games
        observations = np.zeros((len(games), 66), np.float32)
        encode_batch(games, "vector66", observations)
        # 0 empty, 1-6 own P N B R Q K, 7-12 the opponent's
        self.codes: Squares = observations[:, :64].astype(np.uint8).reshape(-1, 8, 8)

    @cached_property
    def inside(self) -> Squares:
        """Which squares [8, 8] belong to the board, all games being played on the same one."""
        ranks = self.games[0].fen().split()[0].split("/")
        files = sum(int(word) if word.isdigit() else 1 for word in ranks[0])
        found = np.zeros((8, 8), bool)
        found[8 - len(ranks) :, :files] = True  # it lies in the mover's lower left corner
        return found

    def __len__(self) -> int:
        """The number of positions."""
        return len(self.games)

    def own(self, *kinds: int) -> Squares:
        """Where the side to move has pieces of these kinds (all, if none is named)."""
        return np.isin(self.codes, kinds or range(PAWN, KING + 1))

    def theirs(self, *kinds: int) -> Squares:
        """Where the opponent has pieces of these kinds (all, if none is named)."""
        return np.isin(self.codes, [kind + OPPONENT for kind in kinds or range(PAWN, KING + 1)])

    def each(self, function: Callable[[Game], bool]) -> Labels:
        """The answer of a function for each game."""
        return np.fromiter(map(function, self.games), bool, len(self))

    @cached_property
    def balance(self) -> NDArray[np.int64]:
        """Own material minus the opponent's [N], in pawns."""
        worth = np.array([*WORTH, *(-pawns for pawns in WORTH[1:])])
        return np.asarray(worth[self.codes].sum((1, 2)))

    @cached_property
    def rays(self) -> dict[tuple[int, int], tuple[Squares, Squares]]:
        """By direction: the code of the first and of the second piece seen from each square."""
        found = {}
        for step in AROUND:
            ahead = shifted(self.codes, step)
            first, second = ahead, np.zeros_like(ahead)
            for _ in range(6):
                second = np.where(ahead == 0, shifted(second, step), shifted(first, step))
                first = np.where(ahead == 0, shifted(first, step), ahead)
            found[step] = first, second
        return found

    @cached_property
    def own_attackers(self) -> Squares:
        """How many own pieces attack each square."""
        return self._attackers(0, forward=-1)

    @cached_property
    def their_attackers(self) -> Squares:
        """How many of the opponent's pieces attack each square."""
        return self._attackers(OPPONENT, forward=1)

    def _attackers(self, side: int, forward: int) -> Squares:
        total = np.zeros(self.codes.shape, np.int8)
        pawn_steps = ((-forward, -1), (-forward, 1))  # to the pawns that attack a square
        for steps, kind in ((pawn_steps, PAWN), (JUMPS, KNIGHT), (AROUND, KING)):
            for step in steps:
                total += shifted(self.codes, step) == kind + side
        for directions, kind in ((STRAIGHT, ROOK), (DIAGONAL, BISHOP)):
            for step in directions:
                total += np.isin(self.rays[step][0], (kind + side, QUEEN + side))
        return np.asarray(total * self.inside)

    def forks(self) -> Labels:
        """Whether an own piece attacks two pieces that are each worth more, a king included."""
        found = np.zeros(len(self), bool)
        for kind in (PAWN, KNIGHT, BISHOP, ROOK, QUEEN):
            dearer = [code for code in range(PAWN, KING) if WORTH[code] > WORTH[kind]]
            targets = [code + OPPONENT for code in (*dearer, KING)]
            found |= ((self._targets(kind, targets) >= 2) & self.own(kind)).any((1, 2))
        return found

    def _targets(self, kind: int, codes: Sequence[int]) -> Squares:
        """How many pieces with these codes an own piece of this kind would attack from a square."""
        if kind in (PAWN, KNIGHT):
            steps = JUMPS if kind == KNIGHT else ((-1, -1), (-1, 1))
            seen = [shifted(self.codes, step) for step in steps]
        else:
            ways = {BISHOP: DIAGONAL, ROOK: STRAIGHT, QUEEN: AROUND}[kind]
            seen = [self.rays[step][0] for step in ways]
        total = np.zeros(self.codes.shape, np.int8)
        for codes_seen in seen:
            total += np.isin(codes_seen, codes)
        return total

    def pinned(self, side: int) -> Labels:
        """Whether a piece of a side (0: own, `OPPONENT`) is pinned to its king."""
        other = OPPONENT - side
        king = self.codes == KING + side
        found = np.zeros(len(self), bool)
        for steps, kind in ((STRAIGHT, ROOK), (DIAGONAL, BISHOP)):
            for step in steps:
                first, second = self.rays[step]
                shielding = (first > side) & (first < KING + side)
                pinning = np.isin(second, (kind + other, QUEEN + other))
                found |= (king & shielding & pinning).any((1, 2))
        return found


def shifted(squares: Squares, step: tuple[int, int]) -> Squares:
    """For each square the entry of the square one step on; 0 beyond the edge."""
    rows, columns = step
    result = np.zeros_like(squares)
    height, width = squares.shape[1:]
    into_rows = slice(max(0, -rows), height - max(0, rows))
    from_rows = slice(max(0, rows), height - max(0, -rows))
    into_columns = slice(max(0, -columns), width - max(0, columns))
    from_columns = slice(max(0, columns), width - max(0, -columns))
    result[:, into_rows, into_columns] = squares[:, from_rows, from_columns]
    return result
