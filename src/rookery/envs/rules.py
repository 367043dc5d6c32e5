"""When games end and how they may begin: the rules of an environment beyond the moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rookery._core import FenError, Game
from rookery.data.starts import StartPositions

CLAIMS = ("automatic", "action", "off")
START_ATTEMPTS = 1000  # draws of a finished game before an error


@dataclass(frozen=True)
class Termination:
    """How a game ended."""

    reason: str  # one of `rookery._core.ENDINGS`, or "pawn_lost" (kpk_env.py)
    winner: bool | None  # True White, False Black, None drawn

    def result(self, side: bool) -> int:
        """+1, 0 or -1 as `side` (True: White) won, drew or lost."""
        return 0 if self.winner is None else (1 if self.winner == side else -1)


class Rules:
    """Which draws end a game, and when a game is truncated.

    `promotion_wins` means that a game ends with the promotion (`kpk_env.py`), so that layouts that
    cannot express later positions are allowed.

    Args:
        claims: "automatic": a threefold repetition, or a hundred plies without capture or pawn
            move, ends the game at once; "action": the side to move may claim a draw when
            `Game.can_claim_draw` allows it; "off": neither. Checkmate, stalemate, dead positions,
            fivefold repetition and the seventy-five-move rule always end the game.
        draw_after_plies: Draw after this many plies (0: never); 400 in version 1 of Salisch 2023.
        max_plies: Truncation, without a result, after this many plies (0: never). Illegal attempts
            count as plies, so that an agent cannot repeat them forever.
    """

    promotion_wins = False

    def __init__(
        self, claims: str = "automatic", draw_after_plies: int = 0, max_plies: int = 0
    ) -> None:
        """Check and keep the options."""
        if claims not in CLAIMS:
            raise ValueError(f"claims is {claims!r}; it must be one of {', '.join(CLAIMS)}")
        for name, plies in (("draw_after_plies", draw_after_plies), ("max_plies", max_plies)):
            if plies < 0:
                raise ValueError(f"{name} is {plies}; it must be positive, or 0 for none")
        self.claims = claims
        self.draw_after_plies = draw_after_plies
        self.max_plies = max_plies

    def termination(self, game: Game, plies: int) -> Termination | None:
        """Return how the game ended, `plies` after its start; None while it continues."""
        outcome = game.outcome()
        if outcome is not None:
            return Termination(*outcome)
        if self.claims == "automatic":
            if game.is_fifty_moves:
                return Termination("fifty_moves", None)
            if game.is_threefold:
                return Termination("threefold_repetition", None)
        if self.draw_after_plies and plies >= self.draw_after_plies:
            return Termination("ply_limit", None)
        return None

    def sample_start(self, start: StartPositions, rng: np.random.Generator) -> Game:
        """Draw a game that is not over by these rules; a FenError if all of many draws are.

        Random plies or positions of a file may already be a draw by these rules.
        """
        last = ""
        for _ in range(START_ATTEMPTS):
            game = start.sample(rng)
            termination = self._termination_on_the_way(game)
            if termination is None:
                return game
            last = f"({termination.reason}) in {game.fen()!r}"
        raise FenError(
            f"the game is over in each of {START_ATTEMPTS} draws from {repr(start)[:100]}, the "
            f"last time {last}; choose other start positions, or other claims"
        )

    def _termination_on_the_way(self, game: Game) -> Termination | None:
        """Return the termination of the game or of an earlier position; None if there is none."""
        line = game.copy()
        while (termination := self.termination(line, 0)) is None and line.ply:
            line.pop()
        return termination

    def truncated(self, plies: int) -> bool:
        """Tell whether an unfinished game is truncated after `plies` plies."""
        return bool(self.max_plies) and plies >= self.max_plies
