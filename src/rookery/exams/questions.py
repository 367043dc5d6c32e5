"""Asking a player for single moves; errors become faults with evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from rookery._core import Game
from rookery.engines.faults import EngineFault, clean, fault_of
from rookery.engines.workers import ask_all
from rookery.players.base import Decision, Limits, Player
from rookery.players.thinking import Thinker, Thought

Task = TypeVar("Task")
Answer = TypeVar("Answer")


def examine(
    ask: Callable[[Player, Task, np.random.Generator, Limits], Answer],
    exam: int,
    make_player: Callable[[], Player],
    tasks: Sequence[Task],
    limits: Limits,
    seed: int = 0,
    workers: int = 1,
    progress: Callable[[int], None] | None = None,
) -> list[Answer]:
    """Return the answers to all tasks in order, using one player per worker.

    Each task has its own random stream, derived from the seed and the number of the exam, so the
    answers do not depend on the number of workers.
    """

    def ask_one(player: Player, task: Task, number: int) -> Answer:
        sequence = np.random.SeedSequence(seed, spawn_key=(exam, number))
        return ask(player, task, np.random.default_rng(sequence), limits)

    return ask_all(make_player, tasks, ask_one, workers, progress)


def solved_counts(solved: Sequence[bool]) -> dict[str, object]:
    """Return the keys common to the summaries of all exams."""
    rate = sum(solved) / len(solved) if solved else None
    return {"total": len(solved), "solved": sum(solved), "rate": rate}


def legal_choice(
    player: Player, game: Game, rng: np.random.Generator, limits: Limits | None = None
) -> str:
    """Return a player's move; an illegal one raises `EngineFault`."""
    return _legal(player.choose(game, rng, limits), game).move


def patient_choice(
    player: Player,
    game: Game,
    rng: np.random.Generator,
    limits: Limits,
    enough: Callable[[Thought], bool],
) -> Decision:
    """Like `legal_choice`, but stop a `Thinker` as soon as `enough` accepts its report.

    Without limits `choose` is used, which applies the player's own.
    """
    if limits == Limits() or not isinstance(player, Thinker):
        return _legal(player.choose(game, rng, limits), game)

    def look(thought: Thought) -> None:
        if enough(thought):
            player.stop()

    return _legal(player.think(game, limits, look), game)


def _legal(decision: Decision, game: Game) -> Decision:
    if not game.is_legal(decision.move):
        raise EngineFault("illegal", f"move {clean(repr(decision.move), 40)} in {game.fen()}")
    return decision


class Questions:
    """Asks a player for moves in single positions; records faults instead of raising them."""

    def __init__(self, player: Player, rng: np.random.Generator) -> None:
        """Ask `player`."""
        self._player = player
        self._rng = rng
        self.faults = 0
        self.example = ""  # the first fault

    def __call__(self, game: Game) -> str:
        """Return the move, or "" after a fault."""
        try:
            return legal_choice(self._player, game, self._rng)
        except Exception as error:
            self.faults += 1
            self.example = self.example or str(fault_of(error))
            return ""
