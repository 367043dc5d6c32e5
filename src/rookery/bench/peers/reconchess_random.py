"""Random games in reconchess's own referee, with its list of requests at every turn."""

from __future__ import annotations

from collections.abc import Callable

LABEL = "reconchess LocalGame"
CONDITIONS = "sense_actions, move_actions, sense, move and end_turn every turn, without bots"


def prepare() -> Callable[[], int]:
    """Return a function that plays one game and returns its turns."""
    import random

    from reconchess import LocalGame

    rng = random.Random(1)

    def play() -> int:
        game = LocalGame(seconds_per_player=None)
        game.start()
        turns = 0
        while not game.is_over():
            game.sense(rng.choice(game.sense_actions()))
            game.move(rng.choice([*game.move_actions(), None]))
            game.end_turn()
            turns += 1
        return turns

    return play
