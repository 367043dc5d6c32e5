"""Early stops of self-play games: an engine judges them, and decided games end.

Deep Pepper (2018): Stockfish looks at a game every few plies and ends it if the score is beyond a
threshold; the scaled score becomes the target of the game's samples. The engine has a fixed number
of nodes and forgets the game before, so a judgement depends on the position alone and a resumed run
sees the same ones.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass

from rookery._core import Game, SelfPlay
from rookery.base.scales import value_of_score
from rookery.engines.faults import EngineFault
from rookery.engines.find import find_stockfish
from rookery.engines.label_engine import LabelEngine, SteadyEngine


class JudgeError(ValueError):
    """The engine that judges games is missing, or keeps failing."""


@dataclass(frozen=True)
class JudgePlan:
    """Who judges, and how."""

    engine: str  # "stockfish", or a command
    nodes: int  # per position
    pawns: float  # a game ends beyond this score


class Judge:
    """Judges the waiting games of a `SelfPlay`; not thread-safe."""

    def __init__(self, plan: JudgePlan, log: Callable[[str], object]) -> None:
        """Find the engine; it starts with the first game to judge."""
        self._plan = plan
        command = shlex.split(plan.engine)
        if plan.engine == "stockfish":
            found = find_stockfish()
            if found is None:
                raise JudgeError(
                    "judge.engine: stockfish is not installed; name another UCI engine with --set "
                    "judge.engine=COMMAND, or play without early stops with --set judge.every=0"
                )
            command = [found]
        elif not command or shutil.which(command[0]) is None:
            raise JudgeError(
                f"judge.engine {plan.engine!r} is no program; name a UCI engine with --set "
                "judge.engine=COMMAND, or play without early stops with --set judge.every=0"
            )
        self._engine = SteadyEngine(command, plan.nodes, 1, log)

    def settle(self, play: SelfPlay) -> None:
        """End the decided games among those that wait, and continue the others."""
        for slot, fen in play.unjudged():
            score = self._score(fen)
            if abs(score) > 100 * self._plan.pawns:
                play.judge(slot, value_of_score(round(score)))
            else:
                play.play_on(slot)

    def _score(self, fen: str) -> float:
        """White's score in centipawns."""
        game = Game(fen)

        def rank(engine: LabelEngine) -> float:
            engine.new_game()
            return engine.rank(game)[0].centipawns

        try:
            score = self._engine.ask(rank)
        except EngineFault as fault:
            raise JudgeError(
                f"judge.engine {self._plan.engine}: {fault}; the run is saved, continue it with "
                "'rookery resume' once the engine works"
            ) from None
        return score if game.turn else -score

    def close(self) -> None:
        """End the engine."""
        self._engine.close()
