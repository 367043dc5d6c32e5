"""The observation layouts, entry by entry; computed by `core/encode`."""

from __future__ import annotations

from rookery.encodings.layout import (
    COUNT,
    FLAG,
    INMAN,
    KANIS,
    MOVER,
    PAWN_SIDE,
    PEPPER,
    SALISCH,
    VANHOUTTE,
    WHITE,
    Layout,
    Row,
    Slice,
    stack,
)  # fmt: skip

PIECE_NAMES = ("pawn", "knight", "bishop", "rook", "queen", "king")

# The encoders divide piece counts by those of the starting position.
LARGEST_COUNTS = (8, 2, 2, 2, 1, 1)  # per piece type
SLIDER_DIRECTIONS = {
    "queen": ("N", "NE", "E", "SE", "S", "SW", "W", "NW"),
    "rook": ("N", "E", "S", "W"),
    "bishop": ("NE", "SE", "SW", "NW"),
}


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
    "row by row from the mover's top left corner (last rank first, a-file to h-file): "
    "0 empty, 1-6 own P N B R Q K, 7-12 the opponent's",
    (0.0, 12.0),
)
CASTLING_CODES: list[Row] = [
    (f"{owner} castling", 1, "0 none, 1 kingside only, 2 queenside only, 3 both", (0.0, 3.0))
    for owner in ("own", "opponent")
]


def _vector69() -> tuple[Slice, ...]:
    return stack(
        [
            SQUARE_CODES,
            ("full moves", 1, "full-move number of the FEN, from 1", COUNT),
            ("half-move clock", 1, "plies since the last capture or pawn move", COUNT),
            *CASTLING_CODES,
            ("repetition", 1, "1 if a draw by threefold repetition can be claimed", FLAG),
        ]
    )


def _tactical70() -> tuple[Slice, ...]:
    squares = (
        "order and piece codes 0-12 as in vector69, plus 13 if one own piece attacks the square or "
        "26 if more do, plus 39, 78 or 117 if the opponent's cheapest attacker is a pawn, a knight "
        "or bishop, or another piece"
    )
    return stack(
        [
            ("squares", 64, squares, (0.0, 155.0)),
            *CASTLING_CODES,
            ("en passant", 1, "0, or 1-8 for the file of a legal en passant capture", (0.0, 8.0)),
            ("half-move clock", 1, "as in vector69, at most 100", (0.0, 100.0)),
            ("repetitions", 1, "earlier occurrences of the position, at most 2", (0.0, 2.0)),
            ("check", 1, "1 if the mover is in check", FLAG),
        ]
    )


def _planes19() -> tuple[Slice, ...]:
    return stack(
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
        own = "P N B R Q K of the present side to move, 1 on their squares"
        rows += [
            (f"own, {when}", 6, own, FLAG),
            (f"opponent, {when}", 6, "P N B R Q K of its opponent", FLAG),
            (f"occurred before, {when}", 1, "all 1 if that position occurred before it", FLAG),
            (f"occurred twice, {when}", 1, "all 1 if it occurred at least twice before", FLAG),
        ]
    rows += [
        ("colour", 1, "all 1 if White is to move", FLAG),
        ("total moves", 1, "full-move number / 100 everywhere", COUNT),
        *_castling(("own", "opponent")),
        ("no progress", 1, "half-move clock / 100 everywhere", COUNT),
    ]
    return stack(rows)


def _planes22() -> tuple[Slice, ...]:
    target = "1 on the square it went to (castling: the king's new square)"
    return stack(
        [
            *_pieces("own"),
            *_pieces("opponent"),
            *_castling(("own", "opponent")),
            ("en passant", 1, "1 on the en passant square if a legal capture exists", FLAG),
            ("no progress", 1, "half-move clock / 100 everywhere", COUNT),
            ("occurred before", 1, "all 1 if the position occurred before", FLAG),
            ("occurred twice", 1, "all 1 if it occurred at least twice before", FLAG),
            ("last origin", 1, "1 on the square the last move came from", FLAG),
            ("last target", 1, target, FLAG),
        ]
    )


def _kpk3() -> tuple[Slice, ...]:
    meaning = "63/64 on its square and -1/64 elsewhere, so that the plane sums to zero"
    names = ("strong king", "strong pawn", "weak king")
    return stack((name, 1, meaning, (-1 / 64, 63 / 64)) for name in names)


def _counts(kinds: int) -> list[Row]:
    divisors = ", ".join(map(str, LARGEST_COUNTS[:kinds]))
    names = " ".join("PNBRQK"[:kinds])
    meaning = f"number of {names} divided by {divisors}"
    return [(f"{owner} material", kinds, meaning, (0.0, 15.0)) for owner in ("own", "opponent")]


def _global(kinds: int) -> tuple[Slice, ...]:
    side: Row = ("side", 1, "1 if White is to move", FLAG)
    return stack([side, *_castling(("own", "opponent")), *_counts(kinds)], group="global")


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
    return stack(rows, start, "square")


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
    body = stack(rows, head[-1].stop, "piece")
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
    body = stack(rows, head[-1].stop, "piece")
    return head + body + _maps(body[-1].stop)


BOTH = ("float32", "uint8")
FLOAT = ("float32",)

_LIST = (
    Layout(
        "vector69", (69,), 1, FLOAT, MOVER, _vector69(), f"{SALISCH}, version 1",
        "The board as 64 piece codes, clocks, castling and the repetition claim.",
    ),
    Layout(
        "vector66", (66,), 1, BOTH, MOVER, stack([SQUARE_CODES, *CASTLING_CODES]),
        f"{SALISCH}, versions 2-10", "The board as 64 piece codes, and castling.",
    ),
    Layout(
        "planes19", (19, 8, 8), 1, BOTH, WHITE, _planes19(), VANHOUTTE,
        "All of a FEN except the clocks.",
    ),
    Layout(
        "planes119", (119, 8, 8), 1, FLOAT, MOVER, _planes119(), "AlphaZero (Silver et al. 2018)",
        "AlphaZero's input: the last eight positions, all from the view of the present side to "
        "move; positions before the start of the game are all 0.",
    ),
    Layout(
        "planes12", (12, 8, 8), 1, BOTH, MOVER, stack([*_pieces("own"), *_pieces("opponent")]),
        INMAN, "Piece planes only.",
    ),
    Layout(
        "planes14", (14, 8, 8), 1, BOTH, MOVER,
        stack(
            [
                *_pieces("own"),
                *_pieces("opponent"),
                ("own attacks", 1, "1 on every square that an own piece attacks or defends", FLAG),
                ("opponent attacks", 1, "1 on every square the opponent attacks or defends", FLAG),
            ]
        ),
        INMAN, "Piece planes and the squares attacked by each side (pins ignored).",
    ),
    Layout(
        "planes22", (22, 8, 8), 1, FLOAT, MOVER, _planes22(), "ours",
        "All that the rules need except the history for later repetitions, plus the last move.",
    ),
    Layout(
        "tactical70", (70,), 2, BOTH, MOVER, _tactical70(), "ours",
        "Piece codes combined with attacks on each square, for lookup tables and embeddings.",
    ),
    Layout(
        "kpk3", (3, 8, 8), 1, FLOAT, PAWN_SIDE, _kpk3(), KANIS,
        "King and pawn against king, seen by the side with the pawn (ranks flipped if it is "
        "Black). Any other material is refused.",
    ),
    Layout(
        "pepper353", (353,), 1, FLOAT, MOVER, _pepper353(), PEPPER,
        "Deep Pepper's features: 17 global + 208 piece-centred + 128 square-centred numbers.",
    ),
    Layout(
        "giraffe363", (363,), 1, FLOAT, MOVER, _giraffe363(), "Giraffe (Lai 2015)",
        "Giraffe's features: 15 global + 220 piece-centred + 128 square-centred numbers.",
    ),
)  # fmt: skip
OBSERVATIONS: dict[str, Layout] = {layout.name: layout for layout in _LIST}

# Sparse, so not arrays like those above: `Game.nnue_features()` gives the indices of the ones.
SPARSE_OBSERVATIONS: dict[str, Layout] = {
    "nnue768": Layout(
        "nnue768", (768,), 1, (), "viewer's",
        stack(
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
