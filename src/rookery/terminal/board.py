"""A chess board in the terminal, in colour if supported, otherwise in ASCII."""

from __future__ import annotations

from collections.abc import Sequence

import chess
from rich.console import Console
from rich.text import Text

from rookery._core import Game, find_board

# Backgrounds with good contrast to white and black pieces.
LIGHT, DARK = "#9fb3bf", "#6c8496"
MOVED_LIGHT, MOVED_DARK = "#b5b26a", "#96934a"  # squares of the last move
CHECKED = "#c0504d"
FILLED = {"k": "♚", "q": "♛", "r": "♜", "b": "♝", "n": "♞", "p": "♟"}


def draw_board(console: Console, game: Game, white_below: bool) -> None:
    """Print the position."""
    # Filled symbols of both sides differ by colour alone, so without colour letters are drawn.
    colored = (
        console.color_system is not None
        and not console.no_color
        and console.encoding.lower().startswith("utf")
    )
    size = find_board(game.board)
    ranks: Sequence[int] = range(size.ranks)
    files: Sequence[int] = range(size.files)
    ranks, files = (ranks[::-1], files) if white_below else (ranks, files[::-1])
    last = {
        chess.parse_square(name) for move in game.moves()[-1:] for name in (move[:2], move[2:4])
    }
    console.print()
    for rank in ranks:
        row = Text(f" {rank + 1} ")
        for file in files:
            square = 8 * rank + file
            letter = game.piece_at(square)
            if colored:
                row.append(
                    f" {FILLED.get(letter.lower(), ' ')} ", _style(game, square, letter, last)
                )
            else:
                mark = "(" if square in last else " "
                row.append(f"{mark}{letter or ('.' if _is_light(square) else ':')}")
                row.append(")" if square in last else " ")
        console.print(row, highlight=False)
    console.print("    " + "  ".join("abcdefgh"[file] for file in files), highlight=False)
    if not colored and not game.moves():
        console.print("    White has capital letters, Black small ones; (..) is the last move.")
    console.print()


def _is_light(square: int) -> bool:
    return (square // 8 + square % 8) % 2 == 1


def _style(game: Game, square: int, letter: str, last: set[int]) -> str:
    light = _is_light(square)
    background = LIGHT if light else DARK
    if square in last:
        background = MOVED_LIGHT if light else MOVED_DARK
    if game.in_check and letter == ("K" if game.turn else "k"):
        background = CHECKED
    return f"bold {'#ffffff' if letter.isupper() else '#000000'} on {background}"
