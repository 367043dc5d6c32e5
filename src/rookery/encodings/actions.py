"""The action layouts: the move of each action index; computed by `core/encode`."""

from __future__ import annotations

from rookery.encodings.layout import (
    KANIS,
    MOVER,
    PAWN_SIDE,
    SALISCH,
    ActionLayout,
    Row,
    Slice,
    stack,
)  # fmt: skip
from rookery.encodings.observations import SLIDER_DIRECTIONS

DIRECTIONS = SLIDER_DIRECTIONS["queen"]  # N is towards the opponent in the mover's orientation
_STEPS = ((1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1))  # of DIRECTIONS
KNIGHT_JUMPS = ((2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1))
PLANE_STEPS = (  # (ranks, files) that the move of each plane goes
    *((ranks * n, files * n) for ranks, files in _STEPS for n in range(1, 8)),
    *KNIGHT_JUMPS,
    *((1, files) for _ in range(3) for files in (-1, 0, 1)),
)
PLANES_PER_ORIGIN = len(PLANE_STEPS)  # 73


def _az_planes() -> tuple[Slice, ...]:
    limits = (0.0, 4671.0)
    rows: list[Row] = [
        (
            f"queen-like {way}",
            7,
            "1 to 7 squares that way (a pawn's promotion is to a queen)",
            limits,
        )
        for way in DIRECTIONS
    ]
    jumps = ", ".join(f"({ranks:+d}, {files:+d})" for ranks, files in KNIGHT_JUMPS)
    rows.append(("knight", 8, f"(ranks, files): {jumps}", limits))
    rows += [
        (f"promotion to {piece}", 3, "towards the a-file, straight, towards the h-file", limits)
        for piece in ("knight", "bishop", "rook")
    ]
    return stack(rows)


_AZ_SUMMARY = (
    "AlphaZero's moves: origin square x 73 planes. Castling is the king's two-square move; in a "
    "Chess960 game it is the king's move to its own rook's square."
)
_CLAIM = (Slice("claim", 4672, 1, "claim a draw", (4672.0, 4672.0)),)
_KING_STEPS = ("king step", 8, f"of the king to move: {' '.join(DIRECTIONS)}", (0.0, 7.0))
_ACTION_LIST = (
    ActionLayout(
        "az4672", 4672, 1, MOVER, 64, _az_planes(), (), "AlphaZero (Silver et al. 2018)",
        _AZ_SUMMARY,
    ),
    ActionLayout(
        "az4673", 4673, 1, MOVER, 64, _az_planes(), _CLAIM, f"{SALISCH}, version 1",
        "As `az4672`, plus one action that claims a draw.",
    ),
    ActionLayout(
        "kpk", 10, 1, PAWN_SIDE, 1,
        stack(
            [
                _KING_STEPS,
                ("pawn step", 1, "one square; promotes to a queen on the last rank", (8.0, 8.0)),
                ("pawn double step", 1, "two squares", (9.0, 9.0)),
            ]
        ),
        (), KANIS, "King and pawn against king; underpromotions have no action.",
    ),
)  # fmt: skip
ACTIONS: dict[str, ActionLayout] = {layout.name: layout for layout in _ACTION_LIST}
