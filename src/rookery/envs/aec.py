"""PettingZoo AEC environment: two agents take turns in one game of chess."""

from __future__ import annotations

from typing import Any, Unpack

import gymnasium
import numpy as np
from numpy.typing import NDArray

from rookery.base.extras import how_to_install
from rookery.envs.episode import AGENTS, Episode, EpisodeOptions, agent_of, reset_options, side_of
from rookery.envs.render import RENDER_FPS, RENDER_MODES, Renderer
from rookery.envs.spaces import action_space, masked_observation_space

try:
    from pettingzoo import AECEnv
except ImportError as error:
    raise ImportError(
        f"the PettingZoo environment needs pettingzoo; install it with: {how_to_install('envs')}"
    ) from error


class ChessAECEnv(AECEnv):  # type: ignore[misc]
    """Chess for two agents, "player_0" (White) and "player_1" (Black).

    ## Action space
    `Discrete(A)` for both: the moves of `actions` in the mover's orientation.

    ## Observation space
    `Dict`: "observation" (the layout `observation`, float32) and "action_mask" (int8 [A], the
    legal actions; all 0 for the waiting agent and after the end). The waiting agent sees the
    position as if it were its turn, where that is possible.

    ## Rewards
    As defined by `rewards`, including interim rewards, for each agent and accumulated between its
    turns.

    ## Starting state, episode end
    As `rookery/Chess-v0` (`chess_env.py`), with the same options. If Black is to move in the start
    position, "player_1" acts first. With `on_illegal="penalty"` an agent acts again after an
    illegal action. Both agents' infos contain "fen" and, at the end, "ending" and
    "result".

    ## Version history
    - v0: first version
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (PettingZoo declares it like this)
        "name": "rookery_chess_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self, *, render_mode: str | None = None, **options: Unpack[EpisodeOptions]
    ) -> None:
        """Set the options (`EpisodeOptions`); by default an illegal action raises."""
        super().__init__()
        self._renderer = Renderer(render_mode)
        options.setdefault("on_illegal", "raise")
        self.episode = Episode(**options)
        self.render_mode = render_mode
        self.possible_agents = list(AGENTS)
        self.observation_spaces = {
            agent: masked_observation_space(self.episode.observation, self.episode.actions)
            for agent in AGENTS
        }
        self.action_spaces = {agent: action_space(self.episode.actions) for agent in AGENTS}
        self._rng = np.random.default_rng()

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        """Return the agent's observation space, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        """Return the agent's action space, always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game; `options` may hold "fen" for this game."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        # PettingZoo's own api_test sends "options".
        chosen = reset_options(options, "fen", ignored=("options",))
        self.episode.begin(self._rng, chosen.get("fen"))
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {}
        self._update_infos()
        self.agent_selection = agent_of(self.episode.game.turn)
        self._skip_agent_selection = None
        self._renderer.show(self.episode.game)

    def observe(self, agent: str) -> dict[str, Any]:
        """Return an agent's observation."""
        side = side_of(agent)
        mask = self.episode.mask() & (side == self.episode.game.turn)
        return {"observation": self.episode.encode_for(side), "action_mask": mask.astype(np.int8)}

    def step(self, action: int | np.integer[Any] | None) -> None:
        """Take the selected agent's action; None once its game is over."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError(f"{agent} must choose an action: its game is not over")
        turn = self.episode.act(action)
        self._renderer.show(self.episode.game)
        self._cumulative_rewards[agent] = 0.0
        self.rewards = turn.by_agent()
        if self.episode.over:
            for each in AGENTS:
                self.terminations[each] = self.episode.termination is not None
                self.truncations[each] = self.episode.truncated
        self._update_infos()
        self.agent_selection = agent_of(self.episode.game.turn)
        self._accumulate_rewards()

    def _update_infos(self) -> None:
        """Tell both agents the position, and the ending if there is one."""
        fen = self.episode.game.fen()
        for agent in AGENTS:
            self.infos[agent] = {"fen": fen, **self.episode.ending_info(side_of(agent))}

    def render(self) -> str | NDArray[np.uint8] | None:
        """Draw the board, White below, in the render mode."""
        return self._renderer.render(self.episode.game)

    def close(self) -> None:
        """Close the window, and the book and the tables that were opened here."""
        self._renderer.close()
        self.episode.close()

    def __str__(self) -> str:
        """Return the environment's name, as PettingZoo's wrappers print it."""
        return str(self.metadata["name"])


def env(**options: Any) -> AECEnv:
    """Make the environment with PettingZoo's usual safety wrappers."""
    from pettingzoo.utils import wrappers

    return wrappers.OrderEnforcingWrapper(ChessAECEnv(**options))


raw_env = ChessAECEnv
