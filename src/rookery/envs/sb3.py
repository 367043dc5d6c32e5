"""Stable-Baselines3: many games against an opponent as one `VecEnv`, and its models as players.

    envs = ChessVecEnv(64, opponent="greedy", observation="tactical70", max_plies=200)
    model = MaskablePPO("MlpPolicy", envs)
    model.learn(100_000)
    player = ModelPlayer(model, observation="tactical70")

The games are those of `rookery/SelfPlay-v0`, stepped in C++; `make_vec_env("rookery/Chess-v0")` is
the same problem with one Python environment for each game.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import ENDINGS, Game, bot_names
from rookery.base.extras import how_to_install
from rookery.envs.chess_env import COLORS, check_color
from rookery.envs.episode import reset_options
from rookery.envs.opponents import Opponent, batch_opponent
from rookery.envs.vector import ChessVectorEnv, integer_actions
from rookery.players.base import Decision, Limits, Player
from rookery.players.registry import make_player

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise ImportError(
        f"this environment needs stable-baselines3; install it with: {how_to_install('sb3')}"
    ) from error

Array = NDArray[Any]
ATTEMPTS = 100  # games in which the agent never gets to move, before an error


class ChessVecEnv(VecEnv):
    """The agent has one side in each of `num_envs` games; the opponent replies within the step.

    ## Arguments
    `opponent`: a bot (`"random"`, `"greedy"`, `"greedy-safe"`) or a network
    (`"runs/ppo,temperature=1"`), which act in all games at once; any other player (specification or
    object), which acts game after game; or an object with the method of `Opponent`. `color`: the
    agent's, "white", "black" or, drawn for every game, "random". `fens`: whether every step's
    `infos[i]["fen"]` is the position. All other arguments are those of `rookery/SelfPlay-v0`
    (`envs/vector.py`) but `masks` and `copy`, which would do nothing here.

    ## Steps
    As in `rookery/Chess-v0`: a step is the agent's move and the opponent's reply, and its reward is
    the agent's for both. A game that ends restarts in the same step: `infos[i]` then has
    "terminal_observation", "TimeLimit.truncated", "ending", "fen" and, unless truncated, "result"
    (+1, 0, -1 for the agent). An illegal action (`on_illegal="penalty"`) gets no reply.

    ## Masks
    `env_method("action_masks")`, where sb3-contrib looks for them.

    ## Reset options
    `set_options({"fen": ..., "color": ...})` before `reset()`, or one such dictionary for each
    game; "fen" for all games or for none.
    """

    def __init__(
        self,
        num_envs: int,
        opponent: Opponent | Player | str = "random",
        *,
        color: str = "random",
        seed: int = 0,
        fens: bool = False,
        **options: Any,
    ) -> None:
        """Begin the games; all randomness comes from `seed`, until `seed()` sets another."""
        for name in ("masks", "copy"):
            if name in options:
                raise TypeError(
                    f"ChessVecEnv has no {name!r}: observations are always copies, and masks come "
                    "from env_method('action_masks')"
                )
        self.render_mode = None
        self._fens = fens
        self._color = check_color(color)
        self._envs = ChessVectorEnv(num_envs, seed=seed, **options)
        self.games = self._envs.games
        layouts = (options.get("observation", "planes19"), options.get("actions", "az4672"))
        self._made: Player | None = None  # made here, so closed here; others belong to the caller
        if isinstance(opponent, str) and opponent not in bot_names():
            opponent = self._made = make_player(opponent)
        self._opponent = batch_opponent(opponent, *layouts)
        self._rng = np.random.default_rng(seed)
        self._agent = np.ones(num_envs, dtype=np.uint8)  # the agent's side, 1 White
        self._actions: Array = np.zeros(num_envs, dtype=np.int64)
        super().__init__(
            num_envs, self._envs.single_observation_space, self._envs.single_action_space
        )

    def reset(self) -> Array:
        """Restart all games, with the seed and the options that were set before."""
        chosen = [reset_options(options, "fen", "color") for options in self._options]
        fens = [options["fen"] for options in chosen if "fen" in options]
        if len(fens) not in (0, self.num_envs):
            raise ValueError(f"the option 'fen' is set for {len(fens)} of {self.num_envs} games")
        seed = self._seeds[0]
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self.games.reset(seed, fens)
        colors = [check_color(options.get("color", self._color)) for options in chosen]
        self._assign(np.ones(self.num_envs, dtype=np.bool_), colors)
        self._let_opponent_begin()
        self.reset_infos = [self._info(index) for index in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return self.games.observations.copy()

    def _assign(self, which: NDArray[np.bool_], colors: Sequence[str]) -> None:
        """Give the agent its side in new games."""
        # Always drawn, so that the same seed gives the same games with any colour.
        toss = self._rng.integers(2, size=self.num_envs)
        fixed = np.array([COLORS.index(color) for color in colors])  # white, black, random
        sides = np.where(fixed == 2, toss, fixed == 0)
        self._agent[which] = sides[which]

    def _let_opponent_begin(self) -> None:
        """Let the opponent move in games that begin with its turn; their rewards are nobody's."""
        for _ in range(ATTEMPTS):
            mask = self.games.to_move != self._agent
            if not mask.any():
                return
            self.games.step(self._opponent.actions(self.games, mask, self._rng))
        raise ValueError(f"the opponent's first move ended the game in each of {ATTEMPTS} attempts")

    def step_async(self, actions: Array) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = np.asarray(actions)

    def step_wait(self) -> tuple[Array, Array, NDArray[np.bool_], list[dict[str, Any]]]:
        """Make the agent's move in every game, and the opponent's replies."""
        games = self.games
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        games.step(integer_actions(self._actions))
        rewards = games.rewards.copy()
        dones = self._record_endings(infos)
        # An ended game is already the next one: its beginning is played below.
        mask = (games.to_move != self._agent) & ~dones
        if mask.any():
            games.step(self._opponent.actions(games, mask, self._rng))
            rewards += games.opponent_rewards
            dones |= self._record_endings(infos)
        if dones.any():
            self._assign(dones, [self._color] * self.num_envs)
            self._let_opponent_begin()
            for index in np.flatnonzero(dones):
                self.reset_infos[index] = self._info(int(index))
        if self._fens:
            for index in np.flatnonzero(~dones):
                infos[index]["fen"] = games.fen(int(index))
        return games.observations.copy(), rewards, dones, infos

    def _record_endings(self, infos: list[dict[str, Any]]) -> NDArray[np.bool_]:
        """Fill in the infos of the games that ended with the last step; return which, [N]."""
        games = self.games
        ended = games.terminations | games.truncations
        indices = np.flatnonzero(ended).tolist()
        for index, last in zip(indices, games.final_observations(indices), strict=True):
            truncated = bool(games.truncations[index])
            infos[index] = {
                "terminal_observation": last,
                "TimeLimit.truncated": truncated,
                "ending": ENDINGS[games.endings[index]],
                "fen": games.final_fen(index),
            }
            if not truncated:
                sign = 1 if self._agent[index] else -1
                infos[index]["result"] = sign * int(games.results[index])
        return ended

    def _info(self, index: int) -> dict[str, Any]:
        """The position and the agent's colour in one game."""
        color = "white" if self._agent[index] else "black"
        return {"fen": self.games.fen(index), "color": color}

    # --- What SB3 asks a VecEnv about its environments ---

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the agent's legal actions in all games, bool [N, A]."""
        return self._envs.action_masks()

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Answer "action_masks", the only method, for these games."""
        if method_name != "action_masks":
            raise AttributeError(f"the games have no method {method_name!r}, only 'action_masks'")
        masks = self.action_masks()
        return [masks[index] for index in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of this environment, once for each game."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse: the games have no attributes of their own."""
        raise AttributeError(f"the games have no attribute {attr_name!r} to set")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """No game is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Close the opponent if it was given as a specification, such as "stockfish,depth=1"."""
        if self._made is not None:
            self._made.close()


class ModelPlayer:
    """A trained model of SB3 or sb3-contrib as a `Player`.

    Args:
        model: Any object with `predict(observation, deterministic=...)`; a MaskablePPO gets the
            mask, too.
        observation: Layout of its observations.
        actions: Layout of its actions.
        name: Shown in results.
        deterministic: Whether it plays its best action, or samples.
    """

    def __init__(
        self,
        model: Any,
        *,
        observation: str,
        actions: str = "az4672",
        name: str = "model",
        deterministic: bool = True,
    ) -> None:
        """Wrap `model`."""
        self.name = name
        self._model, self._deterministic = model, deterministic
        self._observation, self._layout = observation, actions
        self._masked = "action_masks" in inspect.signature(model.predict).parameters

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Ask the model; an illegal action of a model without masks raises MoveError."""
        masks = {"action_masks": game.action_mask(self._layout)} if self._masked else {}
        action, _ = self._model.predict(
            game.encode(self._observation), deterministic=self._deterministic, **masks
        )
        return Decision(game.move_of(int(action), self._layout))

    def new_game(self) -> None:
        """Do nothing: there is no state between games."""

    def close(self) -> None:
        """Do nothing: there are no resources."""
