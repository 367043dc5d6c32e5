"""A person at the terminal, who types moves in UCI or standard notation."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TextIO

import chess
from numpy.random import Generator

from rookery._core import Game, find_board
from rookery.data.notation import read_move
from rookery.data.small_board import chess_board
from rookery.engines.faults import EngineFault
from rookery.players.base import Capabilities, Decision, Limits
from rookery.players.spec import PlayerSpec

HELP = "moves: e2e4, Nf3, O-O, e8=Q; 'moves' lists them, 'draw' claims, 'quit' resigns"


class HumanPlayer:
    """Asks for a move until a legal one is typed."""

    name = "human"

    def __init__(
        self,
        ask: Callable[[str], str] | None = None,
        output: TextIO | None = None,
        unicode_pieces: bool = True,
    ) -> None:
        """Read moves with `ask` (default: standard input); write to `output` (standard error)."""
        self._ask = ask or ask_aside
        self._output = output
        self._unicode = unicode_pieces
        self.capabilities = Capabilities(boards=None)

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        """Show the position and ask."""
        board = chess_board(game)
        self._show(board, game)
        while True:
            try:
                typed = self._ask("White: " if game.turn else "Black: ").strip()
            except EOFError:
                raise EngineFault("error", "the person left: the input ended") from None
            if typed in ("quit", "resign"):
                raise EngineFault("error", "resigned")
            if typed == "draw":
                if game.can_claim_draw():
                    return Decision(game.legal_moves()[0], claims_draw=True)
                self._write("there is no draw to claim")
            elif typed == "moves":
                self._write(" ".join(board.san(move) for move in board.legal_moves))
            elif typed in ("", "help", "?"):
                self._write(HELP)
            else:
                try:
                    return Decision(read_move(board, typed))
                except ValueError as error:
                    self._write(f"{error}; {HELP}")

    def new_game(self) -> None:
        """Show the help."""
        self._write(HELP)

    def close(self) -> None:
        """Do nothing."""

    def _show(self, board: chess.Board, game: Game) -> None:
        if game.moves():
            self._write(f"last move: {game.moves()[-1]}")
        flipped = not board.turn
        text = (
            board.unicode(invert_color=True, empty_square="·", orientation=not flipped)
            if self._unicode
            else str(board)[::-1]  # rotated by 180 degrees
            if flipped
            else str(board)
        )
        size = find_board(game.board)
        rows = [row.split(" ") for row in text.splitlines()]
        # Of the 8x8 squares those of the board: at the bottom left, rotated at the top right.
        if flipped:
            rows = [row[8 - size.files :] for row in rows[: size.ranks]]
        else:
            rows = [row[: size.files] for row in rows[8 - size.ranks :]]
        ranks, files = list(range(1, size.ranks + 1)), "abcdefgh"[: size.files]
        for number, row in zip(ranks if flipped else ranks[::-1], rows, strict=True):
            self._write(f"{number} {' '.join(row)}")
        self._write("  " + " ".join(files[::-1] if flipped else files))

    def _write(self, text: str) -> None:
        print(text, file=self._output or sys.stderr, flush=True)


def human_player(spec: PlayerSpec, options: dict[str, Any]) -> HumanPlayer:
    """The player `human`."""
    return HumanPlayer(unicode_pieces=not options.get("ascii", False))


def ask_aside(prompt: str) -> str:
    """`input` with the prompt on standard error unless standard output is the terminal."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        return input(prompt)  # supports line editing
    print(prompt, end="", file=sys.stderr, flush=True)
    return input()
