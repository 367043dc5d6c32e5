from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("pettingzoo", reason="needs pettingzoo: the extra 'envs'")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # about PettingZoo's own environments
    from pettingzoo.test import api_test, seed_test

from rookery import MoveError
from rookery.envs import aec
from rookery.envs.aec import ChessAECEnv


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_plies": 30},
        {"observation": "vector69", "actions": "az4673", "draw_after_plies": 40},
        {"observation": "planes119", "start": "KRvK:random"},
    ],
)
def test_pettingzoo_accepts_the_environment(options) -> None:
    api_test(aec.env(**options), num_cycles=300)
    api_test(aec.raw_env(**options), num_cycles=300)


@pytest.mark.filterwarnings("ignore")
def test_pettingzoo_finds_seeds_obeyed() -> None:
    seed_test(lambda: aec.env(start="random:2-6"), num_cycles=100)


def act(env: ChessAECEnv, *moves: str) -> None:
    for move in moves:
        env.step(env.episode.game.action_of(move, env.episode.actions))


def test_agents_alternate_and_masks_belong_to_the_one_to_move() -> None:
    env = ChessAECEnv()
    env.reset(seed=0)
    assert env.agent_selection == "player_0"
    assert env.observe("player_0")["action_mask"].sum() == 20
    assert env.observe("player_1")["action_mask"].sum() == 0
    act(env, "e2e4")
    assert env.agent_selection == "player_1"
    observation, reward, terminated, truncated, _ = env.last()
    assert observation["action_mask"].sum() == 20 and observation["action_mask"].dtype == np.int8
    assert (reward, terminated, truncated) == (0.0, False, False)


def test_the_waiting_agent_sees_the_position_from_its_own_side() -> None:
    env = ChessAECEnv(observation="planes12")
    env.reset(seed=0)
    both = [env.observe(agent)["observation"] for agent in ("player_0", "player_1")]
    assert np.array_equal(*both)  # the starting position is the same for both
    act(env, "e2e4")
    assert env.observe("player_0")["observation"][0, 3, 4] == 1  # own pawn, fourth rank
    assert env.observe("player_1")["observation"][6, 4, 4] == 1  # the opponent's, fifth rank


def test_the_waiting_agent_that_gives_check_sees_what_the_other_sees() -> None:
    env = ChessAECEnv(start=["4k3/8/8/8/8/8/8/3QK3 w - - 0 1"])
    env.reset(seed=0)
    act(env, "d1e2")
    seen = [env.observe(agent)["observation"] for agent in ("player_0", "player_1")]
    assert np.array_equal(*seen)


def test_both_agents_learn_of_the_end() -> None:
    env = ChessAECEnv(rewards={"win": 2.0, "loss": -3.0})
    env.reset(seed=0)
    act(env, "f2f3", "e7e5", "g2g4", "d8h4")
    seen = {}
    for agent in env.agent_iter():
        _, reward, terminated, truncated, info = env.last()
        assert terminated and not truncated
        seen[agent] = (reward, info["ending"], info["result"])
        env.step(None)
    assert seen == {"player_0": (-3.0, "checkmate", -1), "player_1": (2.0, "checkmate", 1)}
    assert env.agents == []


def test_truncation_has_no_result() -> None:
    env = ChessAECEnv(max_plies=2)
    env.reset(seed=0)
    act(env, "e2e4", "e7e5")
    _, reward, terminated, truncated, info = env.last()
    fen = env.episode.game.fen()
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info == {"ending": "ply_cap", "fen": fen}


def test_illegal_actions() -> None:
    env = ChessAECEnv()
    env.reset(seed=0)
    with pytest.raises(MoveError, match="illegal"):
        env.step(0)
    with pytest.raises(ValueError, match="must choose"):
        env.step(None)
    env = ChessAECEnv(on_illegal="penalty", rewards={"illegal": -5.0})
    env.reset(seed=0)
    env.step(0)
    assert env.agent_selection == "player_0" and env.last()[1] == -5.0


def test_actions_are_integers_and_options_known() -> None:
    env = ChessAECEnv()
    env.reset(seed=0)
    with pytest.raises(TypeError, match="must be an integer"):
        env.step(877.5)
    with pytest.raises(ValueError, match=r"'color'; known is 'fen'"):
        env.reset(options={"color": "white"})
    with pytest.raises(ValueError, match="rookery/KPK-v0"):
        ChessAECEnv(observation="kpk3", actions="kpk", start="kpk:all")


def test_black_may_begin() -> None:
    env = ChessAECEnv(start=["4k3/8/8/8/8/8/8/3QK3 b - - 0 1"], render_mode="ansi")
    env.reset(seed=0)
    assert env.agent_selection == "player_1"
    assert env.render().endswith("Black to move")
    env.reset(options={"fen": "4k3/8/8/8/8/8/8/3QK3 w - - 0 1"})
    assert env.agent_selection == "player_0"
    with pytest.raises(ValueError, match="player_2"):
        env.observe("player_2")
