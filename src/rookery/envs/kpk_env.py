"""Gymnasium environment `rookery/KPK-v0`: king and pawn against king, as in Kanis 2016."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rookery._core import Game
from rookery.data.starts import KpkLevel
from rookery.envs.chess_env import ChessEnv
from rookery.envs.rewards import RewardFunction, Rewards
from rookery.envs.rules import Rules, Termination
from rookery.players.base import Limits, Player

GOALS = ("promotion", "mate")


class KPKEnv(ChessEnv):
    """The side with the pawn is the agent and moves first; the opponent has the bare king.

    ## Action space
    `Discrete(10)`, the layout `kpk`: 0-7 king steps N, NE, E, SE, S, SW, W, NW as the pawn sees
    them, 8 pawn one square (promotes to a queen on the last rank), 9 pawn two squares. Masks and
    illegal actions are as in `rookery/Chess-v0`; as in the paper, an illegal attempt costs 10 and
    does not change the position.

    ## Observation space
    `Box` of float32 [3, 8, 8], the layout `kpk3`: one zero-mean plane per piece. When the game ends
    by a promotion or a capture of the pawn, the last position with the pawn is observed.

    ## Rewards
    Kanis 2016, Table 3: win 10, draw -10, illegal attempt -10, and -1 for every move, including the
    last.

    ## Starting state
    A random position of the `level` "all", "easy", "intermediate" or "hard"
    (`data/kpk_levels.py`), the agent to move. The agent is White, or Black on a mirrored board
    with `color="black"`; "random" draws the colour for every game.

    ## Episode end
    Termination, with `goal="promotion"` (default): the pawn has promoted and the queen cannot be
    taken at once, or has survived the reply (won); the pawn or that queen is taken, or either side
    is stalemated (drawn). With perfect play, exactly the positions won in the endgame tables are
    won, except six with the pawn on the seventh rank that need a rook; if every promotion won,
    4,852 drawn positions of the whole board would be won as well.
    As in the paper, repetition and the fifty-move rule do not apply, since the observation does not
    contain them. With `goal="mate"` the game continues under the rules of chess until mate or draw;
    the layouts `kpk` and `kpk3` cannot express the queen, so others must be chosen
    (`observation="planes12", actions="az4672"`).
    Truncation: after `max_plies` plies, 100 by default (the paper cancels games after 50 moves).

    ## Arguments
    ```python
    gymnasium.make("rookery/KPK-v0", opponent=player, level="all", color="white",
                   goal="promotion", rewards="kanis2016", max_plies=100, on_illegal="penalty")
    ```

    ## Version history
    - v0: first version
    """

    def __init__(
        self,
        opponent: Player | str = "random",
        *,
        level: str = "all",
        color: str = "white",
        goal: str = "promotion",
        observation: str = "kpk3",
        actions: str = "kpk",
        rewards: Rewards | str | Mapping[str, float] | RewardFunction = "kanis2016",
        max_plies: int = 100,
        on_illegal: str = "penalty",
        limits: Limits | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Set the options, explained in the class's docstring."""
        if goal not in GOALS:
            raise ValueError(f"goal is {goal!r}; it must be one of {', '.join(GOALS)}")
        if goal == "mate" and (observation == "kpk3" or actions == "kpk"):
            raise ValueError(
                "the layouts kpk3 and kpk end with the promotion; for goal='mate' choose others, "
                "for example observation='planes12', actions='az4672'"
            )
        self._rules = PromotionRules(max_plies) if goal == "promotion" else None
        self._starts = {strong: KpkLevel(level, strong) for strong in ("white", "black")}
        super().__init__(
            opponent,
            color=color,
            observation=observation,
            actions=actions,
            rewards=rewards,
            max_plies=max_plies,
            start=self._starts["white"],
            on_illegal=on_illegal,
            limits=limits,
            render_mode=render_mode,
        )
        self._last_seen: NDArray[np.float32] = np.zeros(0, dtype=np.float32)

    def _choose_start(self) -> None:
        """Give the pawn to the agent."""
        self.episode.start = self._starts["white" if self._agent else "black"]

    def _observe(self) -> NDArray[np.float32]:
        """Return the observation; without a pawn, the last one with it."""
        if self.episode.observation != "kpk3" or has_pawn(self.episode.game):
            self._last_seen = self.episode.encode()
        return self._last_seen.copy()


class PromotionRules(Rules):
    """The rules of Kanis 2016: the side with the pawn wins by promoting it."""

    promotion_wins = True

    def __init__(self, max_plies: int = 0) -> None:
        """Without draw claims; only `max_plies` limits the length."""
        super().__init__(claims="off", max_plies=max_plies)

    def termination(self, game: Game, plies: int) -> Termination | None:
        """Return how the game ended; None while it continues."""
        if game.piece_count() == 2:
            return Termination("pawn_lost", None)
        if game.legal_count() == 0:
            if game.in_check:  # mate needs a queen, so the pawn has been promoted
                return Termination("checkmate", not game.turn)
            return Termination("stalemate", None)
        if not game.is_won_by_promotion:
            return None
        return Termination("promotion", game.material().index("v") == 2)  # "KQvK": White's


def has_pawn(game: Game) -> bool:
    """Tell whether a pawn is on the board."""
    return "P" in game.material()
