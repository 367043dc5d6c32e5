"""Drawing the board of an environment: as text, as an image, or in a window.

    ansi       `render()` returns the ranks as text, White below
    rgb_array  `render()` returns an image, uint8 [480, 480, 3] (60 pixels a square of the board),
               as `RecordVideo` expects
    human      every step is shown in a window; `render()` returns nothing

Images and windows are drawn by pygame (extra `render`), which is imported at the first drawing: SB3
asks for `rgb_array` wherever it makes an environment, and most never draw. The pieces are those of
python-chess.
"""

from __future__ import annotations

import io
import os
from itertools import product
from typing import TYPE_CHECKING, Any

import chess
import chess.svg
import numpy as np
from numpy.typing import NDArray

from rookery._core import Game, find_board
from rookery.base.extras import how_to_install

if TYPE_CHECKING:
    import pygame

RENDER_MODES = ("ansi", "rgb_array", "human")
RENDER_FPS = 2  # steps per second in the window, and images per second of a video
SQUARE = 60  # pixels
LIGHT, DARK = (240, 217, 181), (181, 136, 99)
LIGHT_MOVED, DARK_MOVED = (205, 210, 106), (170, 162, 58)  # squares of the last move


class Renderer:
    """Draws games in one mode."""

    def __init__(self, mode: str | None) -> None:
        """Check the mode; nothing is imported or opened yet."""
        if mode is not None and mode not in RENDER_MODES:
            known = ", ".join(repr(name) for name in RENDER_MODES)
            raise ValueError(f"render_mode is {mode!r}; it must be None or one of {known}")
        self.mode = mode
        self._pieces: dict[str, pygame.Surface] = {}  # by letter
        self._window: pygame.Surface | None = None

    def render(self, game: Game) -> str | NDArray[np.uint8] | None:
        """Return what the mode's `render()` returns."""
        if self.mode == "ansi":
            return board_text(game)
        if self.mode == "rgb_array":
            # pygame's arrays have the horizontal axis first.
            pixels = _pygame().surfarray.array3d(self._draw(game))
            return np.ascontiguousarray(pixels.transpose(1, 0, 2))
        self.show(game)
        return None

    def show(self, game: Game) -> None:
        """Show the position in the window in the mode "human"; otherwise do nothing."""
        if self.mode != "human":
            return
        pg = _pygame()
        if self._window is None:
            pg.display.init()
            pg.display.set_caption("Rookery")
            self._window = pg.display.set_mode(_size(game))
        self._window.blit(self._draw(game), (0, 0))
        pg.display.flip()
        pg.event.pump()  # the system would otherwise report a window that does not respond
        pg.time.wait(1000 // RENDER_FPS)

    def _draw(self, game: Game) -> pygame.Surface:
        """The board, White below, with the squares of the last move in another colour."""
        pg = _pygame()
        size = find_board(game.board)
        board: pygame.Surface = pg.Surface(_size(game))
        moves = game.moves()
        moved = {moves[-1][:2], moves[-1][2:4]} if moves else set()
        for file, rank in product(range(size.files), range(size.ranks)):
            square = 8 * rank + file
            light = (file + rank) % 2 == 1
            colours = (LIGHT, LIGHT_MOVED) if light else (DARK, DARK_MOVED)
            place = (file * SQUARE, (size.ranks - 1 - rank) * SQUARE)
            board.fill(colours[chess.square_name(square) in moved], (*place, SQUARE, SQUARE))
            if letter := game.piece_at(square):
                board.blit(self._piece(letter), place)
        return board

    def _piece(self, letter: str) -> pygame.Surface:
        """The picture of a piece, such as "N" or "q"."""
        if letter not in self._pieces:
            drawing = chess.svg.piece(chess.Piece.from_symbol(letter), size=SQUARE)
            self._pieces[letter] = _pygame().image.load(io.BytesIO(drawing.encode()), ".svg")
        return self._pieces[letter]

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            _pygame().display.quit()
            self._window = None


def _pygame() -> Any:
    """The library, or an error that names the extra."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
    except ImportError as error:
        raise ImportError(
            "the render modes rgb_array and human need pygame; install it with: "
            f"{how_to_install('render')}"
        ) from error
    return pygame


def _size(game: Game) -> tuple[int, int]:
    """Pixels of the picture."""
    board = find_board(game.board)
    return board.files * SQUARE, board.ranks * SQUARE


def board_text(game: Game) -> str:
    """Draw the position as text: its ranks, White below, and the side to move."""
    board = find_board(game.board)
    rows = [
        f"{rank + 1} "
        + " ".join(game.piece_at(8 * rank + file) or "." for file in range(board.files))
        for rank in range(board.ranks - 1, -1, -1)
    ]
    files = "  " + " ".join("abcdefgh"[: board.files])
    return "\n".join([*rows, files, "White to move" if game.turn else "Black to move"])
