"""Random games with python-chess: legal moves and outcome at every ply, no observation."""

from __future__ import annotations

import random
from collections.abc import Callable

LABEL = "python-chess"
CONDITIONS = "legal_moves and outcome() every ply, no observation"


def prepare() -> Callable[[], int]:
    """Return a function that plays one game and returns its plies."""
    import chess

    rng = random.Random(1)

    def play() -> int:
        board = chess.Board()
        plies = 0
        while board.outcome(claim_draw=False) is None:
            board.push(rng.choice(list(board.legal_moves)))
            plies += 1
        return plies

    return play
