"""RLlib: chess as a `MultiAgentEnv` for its new API stack, a masked PPO module, agents as players.

    config = (
        PPOConfig()
        .environment(ChessMultiAgentEnv, env_config={"observation": "vector66"})
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, episode, **_: "shared")
        .rl_module(rl_module_spec=masked_module_spec("shared"))
    )

Here both sides share one policy (self-play); with two policies they learn separately. A trained
policy plays as `ModulePlayer(algorithm.get_module("shared"), observation="vector66")`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from rookery._core import Game
from rookery.base.extras import how_to_install
from rookery.envs.episode import AGENTS, Episode, agent_of, reset_options
from rookery.envs.spaces import action_space, observation_space
from rookery.players.base import Decision, Limits
from rookery.players.policy import softmax

try:
    from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
    from ray.rllib.core.rl_module.rl_module import RLModule, RLModuleSpec
    from ray.rllib.env.multi_agent_env import MultiAgentEnv
except ImportError as error:
    raise ImportError(
        f"the RLlib environment needs ray; install it with: {how_to_install('rllib')}"
    ) from error

ByAgent = dict[Any, Any]  # by agent, or "__all__"


class ChessMultiAgentEnv(MultiAgentEnv):
    """Chess for two agents in turns, "player_0" (White) and "player_1" (Black).

    ## Spaces
    Per agent: `Dict` with "observations" (the layout `observation`) and "action_mask" (float32
    [A], 1 where legal), as expected by RLlib's `ActionMaskingTorchRLModule`, and `Discrete(A)`.
    Only the agent to move gets an observation, except that the last step of a game gives one to
    both, which RLlib needs to complete their trajectories.

    ## Rewards, starting state, episode end
    As in `rookery/Chess-v0`, for each agent, with the same options given as `env_config`
    (observation, actions, rewards, claims, draw_after_plies, max_plies, start, on_illegal, book,
    tablebases, tablebase_metric). After an illegal action, which costs `rewards.illegal`, the same
    agent acts again; `on_illegal="raise"` needs `disable_env_checking=True`, since RLlib tries a
    random action at first.

    ## Version history
    - v0: first version
    """

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        """Set the options of `Episode` from `env_config`."""
        super().__init__()  # type: ignore[no-untyped-call]
        # RLlib passes an EnvContext: a dict with additional attributes.
        self.episode = Episode(**dict(config or {}))
        self.agents = self.possible_agents = list(AGENTS)
        mask = gymnasium.spaces.Box(0.0, 1.0, (self.episode.action_count,), dtype=np.float32)
        self.observation_spaces = {
            agent: gymnasium.spaces.Dict(
                {"observations": observation_space(self.episode.observation), "action_mask": mask}
            )
            for agent in AGENTS
        }
        self.action_spaces = {agent: action_space(self.episode.actions) for agent in AGENTS}
        self._rng = np.random.default_rng()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ByAgent, ByAgent]:
        """Begin a game, from options["fen"] if given; the side to move gets its observation."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        self.episode.begin(self._rng, reset_options(options, "fen").get("fen"))
        side = self.episode.game.turn
        return {agent_of(side): self._observe(side)}, {agent_of(side): self._info(side)}

    def step(  # type: ignore[override] # RLlib's own class differs from Gymnasium's, too
        self, action_dict: ByAgent
    ) -> tuple[ByAgent, ByAgent, ByAgent, ByAgent, ByAgent]:
        """Take the action of the agent to move, the only one allowed in `action_dict`."""
        agent = agent_of(self.episode.game.turn)
        if set(action_dict) != {agent}:
            raise ValueError(f"it is {agent}'s turn, but actions came from {sorted(action_dict)}")
        turn = self.episode.act(action_dict[agent])
        sides = (True, False) if self.episode.over else (self.episode.game.turn,)
        return (
            {agent_of(side): self._observe(side) for side in sides},
            turn.by_agent(),
            {"__all__": self.episode.termination is not None},
            {"__all__": self.episode.truncated},
            {agent_of(side): self._info(side) for side in sides},
        )

    def _info(self, side: bool) -> dict[str, Any]:
        """The position and, at the end, the ending."""
        return {"fen": self.episode.game.fen(), **self.episode.ending_info(side)}

    def _observe(self, side: bool) -> dict[str, Any]:
        """Return a side's observation; the mask is all 1 when it has nothing to choose.

        An all-zero mask would turn all logits of the last, unused observation into minus infinity,
        and the loss of the whole batch into NaN.
        """
        if self.episode.over or side != self.episode.game.turn:
            mask = np.ones(self.episode.action_count, dtype=np.float32)
        else:
            mask = self.episode.mask().astype(np.float32)
        return {"observations": self.episode.encode_for(side), "action_mask": mask}

    def render(self) -> None:
        """Draw nothing; the PettingZoo environment has a text board."""

    def close(self) -> None:
        """Close the book and the tables, if they were opened here."""
        self.episode.close()


def masked_module_spec(policy: str, **options: Any) -> MultiRLModuleSpec:
    """A PPO module that never samples an illegal action, for one shared policy.

    `options` are further arguments of `RLModuleSpec`, such as `model_config`.
    """
    from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

    spec = RLModuleSpec(module_class=ActionMaskingTorchRLModule, **options)
    return MultiRLModuleSpec(rl_module_specs={policy: spec})


class ModulePlayer:
    """A policy of RLlib's new API stack as a `Player`.

    Args:
        module: The policy, `algorithm.get_module(name)`; it takes this file's observations.
        observation: Layout of its observations.
        actions: Layout of its actions.
        name: Shown in results.
        temperature: 0 plays the largest logit; above, moves are drawn from the softmax. A module
            that returns actions instead of logits (DQN) chooses itself.
    """

    def __init__(
        self,
        module: RLModule,
        *,
        observation: str,
        actions: str = "az4672",
        name: str = "module",
        temperature: float = 0.0,
    ) -> None:
        """Wrap `module`."""
        self.name = name
        self._module, self._temperature = module, temperature
        self._observation, self._actions = observation, actions

    @classmethod
    def load(cls, checkpoint: str | Path, policy: str, **options: Any) -> ModulePlayer:
        """The player of a policy in a folder that `algorithm.save_to_path` wrote."""
        folder = Path(checkpoint).absolute() / "learner_group" / "learner" / "rl_module" / policy
        if not folder.is_dir():
            raise FileNotFoundError(f"{checkpoint} has no policy {policy!r} (looked for {folder})")
        return cls(RLModule.from_checkpoint(folder), **options)

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Ask the module once; illegal actions are masked."""
        import torch

        legal = game.legal_actions(self._actions)
        mask = game.action_mask(self._actions).astype(np.float32)
        observation = {
            "observations": torch.from_numpy(game.encode(self._observation)[None]),
            "action_mask": torch.from_numpy(mask[None]),
        }
        with torch.inference_mode():
            answer = self._module.forward_inference({"obs": observation})
        if "action_dist_inputs" in answer:
            logits = answer["action_dist_inputs"][0].numpy()[legal]
            place = int(logits.argmax())
            if self._temperature > 0:
                place = int(rng.choice(len(legal), p=softmax(logits, self._temperature)))
            action = int(legal[place])
        else:
            action = int(answer["actions"][0])
        return Decision(game.move_of(action, self._actions))

    def new_game(self) -> None:
        """Do nothing: there is no state between games."""

    def close(self) -> None:
        """Do nothing: there are no resources."""
