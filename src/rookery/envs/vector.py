"""Gymnasium vector environment `rookery/SelfPlay-v0`: many games at once, stepped in C++."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from rookery._core import ENDINGS, STANDARD_BOARD, VectorGames, action_count
from rookery.data.starts import StartPositions, start_positions
from rookery.envs.episode import reset_options
from rookery.envs.rewards import Rewards, rewards_of
from rookery.envs.spaces import action_space, observation_space

Array = NDArray[Any]


class ChessVectorEnv(VectorEnv[Array, Array, Array]):
    """Self-play in `num_envs` games: every action is one ply of the side to move in its game.

    There is no opponent: the learner acts for both sides, always seeing the position of the side to
    move. For games against an opponent use `gymnasium.make_vec("rookery/Chess-v0", ...)`.

    ```python
    gymnasium.make_vec("rookery/SelfPlay-v0", 64, observation="planes19")
    ```

    ## Spaces
    As `rookery/Chess-v0`, batched: observations [N, *shape] of float32 (or uint8, for layouts that
    have it), actions [N]. The action -1 leaves a game as it is: act in some games only, and let
    `games.bot_actions` or another player act in the others (`envs/sb3.py` does so). With
    `copy=False` the arrays returned are views that the next call overwrites; copying is safe and
    the default.

    ## Legal actions
    `infos["legal_actions"]` (int32 [total]) and `infos["legal_offsets"]` (int64 [N + 1]): game i
    has `legal_actions[legal_offsets[i]:legal_offsets[i + 1]]`. Dense masks are A wide and mostly
    zeros; they are made on demand by `action_masks()` (bool [N, A]), and put into
    `infos["action_mask"]` (int8 [N, A]) with `masks=True`. With `fens=True`, `infos["fen"]` (object
    [N]) has the positions.

    ## Rewards
    float32 [N], for the side that moved; `infos["opponent_reward"]` is the other side's reward for
    the same ply (its loss when it is mated). Interim rewards for book moves and tablebase progress
    are only available in `rookery/Chess-v0`.

    ## Endings
    Games that end restart within the same step (`AutoresetMode.SAME_STEP`): the observation
    returned is the first one of the new game, and for the games in `infos["_final_obs"]` (bool [N])
    the last one of the old game is in `infos["final_obs"]` (object [N]) and its ending in
    `infos["final_info"]`: "ending" (reason), "result" (+1 White won, 0 drawn, -1 Black won; not
    set, so absent from "_result", if truncated), "plies" and "fen". The options `claims`,
    `draw_after_plies`, `max_plies`, `start` and `on_illegal` mean the same as in
    `rookery/Chess-v0`; here an illegal action raises by default.

    ## Seeding
    `reset(options={"fen": ...})` starts at this position, or at one FEN for each game, instead of
    `start`, this once. `reset(seed=...)` seeds all games; every game has its own random stream, and
    results do not depend on `threads`. `get_state` and `set_state` allow an exact resume.

    ## Version history
    - v0: first version
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium declares it like this)
        "render_modes": [],
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        *,
        observation: str = "planes19",
        actions: str = "az4672",
        rewards: Rewards | str | Mapping[str, float] = "default",
        claims: str | None = None,
        draw_after_plies: int = 0,
        max_plies: int = 0,
        promotion_wins: bool = False,
        board: str = STANDARD_BOARD,
        start: str | Sequence[str] | StartPositions = "standard",
        on_illegal: str = "raise",
        masks: bool = False,
        fens: bool = False,
        copy: bool = True,
        dtype: str = "float32",
        threads: int = 1,
        seed: int = 0,
        render_mode: str | None = None,
    ) -> None:
        """Set the options, explained in the class's docstring.

        `promotion_wins` is the rule of `rookery/KPK-v0`, for king and pawn against king only: a
        promotion wins, unless the new piece can be taken at once. The layouts `kpk` and `kpk3`
        require it.
        """
        if render_mode is not None:
            raise ValueError(f"render_mode is {render_mode!r}; the vector environment has none")
        sizes = rewards_of(rewards)
        if sizes.book or sizes.tablebase:
            raise ValueError(
                "the vector environment has no rewards for book moves and tablebase progress; "
                "use rookery/Chess-v0, or set both to 0"
            )
        if claims is None:
            claims = "action" if actions == "az4673" else "automatic"
        options: dict[str, Any] = start_positions(start, board).vector_options()
        self.games = VectorGames(
            num_envs,
            observation,
            actions,
            seed,
            claims=claims,
            win=sizes.win,
            loss=sizes.loss,
            draw=sizes.draw,
            move=sizes.move,
            illegal=sizes.illegal,
            on_illegal=on_illegal,
            max_plies=max_plies,
            draw_after_plies=draw_after_plies,
            promotion_wins=promotion_wins,
            dtype=dtype,
            threads=threads,
            **options,
        )
        self.num_envs = num_envs
        self.single_observation_space: gymnasium.Space[Any] = observation_space(observation, dtype)
        self.single_action_space: gymnasium.Space[Any] = action_space(actions)
        self.observation_space: gymnasium.Space[Any] = batch_space(
            self.single_observation_space, num_envs
        )
        self.action_space: gymnasium.Space[Any] = batch_space(self.single_action_space, num_envs)
        self._action_count = action_count(actions)
        self._masks = masks
        self._fens = fens
        self._copy = copy

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Restart all games; without a seed, the random streams continue.

        `options` may hold "fen", one for all games or one for each.
        """
        fen = reset_options(options, "fen").get("fen", [])
        super().reset(seed=seed)
        self.games.reset(seed, [fen] if isinstance(fen, str) else list(fen))
        return self._own(self.games.observations), self._infos()

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Make one ply in every game."""
        games = self.games
        games.step(integer_actions(actions))
        infos = self._infos()
        infos["opponent_reward"] = self._own(games.opponent_rewards)
        ended = games.terminations | games.truncations  # bool [N]
        if ended.any():
            self._add_final(infos, ended)
        return (
            self._own(games.observations),
            self._own(games.rewards),
            self._own(games.terminations),
            self._own(games.truncations),
            infos,
        )

    def _infos(self) -> dict[str, Any]:
        """Legal actions, sides to move and lengths of the current games."""
        games = self.games
        infos: dict[str, Any] = {
            "legal_actions": self._own(games.legal_actions),
            "legal_offsets": self._own(games.legal_offsets),
            "to_move": self._own(games.to_move),
            "plies": self._own(games.plies),
        }
        if self._masks:
            infos["action_mask"] = self.action_masks().astype(np.int8)
        if self._fens:
            infos["fen"] = np.array(games.fens(), dtype=object)
        return infos

    def _add_final(self, infos: dict[str, Any], ended: NDArray[np.bool_]) -> None:
        """Add the games that ended, in the format of Gymnasium's own vector environments."""
        games = self.games
        indices = np.flatnonzero(ended)
        final = np.full(self.num_envs, None, dtype=object)
        for index, observation in zip(
            indices, games.final_observations(indices.tolist()), strict=True
        ):
            final[index] = observation
        endings = np.full(self.num_envs, None, dtype=object)
        endings[indices] = [ENDINGS[code] for code in games.endings[indices]]
        fens = np.full(self.num_envs, None, dtype=object)
        fens[indices] = [games.final_fen(int(index)) for index in indices]
        infos["final_obs"], infos["_final_obs"] = final, ended
        infos["final_info"] = {
            "ending": endings,
            "_ending": ended,
            "result": games.results.copy(),
            "_result": games.terminations.copy(),
            "plies": games.lengths.copy(),
            "_plies": ended,
            "fen": fens,
            "_fen": ended,
        }
        infos["_final_info"] = ended

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions of all games as one mask, bool [N, A]."""
        offsets = self.games.legal_offsets
        rows = np.repeat(np.arange(self.num_envs), np.diff(offsets))
        masks = np.zeros((self.num_envs, self._action_count), dtype=np.bool_)
        masks[rows, self.games.legal_actions] = True
        return masks

    def get_state(self) -> bytes:
        """Return games and random streams, for an exact resume with the same options."""
        return self.games.get_state()

    def set_state(self, state: bytes) -> None:
        """Restore a state of `get_state`, including its observations."""
        self.games.set_state(state)

    def _own(self, array: Array) -> Array:
        """Copy a view of the core's memory, unless `copy=False`."""
        return array.copy() if self._copy else array


def integer_actions(actions: Array) -> NDArray[np.int64]:
    """The actions as `VectorGames.step` takes them; a TypeError if they are not integers."""
    actions = np.asarray(actions)
    if actions.dtype.kind not in "iu":  # converting would truncate 3.7 to another action
        raise TypeError(f"actions have the type {actions.dtype}; they must be integers")
    return np.ascontiguousarray(actions, dtype=np.int64)


def sample_legal(infos: Mapping[str, Any], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw a uniformly random legal action for every game from `infos`, int64 [N]."""
    offsets = infos["legal_offsets"]
    counts = np.diff(offsets)
    chosen = offsets[:-1] + (rng.random(len(counts)) * counts).astype(np.int64)
    return cast("NDArray[np.int64]", infos["legal_actions"][chosen].astype(np.int64))
