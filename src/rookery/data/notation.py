"""Parsing moves as people type them, and converting lines to standard notation."""

from __future__ import annotations

from collections.abc import Sequence

import chess

LONGEST = 20  # characters of a typed move


def read_move(board: chess.Board, typed: str) -> str:
    """UCI of a move as people type it: e2e4, Nf3, nf3, 0-0, exd8=Q, e8q."""
    shown = typed.strip()[:LONGEST]
    text = shown.rstrip("!?").replace("0-0-0", "O-O-O").replace("0-0", "O-O")
    found, ambiguous = _parse(board, text)
    if found is not None:
        return found
    if ambiguous:
        raise ValueError(f"{shown!r} could be more than one move; say from where, as in Nbd2")
    for promoted in (f"{text}=Q", f"{text}q"):
        if _parse(board, promoted)[0] is not None:
            raise ValueError(f"{shown!r} promotes: say to what, as in {promoted}")
    raise ValueError(f"{shown!r} is not a legal move here")


def _parse(board: chess.Board, text: str) -> tuple[str | None, bool]:
    """UCI of a move in any spelling (None if there is none), and whether it is ambiguous."""
    ambiguous = False
    for spelling in dict.fromkeys((text, text[:1].upper() + text[1:], text.upper(), text.lower())):
        for parse in (board.parse_san, board.parse_uci):
            try:
                move = parse(spelling)
            except chess.AmbiguousMoveError:
                ambiguous = True
            except ValueError:
                continue
            else:
                if move:  # not the null move
                    return board.uci(move), False
    return None, ambiguous


def sans_of(board: chess.Board, moves: Sequence[str]) -> list[str]:
    """SAN of a line in UCI, up to the first illegal move."""
    scratch = board.copy(stack=False)
    sans = []
    for uci in moves:
        try:
            move = scratch.parse_uci(uci)
        except ValueError:
            break
        sans.append(scratch.san(move))
        scratch.push(move)
    return sans
