"""Random games in OpenSpiel's chess, with observation and legal actions at every ply."""

from __future__ import annotations

import random
from collections.abc import Callable

LABEL = "OpenSpiel chess"
CONDITIONS = "20x8x8 observation_tensor and legal_actions every ply"


def prepare() -> Callable[[], int]:
    """Return a function that plays one game and returns its plies."""
    import pyspiel

    game = pyspiel.load_game("chess")
    rng = random.Random(1)

    def play() -> int:
        state = game.new_initial_state()
        plies = 0
        while not state.is_terminal():
            legal = state.legal_actions()
            state.observation_tensor(state.current_player())
            state.apply_action(rng.choice(legal))
            plies += 1
        return plies

    return play
