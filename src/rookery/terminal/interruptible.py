"""Asking a player for a move so that Ctrl-C ends even a long search in C++."""

from __future__ import annotations

import threading

import numpy as np

from rookery._core import Game
from rookery.players.base import Decision, Player
from rookery.players.thinking import Thinker


def choose_interruptibly(player: Player, game: Game, rng: np.random.Generator) -> Decision:
    """Ask for a move within the player's own limits.

    Python handles Ctrl-C only when the main thread returns from C++, so the search runs in another
    thread and is stopped.
    """
    if not isinstance(player, Thinker):
        return player.choose(game, rng, None)
    answers: list[Decision | BaseException] = []

    def ask() -> None:
        try:
            answers.append(player.choose(game, rng, None))
        except BaseException as error:  # re-raised in the waiting thread
            answers.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    try:
        thread.start()
        thread.join()
    except KeyboardInterrupt:
        while thread.is_alive():
            player.stop()  # repeatedly: the search may not have begun
            thread.join(0.01)
        raise
    (answer,) = answers
    if isinstance(answer, BaseException):
        raise answer
    return answer
