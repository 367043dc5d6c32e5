from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("ray.rllib", reason="needs ray: the extra 'rllib'")

from rookery import MoveError
from rookery.envs.rllib import ChessMultiAgentEnv

# One iteration of PPO in a process of its own: Ray leaves threads and signal handlers behind.
ITERATION = """
import json, logging, sys
import ray
from ray.rllib.algorithms.ppo import PPOConfig
from rookery.envs.rllib import ChessMultiAgentEnv, masked_module_spec

ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
config = (
    PPOConfig()
    .environment(
        ChessMultiAgentEnv,
        env_config={"observation": "vector66", "max_plies": 60, "on_illegal": "raise"},
        disable_env_checking=True,
    )
    .env_runners(num_env_runners=0)
    .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, episode, **_: "shared")
    .rl_module(rl_module_spec=masked_module_spec("shared", model_config={"fcnet_hiddens": [32]}))
    .training(train_batch_size_per_learner=256, minibatch_size=64, num_epochs=1)
)
algorithm = config.build_algo()
result = algorithm.train()
algorithm.stop()
ray.shutdown()
learner = result["learners"]["shared"]
print(json.dumps({
    "steps": int(result["env_runners"]["num_env_steps_sampled"]),
    "loss": float(learner["total_loss"]),
    "entropy": float(learner["entropy"]),
}))
"""


def act(env: ChessMultiAgentEnv, *moves: str):
    for move in moves:
        game = env.episode.game
        agent = "player_0" if game.turn else "player_1"
        result = env.step({agent: game.action_of(move)})
    return result


def test_one_agent_at_a_time() -> None:
    env = ChessMultiAgentEnv({"observation": "vector66"})
    observations, _ = env.reset(seed=0)
    assert list(observations) == ["player_0"]
    assert observations["player_0"] in env.observation_spaces["player_0"]
    assert observations["player_0"]["action_mask"].sum() == 20
    observations, rewards, terminateds, truncateds, _ = act(env, "e2e4")
    assert list(observations) == ["player_1"]
    assert rewards == {"player_0": 0.0, "player_1": 0.0}
    assert terminateds == truncateds == {"__all__": False}
    with pytest.raises(ValueError, match="player_1's turn"):
        env.step({"player_0": 0})


def test_the_last_step_is_for_both() -> None:
    env = ChessMultiAgentEnv({"rewards": {"win": 3.0}})
    env.reset(seed=0)
    observations, rewards, terminateds, _, infos = act(env, "f2f3", "e7e5", "g2g4", "d8h4")
    assert set(observations) == {"player_0", "player_1"}
    assert rewards == {"player_0": -1.0, "player_1": 3.0} and terminateds["__all__"]
    assert infos["player_1"] == {"ending": "checkmate", "result": 1}
    for agent, observation in observations.items():
        assert observation in env.observation_spaces[agent]


def test_truncation_and_illegal_actions() -> None:
    env = ChessMultiAgentEnv({"max_plies": 2})
    env.reset(seed=0)
    observations, _, terminateds, truncateds, infos = act(env, "e2e4", "e7e5")
    assert (terminateds["__all__"], truncateds["__all__"]) == (False, True)
    assert set(observations) == {"player_0", "player_1"}
    assert infos["player_0"] == {"ending": "ply_cap"}
    env.reset(seed=0)
    observations, rewards, *_ = env.step({"player_0": 0})
    assert list(observations) == ["player_0"] and rewards["player_0"] == -1.0
    env = ChessMultiAgentEnv({"on_illegal": "raise"})
    env.reset(seed=0)
    with pytest.raises(MoveError, match="illegal"):
        env.step({"player_0": 0})


def test_actions_are_integers_and_options_known() -> None:
    env = ChessMultiAgentEnv()
    env.reset(seed=0, options={})
    with pytest.raises(TypeError, match="must be an integer"):
        env.step({"player_0": np.float32(877.5)})
    env.reset(options={"fen": "4k3/8/8/8/8/8/8/3QK3 w - - 0 1"})
    assert env.episode.game.piece_count() == 3
    with pytest.raises(ValueError, match=r"'color'; known is 'fen'"):
        env.reset(options={"color": "white"})
    with pytest.raises(ValueError, match="rookery/KPK-v0"):
        ChessMultiAgentEnv({"actions": "kpk", "start": "kpk:all"})


def test_closing_closes_what_was_opened(monkeypatch) -> None:
    closed = []
    env = ChessMultiAgentEnv()
    monkeypatch.setattr(env.episode, "close", lambda: closed.append(True))
    env.close()
    assert closed == [True]


def test_seeds() -> None:
    env = ChessMultiAgentEnv({"start": "random:4"})
    first = env.reset(seed=3)[0]["player_0"]["observations"]
    assert np.array_equal(first, env.reset(seed=3)[0]["player_0"]["observations"])
    assert not np.array_equal(first, env.reset(seed=4)[0]["player_0"]["observations"])


@pytest.mark.slow
def test_ppo_iteration() -> None:
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ITERATION],
        capture_output=True,
        text=True,
        timeout=280,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads(done.stdout.strip().splitlines()[-1])
    assert result["steps"] >= 256
    assert np.isfinite(result["loss"])
    # Without the mask a policy over 4672 actions would begin at an entropy of 8.4.
    assert 1.0 < result["entropy"] < 4.0
