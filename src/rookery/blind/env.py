"""Gymnasium environment `rookery/BlindChess-v0`: one agent against any blind player."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from rookery._core import (
    BLIND_MOVE_ACTIONS,
    BLIND_PLANES,
    BLIND_SENSE_ACTIONS,
    BlindGame,
    BlindKnowledge,
)
from rookery.blind.players import BlindPlayer
from rookery.blind.registry import make_blind_player

ACTIONS = BLIND_SENSE_ACTIONS + BLIND_MOVE_ACTIONS
COLORS = ("white", "black", "random")
NO_CLOCK = float("inf")


def action_mask(game: BlindGame, white: bool) -> NDArray[np.int8]:
    """Return 1 for the actions that this side may take now, int8 [ACTIONS]."""
    mask = np.zeros(ACTIONS, dtype=np.int8)
    if game.is_over or game.white_to_move != white:
        return mask
    if game.phase == "sense":
        mask[:BLIND_SENSE_ACTIONS] = 1
    else:
        mask[BLIND_SENSE_ACTIONS + game.knowledge(white).move_actions()] = 1
    return mask


def act(game: BlindGame, action: int) -> None:
    """Take an action of the side to act that `action_mask` allows."""
    knowledge = game.knowledge(game.white_to_move)
    if action < BLIND_SENSE_ACTIONS:
        flip = 0 if knowledge.white else 56
        game.sense(None if action == BLIND_SENSE_ACTIONS - 1 else action ^ flip)
    else:
        game.move(knowledge.move_of_action(action - BLIND_SENSE_ACTIONS))


def board_text(knowledge: BlindKnowledge) -> str:
    """Draw what a side knows: its pieces, the opponent's where last seen, White below."""
    own = _pieces(knowledge.own_fen)
    rows = []
    for rank in range(7, -1, -1):
        squares = (8 * rank + file for file in range(8))
        letters = (own.get(square) or knowledge.remembered(square)[0] or "." for square in squares)
        rows.append(f"{rank + 1} " + " ".join(letters))
    return "\n".join([*rows, "  a b c d e f g h"])


def _pieces(fen: str) -> dict[int, str]:
    found: dict[int, str] = {}
    for row, text in enumerate(fen.split()[0].split("/")):
        file = 0
        for letter in text:
            if letter.isdigit():
                file += int(letter)
            else:
                found[8 * (7 - row) + file] = letter
                file += 1
    return found


class BlindChessEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """Reconnaissance blind chess against an opponent: a blind player, or its specification.

    ## Action space
    `Discrete(4738)`: 0-63 sense the window around a square, 64 senses nothing, 65 + a asks for the
    move a of `az4672`, 65 + 4672 passes; squares in the agent's orientation. A turn is a sense,
    then a move. The legal actions are in `info["action_mask"]` (int8) and `action_masks()` (bool).
    An illegal one costs 1 and changes nothing.

    ## Observation space
    `Box` of float32 [48, 8, 8]: what the agent knows (`rookery.blind.observation`).

    ## Rewards
    1 for capturing the king, -1 for losing it, 0 for a draw.

    ## Starting state
    The start position; `color` is "white", "black" or "random" (default).

    ## Episode end
    Termination: a captured king, a half-move clock of 100, or `turn_limit` full turns.

    ## Arguments
    ```python
    gymnasium.make("rookery/BlindChess-v0", opponent="random", color="random", turn_limit=0)
    ```

    ## Version history
    - v0: first version
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium declares it like this)
        "render_modes": ["ansi"],
        "render_fps": 1,
    }

    def __init__(
        self,
        opponent: BlindPlayer | str = "random",
        *,
        color: str = "random",
        turn_limit: int = 0,
        render_mode: str | None = None,
    ) -> None:
        """Set the options, explained in the class's docstring."""
        if color not in COLORS:
            raise ValueError(f"color is {color!r}; it must be one of {', '.join(COLORS)}")
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode is {render_mode!r}; it must be None or 'ansi'")
        self.opponent = make_blind_player(opponent) if isinstance(opponent, str) else opponent
        self.render_mode = render_mode
        self.observation_space = spaces.Box(0, 1, (BLIND_PLANES, 8, 8), dtype=np.float32)
        self.action_space = spaces.Discrete(ACTIONS)
        self._color, self._turn_limit = color, turn_limit
        self._white = True
        self.game = BlindGame()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin a game."""
        super().reset(seed=seed)
        toss = bool(self.np_random.integers(2))
        self._white = toss if self._color == "random" else self._color == "white"
        self.game = BlindGame(turn_limit=self._turn_limit)
        self.opponent.new_game(self.game.knowledge(not self._white), self.np_random)
        if not self._white:
            self._reply()
        return self._observe(), self._info()

    def step(
        self, action: np.int64 | int
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Sense, or move and let the opponent play its turn."""
        if not self.action_masks()[int(action)]:
            return self._observe(), -1.0, self.game.is_over, False, self._info()
        act(self.game, int(action))
        if not self.game.is_over and self.game.white_to_move != self._white:
            self._reply()
        outcome = self.game.outcome()
        reward = 0.0
        if outcome is not None:
            won = None if outcome[1] is None else outcome[1] == self._white
            reward = 0.0 if won is None else 1.0 if won else -1.0
            self.opponent.game_over(
                self.game.knowledge(not self._white), None if won is None else not won
            )
        return self._observe(), reward, outcome is not None, False, self._info()

    def _reply(self) -> None:
        """Let the opponent sense and move."""
        side = not self._white
        sense = self.opponent.choose_sense(self.game.knowledge(side), self.np_random, NO_CLOCK)
        self.game.sense(sense)
        move = self.opponent.choose_move(self.game.knowledge(side), self.np_random, NO_CLOCK)
        self.game.move(move)

    def _observe(self) -> NDArray[np.float32]:
        return self.game.knowledge(self._white).planes()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the agent's legal actions, bool [A], for sb3-contrib."""
        return action_mask(self.game, self._white).astype(bool)

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {
            "action_mask": action_mask(self.game, self._white),
            "phase": self.game.phase,
            "color": "white" if self._white else "black",
        }
        outcome = self.game.outcome()
        if outcome is not None:
            ending, winner = outcome
            result = 0 if winner is None else 1 if winner == self._white else -1
            info |= {"ending": ending, "result": result}
        return info

    def render(self) -> str | None:  # type: ignore[override]
        """Draw what the agent knows, in render mode "ansi"."""
        knowledge = self.game.knowledge(self._white)
        return board_text(knowledge) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Close the opponent."""
        self.opponent.close()
