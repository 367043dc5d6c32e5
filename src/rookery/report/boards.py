"""Boards as inline SVG, without inline styles, so that a strict content security policy holds."""

from __future__ import annotations

import re

import chess.svg

SQUARE = 45  # width of a square, that of python-chess's pieces


def board(placement: str) -> str:
    """A board that shows a position even without the script, which moves the pieces."""
    return (
        '<svg class="board" viewBox="0 0 360 360" role="img" aria-label="board">'
        f'{piece_shapes()}{_squares()}<g id="pieces">{_pieces(placement)}</g></svg>'
    )


def small_board(fen: str, text: str) -> str:
    """A board among several; the page holds `piece_shapes()` once. `text` is for screen readers."""
    placement = fen.split()[0]
    rows = _rows(placement)
    size = f"0 0 {SQUARE * len(rows[0])} {SQUARE * len(rows)}"
    return (
        f'<svg class="board small" viewBox="{size}" role="img" aria-label="{text}">'
        f"{_squares(len(rows), len(rows[0]))}{_pieces(placement)}</svg>"
    )


def piece_shapes() -> str:
    """Definitions of the pieces, which boards refer to."""
    return f"<defs>{''.join(map(_piece, 'PNBRQKpnbrqk'))}</defs>"


def _squares(rows: int = 8, columns: int = 8) -> str:
    # The lower left square is dark.
    return "".join(
        f'<rect class="{"light" if (rows - row + column) % 2 == 0 else "dark"}" '
        f'x="{SQUARE * column}" y="{SQUARE * row}" width="{SQUARE}" height="{SQUARE}"/>'
        for row in range(rows)
        for column in range(columns)
    )


def _pieces(placement: str) -> str:
    return "".join(
        f'<use href="#piece-{piece}" x="{SQUARE * column}" y="{SQUARE * row}"/>'
        for row, pieces in enumerate(_rows(placement))
        for column, piece in enumerate(pieces)
        if piece
    )


def _rows(placement: str) -> list[list[str]]:
    """The pieces of a FEN's first field, row by row, "" for an empty square; of any size."""
    return [
        [piece for word in row for piece in ([""] * int(word) if word.isdigit() else [word])]
        for row in placement.split("/")
    ]


def _piece(letter: str) -> str:
    """A piece of python-chess's set, with attributes instead of inline styles."""
    drawing = re.sub(r'style="([^"]*)"', _attributes, chess.svg.PIECES[letter])
    return re.sub(r'id="[^"]*"', f'id="piece-{letter}"', drawing, count=1)


def _attributes(match: re.Match[str]) -> str:
    pairs = (part.split(":", 1) for part in match[1].split(";") if ":" in part)
    return " ".join(f'{key.strip()}="{value.strip()}"' for key, value in pairs)
