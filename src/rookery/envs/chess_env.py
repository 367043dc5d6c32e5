"""Gymnasium environment `rookery/Chess-v0`: one agent against any player."""

from __future__ import annotations

from typing import Any, Unpack

import gymnasium
import numpy as np
from numpy.typing import NDArray

from rookery._core import MoveError
from rookery.envs.episode import Episode, EpisodeOptions, Turn, reset_options
from rookery.envs.render import RENDER_FPS, RENDER_MODES, Renderer
from rookery.envs.rules import Rules
from rookery.envs.spaces import action_space, observation_space
from rookery.players.base import Limits, Player, capabilities_of, require_board
from rookery.players.bots import RandomPlayer

COLORS = ("white", "black", "random")
ATTEMPTS = 100  # games in which the agent never gets to move, before an error


class ChessEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """Chess against an opponent: a player, or the specification of one.

    ## Action space
    `Discrete(A)`: the moves of the action layout `actions`, in the orientation of the agent:
    `az4672` (default), or `az4673` with one more action that claims a draw. The legal ones are in
    `info["action_mask"]` (int8 [A], for `action_space.sample(mask)`) and returned by
    `action_masks()` (bool [A], for sb3-contrib). An illegal action costs `rewards.illegal` and
    does not change the position, or raises `MoveError` with `on_illegal="raise"`.

    ## Observation space
    `Box` of float32 with the shape and bounds of the observation layout, `planes19` by default
    (`rookery.encodings`). After the last move of a game it is from the view of the side that would
    move next.

    ## Rewards
    The agent's, as defined by `rewards` (`envs/rewards.py`; by default 1 for a win, 0 for a draw,
    -1 for a loss), or by a function of your own, (`Ply`, side) -> float. A step is the agent's move
    and the opponent's reply. The agent's moves earn interim rewards for book moves and tablebase
    progress as defined by Salisch 2023, the latter by the paper's own distance with
    `tablebase_metric="dtz"` (`InterimRewards`). Without a book or tables they are off, with a
    warning and an entry in `switched_off`.

    ## Starting state
    `start` (`data/starts.py`), by default the start position of the `board` (docs/boards.md). The
    agent's `color` is "white", "black" or drawn for every game ("random", default); if the opponent
    is to move first, it does so in `reset`. `reset(options={"fen": ..., "color": ...})` sets either
    for one game. A start position in which the game is already over is redrawn; such a "fen" raises
    an error.

    ## Episode end
    Termination: checkmate, stalemate, dead positions, fivefold repetition, seventy-five moves;
    draws by `claims` ("automatic": a position for the third time, or a hundred plies without
    capture or pawn move; "action": claimed by the action 4672 of `az4673`; "off"); a draw after
    `draw_after_plies` plies (Salisch 2023, version 1: 400). Truncation: after `max_plies` plies.
    `info` then has "ending" (the reason) and "result" (+1, 0, -1 for the agent; not if truncated).

    ## Info
    "action_mask", "color" (the agent's), "fen" (the position), and the above at the end.

    ## Rendering
    `render_mode` "ansi" (text), "rgb_array" (an image) or "human" (a window): `envs/render.py`.

    ## Arguments
    ```python
    gymnasium.make("rookery/Chess-v0", opponent="stockfish,depth=1", color="random",
                   observation="planes19", actions="az4672", rewards="default", claims=None,
                   draw_after_plies=0, max_plies=0, start="standard", on_illegal="penalty",
                   book=None, tablebases=None, tablebase_metric=None, limits=None,
                   board="standard")
    ```
    Version 1 of Salisch 2023 is `observation="vector69", actions="az4673",
    rewards="salisch2023-v1", draw_after_plies=400`; version 3 is `observation="vector66",
    rewards="salisch2023-v3", tablebase_metric="dtz"`, which needs Syzygy tables.

    ## Version history
    - v0: first version
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium declares it like this)
        "render_modes": list(RENDER_MODES),
        "render_fps": RENDER_FPS,
    }
    _rules: Rules | None = None  # set by subclasses with other rules

    def __init__(
        self,
        opponent: Player | str = "random",
        *,
        color: str = "random",
        limits: Limits | None = None,
        render_mode: str | None = None,
        **options: Unpack[EpisodeOptions],
    ) -> None:
        """Set the options, explained in the class's docstring."""
        check_color(color)
        self._renderer = Renderer(render_mode)
        self.episode = Episode(**options, rules=self._rules)
        self.opponent = opponent_of(opponent, claims=self.episode.rules.claims == "action")
        boards = capabilities_of(self.opponent).boards
        require_board(self.opponent.name, boards, self.episode.board)
        self.render_mode = render_mode
        self.observation_space = observation_space(self.episode.observation)
        self.action_space = action_space(self.episode.actions)
        self._color = color
        self._limits = limits
        self._agent = True  # the agent's side in this game, True: White

    @property
    def switched_off(self) -> list[str]:
        """Requested features whose data is missing, each with how to get it."""
        return self.episode.switched_off

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin a game; `options` may contain "fen" and "color"."""
        super().reset(seed=seed)
        chosen = reset_options(options, "fen", "color")
        color = check_color(chosen.get("color", self._color))
        # Always drawn, so that the same seed gives the same game with any colour.
        toss = bool(self.np_random.integers(2))
        self._agent = toss if color == "random" else color == "white"
        self._begin(chosen.get("fen"))
        self._renderer.show(self.episode.game)
        return self._observe(), self._info()

    def _begin(self, fen: str | None) -> None:
        """Start a game in which the agent has a move to make."""
        self._choose_start()
        for _ in range(ATTEMPTS):
            self.opponent.new_game()
            self.episode.begin(self.np_random, fen)
            if self.episode.game.turn != self._agent:
                self._reply()
            if not self.episode.over:
                return
        raise ValueError(
            f"the opponent's first move ended the game in each of {ATTEMPTS} attempts, the last "
            f"time from {self.episode.game.start_fen!r}"
        )

    def _choose_start(self) -> None:
        """Adapt the start positions to the agent's colour; overridden by subclasses."""

    def step(
        self, action: np.int64 | int
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Make the agent's move and the opponent's reply."""
        turn = self.episode.act(action)
        self._renderer.show(self.episode.game)
        reward = turn.reward
        if turn.legal and not self.episode.over:
            reward += self._reply().other_reward
            self._renderer.show(self.episode.game)
        ended = self.episode.termination is not None
        return self._observe(), reward, ended, self.episode.truncated, self._info()

    def _reply(self) -> Turn:
        """Let the opponent make its move."""
        episode = self.episode
        decision = self.opponent.choose(episode.game, self.np_random, self._limits)
        if decision.claims_draw and episode.rules.claims == "action":
            return episode.claim()
        try:
            return episode.play(decision.move)
        except MoveError as error:
            raise MoveError(
                f"the opponent {self.opponent.name!r} broke the rules: {error}"
            ) from error

    def _observe(self) -> NDArray[np.float32]:
        """Return the agent's observation."""
        return self.episode.encode()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the agent's legal actions, bool [A], for sb3-contrib."""
        return self.episode.mask()

    def _info(self) -> dict[str, Any]:
        """Action mask, colour and position, and the result if there is one."""
        return {
            "action_mask": self.episode.mask().astype(np.int8),
            "color": "white" if self._agent else "black",
            "fen": self.episode.game.fen(),
            **self.episode.ending_info(self._agent),
        }

    def render(self) -> str | NDArray[np.uint8] | None:  # type: ignore[override]
        """Draw the board, White below, in the render mode."""
        return self._renderer.render(self.episode.game)

    def close(self) -> None:
        """Close the opponent, the window, and the book and tables that were opened here."""
        self._renderer.close()
        self.opponent.close()
        self.episode.close()


def check_color(color: str) -> str:
    """Return the colour, or raise a ValueError."""
    if color not in COLORS:
        raise ValueError(f"color is {color!r}; it must be one of {', '.join(COLORS)}")
    return color


def opponent_of(opponent: Player | str, *, claims: bool = False) -> Player:
    """Return the player, or make it from its specification (`rookery players`).

    With `claims` the player "random" also claims draws.
    """
    if not isinstance(opponent, str):
        return opponent
    if opponent == "random":
        return RandomPlayer(claims=claims)
    from rookery.players.registry import make_player

    return make_player(opponent)
