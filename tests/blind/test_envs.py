"""The Gymnasium and PettingZoo environments."""

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

import rookery.envs  # noqa: E402, F401 (registers the environments)


def test_gymnasium_checks_pass() -> None:
    from gymnasium.utils.env_checker import check_env

    check_env(gymnasium.make("rookery/BlindChess-v0").unwrapped, skip_render_check=True)


def test_random_episodes_end_with_a_result() -> None:
    env = gymnasium.make("rookery/BlindChess-v0", opponent="random", turn_limit=30)
    results = []
    for seed in range(12):
        _, info = env.reset(seed=seed)
        env.action_space.seed(seed)
        assert info["phase"] == "sense"
        over, reward, rewards = False, 0.0, 0.0
        while not over:
            before = info["phase"]
            action = env.action_space.sample(mask=info["action_mask"])
            observation, reward, over, truncated, info = env.step(action)
            rewards += float(reward)
            assert not truncated and observation.shape == (48, 8, 8)
            if not over:
                assert info["phase"] == ("move" if before == "sense" else "sense")
        assert rewards == info["result"]
        results.append(info["result"])
    assert len(set(results)) > 1


def test_an_illegal_action_costs_and_changes_nothing() -> None:
    env = gymnasium.make("rookery/BlindChess-v0", color="white").unwrapped
    observation, info = env.reset(seed=1)
    after, reward, over, _, same = env.step(65)
    assert reward == -1 and not over and np.array_equal(after, observation)
    assert same["phase"] == info["phase"] == "sense"
    assert "p p p p p p p p" in (env.__class__(render_mode="ansi", color="black").render() or "")


def test_pettingzoo_api() -> None:
    pytest.importorskip("pettingzoo")
    from pettingzoo.test import api_test

    from rookery.blind.aec import BlindChessAECEnv

    api_test(BlindChessAECEnv(turn_limit=20), num_cycles=300)


def test_agents_sense_then_move() -> None:
    pytest.importorskip("pettingzoo")
    from rookery._core import MoveError
    from rookery.blind.aec import env as make

    env = make()
    env.reset(seed=1)
    order = []
    for _ in range(6):
        order.append(env.agent_selection)
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(np.flatnonzero(mask)[0]))
    assert order == ["player_0"] * 2 + ["player_1"] * 2 + ["player_0"] * 2
    with pytest.raises(MoveError, match="not a legal sense action"):
        env.step(70)
