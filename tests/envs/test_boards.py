"""Environments on boards of other sizes."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test

import rookery.envs  # noqa: F401 (registers the environments)
from rookery._core import Game
from rookery.envs.aec import ChessAECEnv


def test_gymnasium_accepts_a_small_board() -> None:
    env = gymnasium.make("rookery/Chess-v0", board="gardner", opponent="greedy")
    check_env(env.unwrapped, skip_render_check=True)
    _, info = env.reset(seed=1)
    assert Game(info["fen"]).board == "gardner"
    over = False
    while not over:
        action = env.action_space.sample(mask=info["action_mask"])
        _, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    assert info["result"] in (-1, 0, 1)


def test_pettingzoo_accepts_a_small_board() -> None:
    api_test(ChessAECEnv(board="4x5"), num_cycles=50)


def test_many_games_on_a_small_board() -> None:
    envs = gymnasium.make_vec("rookery/SelfPlay-v0", 4, board="losalamos", fens=True)
    _, infos = envs.reset(seed=1)
    assert [Game(fen).board for fen in infos["fen"]] == ["losalamos"] * 4


def test_pictures_have_the_size_of_the_board() -> None:
    env = gymnasium.make("rookery/Chess-v0", board="4x5", color="white", render_mode="ansi")
    env.reset(seed=1)
    rows = str(env.render()).split("\n")
    assert rows[0] == "5 r q k r" and rows[5] == "  a b c d"
    pytest.importorskip("pygame")
    env = gymnasium.make("rookery/Chess-v0", board="4x5", render_mode="rgb_array")
    env.reset(seed=1)
    assert np.asarray(env.render()).shape == (300, 240, 3)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="bad board"):
        gymnasium.make("rookery/Chess-v0", board="gardener")
    with pytest.raises(ValueError, match="not on gardner"):
        gymnasium.make("rookery/Chess-v0", board="gardner", opponent="rookery,depth=1")
    env = gymnasium.make("rookery/Chess-v0", board="gardner")
    with pytest.raises(ValueError, match="not of 'gardner'"):
        env.reset(options={"fen": Game().fen()})
