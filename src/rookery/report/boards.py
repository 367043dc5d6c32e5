"""Boards as inline SVG, without inline styles, so that a strict content security policy holds."""

from __future__ import annotations

import re

import chess
import chess.svg


def board(placement: str) -> str:
    """A board that shows a position even without the script, which moves the pieces."""
    return (
        '<svg class="board" viewBox="0 0 360 360" role="img" aria-label="board">'
        f'{piece_shapes()}{_squares()}<g id="pieces">{_pieces(placement)}</g></svg>'
    )


def small_board(fen: str, text: str) -> str:
    """A board among several; the page holds `piece_shapes()` once. `text` is for screen readers."""
    return (
        f'<svg class="board small" viewBox="0 0 360 360" role="img" aria-label="{text}">'
        f"{_squares()}{_pieces(fen.split()[0])}</svg>"
    )


def piece_shapes() -> str:
    """Definitions of the pieces, which boards refer to."""
    return f"<defs>{''.join(map(_piece, 'PNBRQKpnbrqk'))}</defs>"


def _squares() -> str:
    return "".join(
        f'<rect class="{"light" if (row + column) % 2 == 0 else "dark"}" '
        f'x="{45 * column}" y="{45 * row}" width="45" height="45"/>'
        for row in range(8)
        for column in range(8)
    )


def _pieces(placement: str) -> str:
    return "".join(
        f'<use href="#piece-{piece}" x="{45 * (square % 8)}" y="{45 * (7 - square // 8)}"/>'
        for square, piece in chess.BaseBoard(placement).piece_map().items()
    )


def _piece(letter: str) -> str:
    """A piece of python-chess's set, with attributes instead of inline styles."""
    drawing = re.sub(r'style="([^"]*)"', _attributes, chess.svg.PIECES[letter])
    return re.sub(r'id="[^"]*"', f'id="piece-{letter}"', drawing, count=1)


def _attributes(match: re.Match[str]) -> str:
    pairs = (part.split(":", 1) for part in match[1].split(";") if ":" in part)
    return " ".join(f'{key.strip()}="{value.strip()}"' for key, value in pairs)
