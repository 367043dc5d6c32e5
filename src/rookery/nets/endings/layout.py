"""How networks of the family `endgame` see a position: from planes and actions to rows of a table.

Plain NumPy, shared by the torch network that learns (`endgame`) and by the arrays that play
(`endgame_arrays`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rookery._core import EndingStates
from rookery.encodings import PLANE_STEPS

PIECES = "QRBNP"  # order of the pieces other than kings
PLANES = [4, 3, 2, 1, 0]  # their planes in planes12
KING_PLANE = 5
NOBODY = 5 * 64  # beyond the last piece

Ints = NDArray[np.int64]


def is_ending(name: str) -> bool:
    """Whether this is one or two pieces with their king against a bare king."""
    strong = name.removeprefix("K").removesuffix("vK")
    return len(name) == len(strong) + 3 and strong in _STRONG


_STRONG = {*PIECES, *(a + b for i, a in enumerate(PIECES) for b in PIECES[i:])}


def tables_of(endings: Sequence[str], goal: str) -> list[str]:
    """All endings with rows; with the goal promotion also those after a promotion."""
    return [*endings, "KQvK", "KRvK"] if goal == "promotion" else list(endings)


class Placements(NamedTuple):
    """N positions as the network sees them."""

    ending: Ints  # [N], index into the tables; -1: neither side can win
    strong_to_move: Ints  # [N], 0 or 1
    squares: Ints  # [N, P]: strong king, weak king, other pieces; 0 beyond the last


class Boards(NamedTuple):
    """N positions as the strong side sees them."""

    strong_to_move: Ints  # [N]
    king: Ints  # [N], square of the strong king
    weak: Ints  # [N], square of the weak king
    pieces: NDArray[np.bool_]  # [N, 5, 64]: where the strong side has Q R B N P

    @staticmethod
    def read(observations: NDArray[Any]) -> Boards:
        """Read `planes12` [N, 12, 8, 8]; the strong side has more than a king."""
        planes = observations.reshape(-1, 2, 6, 64) > 0.5  # own, the opponent's
        own_pieces = np.asarray(planes[:, 0, :KING_PLANE].any((1, 2)))
        # The observation is the mover's: a weak mover sees the strong side's board upside down.
        flipped = planes.reshape(-1, 2, 6, 8, 8)[:, :, :, ::-1].reshape(-1, 2, 6, 64)
        choose = own_pieces[:, None, None]
        strong = np.where(choose, planes[:, 0], flipped[:, 1])
        weak = np.where(choose, planes[:, 1], flipped[:, 0])
        return Boards(
            own_pieces.astype(np.int64),
            strong[:, KING_PLANE].argmax(-1),
            weak[:, KING_PLANE].argmax(-1),
            strong[:, PLANES],
        )

    def after(self, actions: Ints, rows: Ints) -> Boards:
        """The boards [L] after actions [L] in positions `rows` [L]."""
        origin, target, promotion = (table[actions] for table in moves_of_actions())
        mover = self.strong_to_move[rows]
        flip = np.where(mover == 1, 0, 56)
        origin, target = origin ^ flip, target ^ flip
        every = np.arange(64)
        from_here = (every == origin[:, None])[:, None]  # [L, 1, 64]
        to_here = (every == target[:, None])[:, None]
        pieces = self.pieces[rows]
        strong = (mover == 1)[:, None, None]
        moved = (pieces & from_here).any(-1)  # [L, 5], the kind of the piece that moves
        # A pawn that reaches the last rank becomes the action's piece, a queen by default.
        promotes = moved[:, 4] & (target >= 56)
        became = np.arange(5) == promotion[:, None]
        moved = np.where(promotes[:, None], became, moved)
        stronger = (pieces & ~from_here) | (moved[:, :, None] & to_here)
        king, weak = self.king[rows], self.weak[rows]
        return Boards(
            1 - mover,
            np.where((mover == 1) & (king == origin), target, king),
            np.where((mover == 0) & (weak == origin), target, weak),
            np.where(strong, stronger, pieces & ~to_here),
        )


class Layout:
    """The mapping from placements to rows of the embedding table.

    Each ending and side to move has one row per square of each piece, then one per pair of squares
    of each pair of pieces. Only squares that a piece can have after mirroring are counted.
    """

    def __init__(self, endings: list[str], settled: bool = False) -> None:
        """Count the rows of these endings; `settled`: those without pawns end the game."""
        self.endings = endings
        self.settled = settled
        self.pieces = max(len(name) - 3 for name in endings)  # beside the kings, at most
        count = self.pieces + 2
        pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
        self.features = count + len(pairs)
        self.first = np.array([*range(count), *(i for i, _ in pairs)])
        self.second = np.array([*range(count), *(j for _, j in pairs)])
        self.is_pair = np.array([0] * count + [1] * len(pairs))
        numbers, sizes = zip(*(_numbering(name, count) for name in endings), strict=True)
        self.numbers = np.stack(numbers)  # [E, count, 64]
        self.counts = np.array([[name[1:-2].count(piece) for piece in PIECES] for name in endings])
        self.has_pawn = self.counts[:, 4] > 0
        self.offsets, self.strides, self.rows = self._offsets(sizes)

    def _offsets(self, sizes: tuple[list[int], ...]) -> tuple[Ints, Ints, int]:
        offsets = np.zeros((len(self.endings), 2, self.features), dtype=np.int64)
        strides = np.zeros((len(self.endings), self.features), dtype=np.int64)
        rows = 0
        for ending, lengths in enumerate(sizes):
            # After a promotion that ends the game only the weak side can be to move.
            sides = 1 if self.settled and not self.has_pawn[ending] else 2
            for feature in range(self.features):
                one, two = lengths[self.first[feature]], lengths[self.second[feature]]
                pair = bool(self.is_pair[feature])
                strides[ending, feature] = two if pair else 1
                for side in range(sides):
                    offsets[ending, side, feature] = rows
                    rows += one * two if pair else one
        return offsets, strides, rows

    def placements(self, boards: Boards) -> Placements:
        """Find the ending and the squares, mirrored into the canonical part of the board.

        The mirroring is that of `core/endings/ending_states.cpp`; tests compare the two.
        """
        counts = boards.pieces.sum(-1)  # [N, 5]
        same = (counts[:, None] == self.counts).all(-1)  # [N, E]
        ending = np.where(same.any(-1), same.argmax(-1), -1)
        # The pieces by kind and square: the first few places that are occupied.
        occupied = boards.pieces.reshape(len(counts), -1)
        places = np.where(occupied, np.arange(NOBODY), NOBODY)
        index = np.sort(np.partition(places, self.pieces - 1, axis=1)[:, : self.pieces], axis=1)
        kinds, squares = index // 64, index % 64
        pawn = self.has_pawn[ending]
        first_pawn = np.where(kinds == 4, squares, 64).min(1) % 64
        anchor = np.where(pawn, first_pawn, boards.king)
        mirror = np.where((anchor & 7) > 3, 7, 0)
        mirror = mirror ^ np.where(~pawn & ((anchor >> 3) > 3), 56, 0)
        anchor = anchor ^ mirror
        transpose = (~pawn & ((anchor >> 3) > (anchor & 7)))[:, None]
        both = np.stack([boards.king, boards.weak], 1)
        moved = np.concatenate([both, squares], 1) ^ mirror[:, None]
        moved = np.where(transpose, (moved & 7) << 3 | moved >> 3, moved)
        # Mirroring may have changed the order of equal pieces.
        order = np.sort(kinds * 64 + moved[:, 2:], axis=1)
        rest = np.where(order < NOBODY, order % 64, 0)
        return Placements(ending, boards.strong_to_move, np.concatenate([moved[:, :2], rest], 1))

    def features_of(self, placements: Placements) -> Ints:
        """Rows [N, F] of placements; those without an ending get rows of the first."""
        ending = placements.ending.clip(min=0)
        pieces = np.arange(placements.squares.shape[1])
        numbers = self.numbers[ending[:, None], pieces, placements.squares]  # [N, count]
        offsets = self.offsets[ending, placements.strong_to_move]
        one, two = numbers[:, self.first], numbers[:, self.second]
        rows: Ints = offsets + one * self.strides[ending] + two * self.is_pair
        return rows

    def state_rows(self, states: EndingStates) -> Ints:
        """Rows [N, F] of all states of the core."""
        stored = states.squares().astype(np.int64)  # strong king, pieces, weak king
        ending = states.ending_of().astype(np.int64)
        squares = np.zeros((len(states), self.pieces + 2), dtype=np.int64)
        squares[:, 0] = stored[:, 0]
        for index, name in enumerate(states.endings):
            here, last = ending == index, len(name) - 2
            squares[here, 1] = stored[here, last]
            squares[here, 2 : last + 1] = stored[here, 1:last]
        strong = states.strong_to_move().astype(np.int64)
        return self.features_of(Placements(ending, strong, squares))


def _numbering(name: str, count: int) -> tuple[Ints, list[int]]:
    """Index [count, 64] of each square among those a piece can have, and their number."""
    pieces = name[1:-2]
    first_pawn = pieces.find("P")
    numbers = np.zeros((count, 64), dtype=np.int64)
    sizes = []
    for slot in range(count):
        kind = "Kk"[slot] if slot < 2 else pieces[slot - 2 : slot - 1]
        allowed = [square for square in range(64) if kind]
        if kind == "P":
            allowed = [s for s in allowed if 8 <= s < 56]
            if slot - 2 == first_pawn and pieces.count("P") == 1:
                allowed = [s for s in allowed if s % 8 < 4]
        elif kind == "K" and first_pawn < 0:
            allowed = [s for s in allowed if s % 8 < 4 and s // 8 <= s % 8]
        numbers[slot, allowed] = np.arange(len(allowed))
        sizes.append(max(1, len(allowed)))
    return numbers, sizes


@cache
def moves_of_actions() -> tuple[Ints, Ints, Ints]:
    """Origin, target and promotion (index in PIECES) of every action of az4672, [4672] each.

    A target off the board, which no legal action has, becomes the origin.
    """
    promotions = [0] * (len(PLANE_STEPS) - 9) + [PIECES.index(piece) for piece in "NNNBBBRRR"]
    moves = []
    for origin in range(64):
        for (ranks, files), promotion in zip(PLANE_STEPS, promotions, strict=True):
            rank, file = origin // 8 + ranks, origin % 8 + files
            inside = 0 <= rank < 8 and 0 <= file < 8
            moves.append((origin, 8 * rank + file if inside else origin, promotion))
    origins, targets, promoted = np.array(moves, dtype=np.int64).T.copy()
    return origins, targets, promoted
