"""PettingZoo AEC environment of blind chess: each agent senses, then moves."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from rookery._core import BLIND_PLANES, BlindGame, MoveError
from rookery.base.extras import how_to_install
from rookery.blind.env import ACTIONS, act, action_mask, board_text

try:
    from pettingzoo import AECEnv
except ImportError as error:
    raise ImportError(
        f"the PettingZoo environment needs pettingzoo; install it with: {how_to_install('envs')}"
    ) from error

AGENTS = ("player_0", "player_1")  # White, Black


class BlindChessAECEnv(AECEnv):  # type: ignore[misc]
    """Blind chess for two agents; spaces and rewards as in `rookery/BlindChess-v0`.

    The observation is a `Dict` of "observation" (float32 [48, 8, 8]) and "action_mask" (int8, all 0
    for the waiting agent). An agent is selected twice in its turn: to sense, then to move. An
    illegal action raises `MoveError`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (PettingZoo declares it like this)
        "name": "rookery_blind_chess_v0",
        "render_modes": ["ansi"],
        "is_parallelizable": False,
        "render_fps": 1,
    }

    def __init__(self, *, turn_limit: int = 0, render_mode: str | None = None) -> None:
        """Set the limit of full turns (0: none) and the render mode."""
        super().__init__()
        if render_mode not in (None, "ansi"):
            raise ValueError(f"render_mode is {render_mode!r}; it must be None or 'ansi'")
        self.render_mode = render_mode
        self._turn_limit = turn_limit
        self.possible_agents = list(AGENTS)
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(0, 1, (BLIND_PLANES, 8, 8), dtype=np.float32),
                    "action_mask": spaces.Box(0, 1, (ACTIONS,), dtype=np.int8),
                }
            )
            for agent in AGENTS
        }
        self.action_spaces: dict[str, gymnasium.Space[Any]] = {
            agent: spaces.Discrete(ACTIONS) for agent in AGENTS
        }

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        """Return the agent's observation space, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        """Return the agent's action space, always the same object."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game; nothing in it is random."""
        self.game = BlindGame(turn_limit=self._turn_limit)
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self.agent_selection = AGENTS[0]
        self._skip_agent_selection = None

    def observe(self, agent: str) -> dict[str, Any]:
        """Return what an agent knows."""
        white = agent == AGENTS[0]
        planes = self.game.knowledge(white).planes()
        return {"observation": planes, "action_mask": action_mask(self.game, white)}

    def step(self, action: int | np.integer[Any] | None) -> None:
        """Take the selected agent's sense or move; None once its game is over."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        white = agent == AGENTS[0]
        if action is None or not action_mask(self.game, white)[int(action)]:
            raise MoveError(f"{agent}: {action} is not a legal {self.game.phase} action")
        act(self.game, int(action))
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        outcome = self.game.outcome()
        if outcome is not None:
            ending, winner = outcome
            for each in AGENTS:
                result = 0 if winner is None else 1 if winner == (each == AGENTS[0]) else -1
                self.rewards[each] = float(result)
                self.terminations[each] = True
                self.infos[each] = {"ending": ending, "result": result}
        self.agent_selection = AGENTS[0 if self.game.white_to_move else 1]
        self._accumulate_rewards()

    def render(self) -> str | None:
        """Draw what the selected agent knows, in the render mode "ansi"."""
        knowledge = self.game.knowledge(self.agent_selection == AGENTS[0])
        return board_text(knowledge) if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Do nothing."""

    def __str__(self) -> str:
        """Return the environment's name, as PettingZoo's wrappers print it."""
        return str(self.metadata["name"])


def env(**options: Any) -> AECEnv:
    """Make the environment with PettingZoo's usual safety wrappers."""
    from pettingzoo.utils import wrappers

    return wrappers.OrderEnforcingWrapper(BlindChessAECEnv(**options))


raw_env = BlindChessAECEnv
