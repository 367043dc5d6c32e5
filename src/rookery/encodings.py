"""Named observation and action layouts, as tables in words.

This is the single place where a layout is described: what each entry of an observation means, in
which range and from whose point of view, and which index stands for which move. The numbers
themselves are computed in C++ (`core/encode/`); a test compares both, entry by entry, with slow
Python encoders written from these tables. `docs/encodings.md` is generated from here
(`encodings_doc.py`). The file is longer than our others because it is one table.

Words used in the tables:

- *own* is the side to move, *opponent* the other one.
- *White's orientation*: rank index 0 is rank 1, file index 0 is the a-file.
- *Mover's orientation*: the same for White; for Black the ranks are flipped (rank index 0 is
  rank 8) and the files are not. A position and its colour-mirrored twin (colours swapped, ranks
  flipped) therefore look the same to their movers.
- A square has the index `8 * rank + file` in the orientation of its layout.
- Planes are indexed `[plane][rank][file]`; pieces come in the order P N B R Q K.

A layout's version rises whenever the meaning of any entry changes, so that a network trained on
one version is never fed another (`require_version`).
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from dataclasses import dataclass

PIECE_NAMES = ("pawn", "knight", "bishop", "rook", "queen", "king")
MOVER = "mover's"
WHITE = "White's"
PAWN_SIDE = "pawn side's"

# What the encoders divide by, so that entries stay near [0, 1].
LARGEST_COUNTS = (8, 2, 2, 2, 1, 1)  # per piece type, in the starting position
PIECE_VALUES = (1, 3, 3, 5, 9, 10)  # of attackers and defenders, divided by 10
SLIDER_DIRECTIONS = {
    "queen": ("N", "NE", "E", "SE", "S", "SW", "W", "NW"),
    "rook": ("N", "E", "S", "W"),
    "bishop": ("NE", "SE", "SW", "NW"),
}


@dataclass(frozen=True)
class Slice:
    """A run of entries with one meaning: planes of a plane layout, numbers of a vector."""

    name: str
    start: int
    length: int
    meaning: str
    range: tuple[float, float]  # smallest and largest value, both included
    group: str = ""  # "global", "piece" or "square" in the layouts that are grouped

    @property
    def stop(self) -> int:
        """One past the last entry."""
        return self.start + self.length


@dataclass(frozen=True)
class Layout:
    """One observation layout; the slices run along the first axis and cover it without gaps."""

    name: str
    shape: tuple[int, ...]
    version: int
    dtypes: tuple[str, ...]  # the first is the default
    orientation: str
    slices: tuple[Slice, ...]
    paper: str
    summary: str

    def slice(self, name: str) -> Slice:
        """Return the slice called `name`."""
        for part in self.slices:
            if part.name == name:
                return part
        known = ", ".join(part.name for part in self.slices)
        raise ValueError(f"layout {self.name!r} has no slice {name!r}; it has {known}")

    def groups(self) -> dict[str, tuple[int, int]]:
        """Return start and stop of every group, in order (empty for layouts without groups)."""
        bounds: dict[str, tuple[int, int]] = {}
        for part in self.slices:
            if part.group:
                start, _ = bounds.get(part.group, (part.start, part.stop))
                bounds[part.group] = (start, part.stop)
        return bounds

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest value of any entry."""
        return (
            min(part.range[0] for part in self.slices),
            max(part.range[1] for part in self.slices),
        )


@dataclass(frozen=True)
class ActionLayout:
    """One action layout: `index = origin * planes + plane`, then the extra actions.

    `origins` is 64 where an action names its origin square and 1 where it does not; the slices
    describe the planes, `extra` the actions behind them (their start is the action's own index).
    """

    name: str
    count: int
    version: int
    orientation: str
    origins: int
    slices: tuple[Slice, ...]
    extra: tuple[Slice, ...]
    paper: str
    summary: str


Row = tuple[str, int, str, tuple[float, float]]
FLAG = (0.0, 1.0)
COUNT = (0.0, math.inf)


def _stack(rows: Iterable[Row], start: int = 0, group: str = "") -> tuple[Slice, ...]:
    """Lay rows of (name, length, meaning, range) one behind the other."""
    slices = []
    for name, length, meaning, limits in rows:
        slices.append(Slice(name, start, length, meaning, limits, group))
        start += length
    return tuple(slices)


def _pieces(owner: str) -> list[Row]:
    """One plane per piece type of one side."""
    return [(f"{owner} {piece}s", 1, "1 on their squares", FLAG) for piece in PIECE_NAMES]


def _castling(owners: tuple[str, str]) -> list[Row]:
    """One constant entry or plane per castling right."""
    return [
        (f"{owner} {wing} castling", 1, "1 while the right is kept", FLAG)
        for owner in owners
        for wing in ("kingside", "queenside")
    ]


SQUARE_CODES: Row = (
    "squares",
    64,
    "row by row from the mover's top left corner (his last rank first, a-file to h-file): "
    "0 empty, 1-6 own P N B R Q K, 7-12 the opponent's",
    (0.0, 12.0),
)
CASTLING_CODES: list[Row] = [
    ("own castling", 1, "0 none, 1 kingside only, 2 queenside only, 3 both", (0.0, 3.0)),
    ("opponent castling", 1, "0 none, 1 kingside only, 2 queenside only, 3 both", (0.0, 3.0)),
]


def _vector69() -> tuple[Slice, ...]:
    return _stack(
        [
            SQUARE_CODES,
            ("full moves", 1, "full-move number of the FEN, from 1", COUNT),
            ("half-move clock", 1, "plies since the last capture or pawn move", COUNT),
            *CASTLING_CODES,
            ("repetition", 1, "1 if a draw by threefold repetition can be claimed", FLAG),
        ]
    )


def _tactical70() -> tuple[Slice, ...]:
    return _stack(
        [
            (
                "squares",
                64,
                "order and piece codes 0-12 as in vector69, plus 13 if one own piece attacks the "
                "square or 26 if more do, plus 39, 78 or 117 if the opponent's cheapest attacker "
                "is a pawn, a knight or bishop, or another piece",
                (0.0, 155.0),
            ),
            *CASTLING_CODES,
            ("en passant", 1, "0, or 1-8 for the file of a legal en passant capture", (0.0, 8.0)),
            ("half-move clock", 1, "as in vector69, at most 100", (0.0, 100.0)),
            ("repetitions", 1, "earlier occurrences of the position, at most 2", (0.0, 2.0)),
            ("check", 1, "1 if the mover is in check", FLAG),
        ]
    )


def _planes19() -> tuple[Slice, ...]:
    return _stack(
        [
            ("turn", 1, "all 1 if White is to move", FLAG),
            *_castling(("White", "Black")),
            ("fifty-move claim", 1, "all 1 if a draw by the fifty-move rule can be claimed", FLAG),
            *_pieces("White"),
            *_pieces("Black"),
            ("en passant", 1, "1 on the en passant square if a legal capture exists", FLAG),
        ]
    )


def _planes119() -> tuple[Slice, ...]:
    rows: list[Row] = []
    for age in range(8):
        when = "present" if age == 0 else f"{age} {'ply' if age == 1 else 'plies'} ago"
        rows += [
            (f"own, {when}", 6, "P N B R Q K of today's mover, 1 on their squares", FLAG),
            (f"opponent, {when}", 6, "P N B R Q K of today's opponent", FLAG),
            (f"occurred before, {when}", 1, "all 1 if that position occurred before it", FLAG),
            (f"occurred twice, {when}", 1, "all 1 if it occurred at least twice before", FLAG),
        ]
    rows += [
        ("colour", 1, "all 1 if White is to move", FLAG),
        ("total moves", 1, "full-move number / 100 everywhere", COUNT),
        *_castling(("own", "opponent")),
        ("no progress", 1, "half-move clock / 100 everywhere", COUNT),
    ]
    return _stack(rows)


def _planes22() -> tuple[Slice, ...]:
    return _stack(
        [
            *_pieces("own"),
            *_pieces("opponent"),
            *_castling(("own", "opponent")),
            ("en passant", 1, "1 on the en passant square if a legal capture exists", FLAG),
            ("no progress", 1, "half-move clock / 100 everywhere", COUNT),
            ("occurred before", 1, "all 1 if the position occurred before", FLAG),
            ("occurred twice", 1, "all 1 if it occurred at least twice before", FLAG),
            ("last origin", 1, "1 on the square the last move came from", FLAG),
            (
                "last target",
                1,
                "1 on the square it went to (castling: the king's new square)",
                FLAG,
            ),
        ]
    )


def _kpk3() -> tuple[Slice, ...]:
    meaning = "63/64 on its square and -1/64 elsewhere, so that the plane sums to zero"
    limits = (-1 / 64, 63 / 64)
    return _stack(
        [(name, 1, meaning, limits) for name in ("strong king", "strong pawn", "weak king")]
    )


def _counts(kinds: int) -> list[Row]:
    divisors = ", ".join(map(str, LARGEST_COUNTS[:kinds]))
    names = " ".join("PNBRQK"[:kinds])
    meaning = f"number of {names} divided by {divisors}"
    return [(f"{owner} material", kinds, meaning, (0.0, 15.0)) for owner in ("own", "opponent")]


def _global(kinds: int) -> tuple[Slice, ...]:
    side: Row = ("side", 1, "1 if White is to move", FLAG)
    return _stack([side, *_castling(("own", "opponent")), *_counts(kinds)], group="global")


# One slot per piece of the starting army. Within a kind the slots are filled in ascending order
# of the mover-oriented square; a promoted piece beyond the slots is left out.
SLOTS = (
    *("king", "queen", "rook 1", "rook 2", "bishop 1", "bishop 2", "knight 1", "knight 2"),
    *(f"pawn {number}" for number in range(1, 9)),
)
PLACE = "present, file / 7, rank / 7"
ATTACK = "lowest attacker, lowest defender"
SAFE = "safe mobility"


def _maps(start: int) -> tuple[Slice, ...]:
    meaning = "value of the cheapest piece attacking each square / 10, 0 if none"
    rows: list[Row] = [(f"{who} attack map", 64, meaning, FLAG) for who in ("own", "opponent")]
    return _stack(rows, start, "square")


def _pepper353() -> tuple[Slice, ...]:
    head = _global(6)
    sides = ("own", "opponent")
    meaning = f"{PLACE}, {ATTACK}"
    rows: list[Row] = [(f"{side} {slot}", 5, meaning, FLAG) for side in sides for slot in SLOTS]
    for side in sides:
        for slot in ("queen", "rook 1", "rook 2", "bishop 1", "bishop 2"):
            ways = SLIDER_DIRECTIONS[slot.split()[0]]
            meaning = f"squares within reach / 7: {' '.join(ways)}"
            rows.append((f"{side} {slot} mobility", len(ways), meaning, FLAG))
    body = _stack(rows, head[-1].stop, "piece")
    return head + body + _maps(body[-1].stop)


def _giraffe363() -> tuple[Slice, ...]:
    head = _global(5)
    rows: list[Row] = [
        (f"{side} king", 4, f"file / 7, rank / 7, {ATTACK}", FLAG) for side in ("own", "opponent")
    ]
    for side in ("own", "opponent"):
        for slot in SLOTS[1:]:
            kind = slot.split()[0]
            ways = SLIDER_DIRECTIONS.get(kind, ())
            parts = [PLACE]
            if ways:
                parts.append(f"squares within reach / 7: {' '.join(ways)}")
            if kind != "pawn":
                parts.append(SAFE)
            length = 3 + len(ways) + (kind != "pawn") + 2
            # A queen reaches up to 27 squares, every other piece fewer than 16.
            limits = (0.0, 27 / 16) if kind == "queen" else FLAG
            rows.append((f"{side} {slot}", length, ", ".join([*parts, ATTACK]), limits))
    body = _stack(rows, head[-1].stop, "piece")
    return head + body + _maps(body[-1].stop)


BOTH = ("float32", "uint8")
FLOAT = ("float32",)
# The five papers that encodings come from, by their numbers in the documentation.
P000 = "000 (Salisch 2023)"
P001 = "001 (Deep Pepper revisited 2023)"
P002 = "002 (Vanhoutte 2022)"
P003 = "003 (Kanis 2016)"
P004 = "004 (Inman and Ezra Marin)"

_LIST = (
    Layout(
        "vector69", (69,), 1, FLOAT, MOVER, _vector69(), f"{P000}, version 1",
        "The board as 64 piece codes, clocks, castling and the repetition claim.",
    ),
    Layout(
        "vector66", (66,), 1, BOTH, MOVER, _stack([SQUARE_CODES, *CASTLING_CODES]),
        f"{P000}, versions 2-10", "The board as 64 piece codes, and castling.",
    ),
    Layout(
        "planes19", (19, 8, 8), 1, BOTH, WHITE, _planes19(), P002,
        "Everything a FEN tells except the clocks.",
    ),
    Layout(
        "planes119", (119, 8, 8), 1, FLOAT, MOVER, _planes119(), "001, 002 (AlphaZero)",
        "AlphaZero's input: the last eight positions, all as today's mover sees them; a position "
        "before the start of the game is all 0.",
    ),
    Layout(
        "planes12", (12, 8, 8), 1, BOTH, MOVER, _stack([*_pieces("own"), *_pieces("opponent")]),
        P004, "Piece planes only.",
    ),
    Layout(
        "planes14", (14, 8, 8), 1, BOTH, MOVER,
        _stack(
            [
                *_pieces("own"),
                *_pieces("opponent"),
                ("own attacks", 1, "1 on every square that an own piece attacks or defends", FLAG),
                ("opponent attacks", 1, "1 on every square the opponent attacks or defends", FLAG),
            ]
        ),
        P004, "Piece planes and the squares attacked by each side (pins ignored).",
    ),
    Layout(
        "planes22", (22, 8, 8), 1, FLOAT, MOVER, _planes22(), "ours",
        "All that the rules need except the repetitions to come, and the last move.",
    ),
    Layout(
        "tactical70", (70,), 2, BOTH, MOVER, _tactical70(), "ours",
        "Piece codes joined with who attacks each square, for lookup tables and embeddings.",
    ),
    Layout(
        "kpk3", (3, 8, 8), 1, FLOAT, PAWN_SIDE, _kpk3(), P003,
        "King and pawn against king, seen by the side with the pawn (ranks flipped if it is "
        "Black). Any other material is refused.",
    ),
    Layout(
        "pepper353", (353,), 1, FLOAT, MOVER, _pepper353(), P001,
        "Deep Pepper's features: 17 global + 208 piece-centred + 128 square-centred numbers.",
    ),
    Layout(
        "giraffe363", (363,), 1, FLOAT, MOVER, _giraffe363(), "001 (Giraffe)",
        "Giraffe's features: 15 global + 220 piece-centred + 128 square-centred numbers.",
    ),
)  # fmt: skip
OBSERVATIONS: dict[str, Layout] = {layout.name: layout for layout in _LIST}

# Sparse, so not arrays like those above: `Game.nnue_features()` gives the indices of the ones.
SPARSE_OBSERVATIONS: dict[str, Layout] = {
    "nnue768": Layout(
        "nnue768", (768,), 1, (), "viewer's",
        _stack(
            (f"{owner} {piece}s", 64, "64 squares", FLAG)
            for owner in ("viewer's", "other side's")
            for piece in PIECE_NAMES
        ),
        "ours",
        "The input of the engine's networks, computed once for each side (first the mover's view, "
        "then the opponent's): `384 * (the other side's) + 64 * piece + square`. Black's "
        "view has its ranks flipped; a view has its files mirrored (a for h) while the viewer's "
        "own king stands on files e to h, so that this king is always seen on a to d. Sparse: "
        "`Game.nnue_features` lists the indices of the ones.",
    )
}  # fmt: skip

DIRECTIONS = SLIDER_DIRECTIONS["queen"]  # N is towards the opponent in the mover's orientation
KNIGHT_JUMPS = ((2, 1), (1, 2), (-1, 2), (-2, 1), (-2, -1), (-1, -2), (1, -2), (2, -1))
PLANES_PER_ORIGIN = 73


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
    return _stack(rows)


_AZ_SUMMARY = (
    "AlphaZero's moves: origin square x 73 planes. Castling is the king's two-square move; in a "
    "Chess960 game it is the king's move to its own rook's square."
)
_CLAIM = (Slice("claim", 4672, 1, "claim a draw", (4672.0, 4672.0)),)
_KING_STEPS = ("king step", 8, f"of the king to move: {' '.join(DIRECTIONS)}", (0.0, 7.0))
_ACTION_LIST = (
    ActionLayout(
        "az4672", 4672, 1, MOVER, 64, _az_planes(), (), "001, 002 (AlphaZero)", _AZ_SUMMARY
    ),
    ActionLayout(
        "az4673", 4673, 1, MOVER, 64, _az_planes(), _CLAIM, f"{P000}, version 1",
        "As `az4672`, and one action more.",
    ),
    ActionLayout(
        "kpk", 10, 1, PAWN_SIDE, 1,
        _stack(
            [
                _KING_STEPS,
                ("pawn step", 1, "one square; promotes to a queen on the last rank", (8.0, 8.0)),
                ("pawn double step", 1, "two squares", (9.0, 9.0)),
            ]
        ),
        (), P003, "King and pawn against king; promotions to other pieces have no action.",
    ),
)  # fmt: skip
ACTIONS: dict[str, ActionLayout] = {layout.name: layout for layout in _ACTION_LIST}

# The actions of a network that evaluates positions and has no policy.
NO_ACTIONS = "none"


def layout_version(name: str) -> int:
    """The version of a layout (1 for `none`) that this code computes.

    Raises:
        ValueError: naming the layouts that exist.
    """
    layout = OBSERVATIONS.get(name) or SPARSE_OBSERVATIONS.get(name) or ACTIONS.get(name)
    if layout is not None:
        return layout.version
    if name == NO_ACTIONS:
        return 1
    known = ", ".join([*OBSERVATIONS, *SPARSE_OBSERVATIONS, *ACTIONS, NO_ACTIONS])
    raise ValueError(f"unknown layout {name!r}; known are {known}")


def require_observation(name: str, key: str) -> None:
    """Refuse an observation that does not exist, naming the setting `key` and the nearest name."""
    if name not in OBSERVATIONS:
        near = difflib.get_close_matches(name, OBSERVATIONS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(OBSERVATIONS)}"
        raise ValueError(f"{key} is {name!r}; {hint}")


def require_version(name: str, version: int) -> None:
    """Refuse a layout whose version is not the one that this code computes.

    Raises:
        ValueError: naming both versions, or the layouts that exist.
    """
    ours = layout_version(name)
    if ours != version:
        raise ValueError(
            f"layout {name!r} has version {version} in the file but {ours} in this "
            f"version of Rookery; use the release that wrote the file, or train again"
        )
