from __future__ import annotations

import numpy as np
import pytest

from rookery import Game, VectorGames
from rookery.envs.opponents import batch_opponent
from rookery.nets import make_network
from rookery.nets.evaluator import TorchEvaluator
from rookery.players.bots import BotPlayer
from rookery.players.policy import PolicyPlayer

SOME = np.array([True, False, True, True])


def games(observation: str = "vector66") -> VectorGames:
    return VectorGames(4, observation, seed=3, random_plies=(4, 9))


def test_a_network_plays_its_policy_in_all_games_at_once() -> None:
    player = PolicyPlayer(
        TorchEvaluator(make_network("mlp", "vector66", "az4672", {"hidden": [8]}))
    )
    rng = np.random.default_rng(1)
    for observation in ("vector66", "planes12"):  # its own layout, and one encoded from FENs
        played = games(observation)
        actions = batch_opponent(player, observation, "az4672").actions(played, SOME, rng)
        assert actions[1] == -1
        for index in np.flatnonzero(SOME):
            game = Game(played.fen(int(index)))
            assert game.move_of(int(actions[index])) == player.choose(game, rng).move


def test_a_temperature_samples() -> None:
    player = PolicyPlayer(
        TorchEvaluator(make_network("mlp", "vector66", "az4672", {"hidden": [8]})), temperature=5.0
    )
    rng = np.random.default_rng(1)
    opponent = batch_opponent(player, "vector66", "az4672")
    assert len({tuple(opponent.actions(games(), SOME, rng)) for _ in range(5)}) > 1


def test_layouts_must_fit() -> None:
    with_past = TorchEvaluator(make_network("mlp", "planes119", "az4672", {"hidden": [8]}))
    with pytest.raises(ValueError, match="choose observation='planes119'"):
        batch_opponent(PolicyPlayer(with_past), "vector66", "az4672")
    claims = TorchEvaluator(make_network("mlp", "vector66", "az4673", {"hidden": [8]}))
    with pytest.raises(ValueError, match="'az4673', the games have 'az4672'"):
        batch_opponent(PolicyPlayer(claims), "vector66", "az4672")


def test_bots_and_players_choose_legal_moves() -> None:
    rng = np.random.default_rng(1)
    for what in ("greedy", BotPlayer("greedy-safe"), "random"):
        played = games()
        actions = batch_opponent(what, "vector66", "az4672").actions(played, SOME, rng)
        assert actions[1] == -1
        played.step(actions)
        assert played.plies.tolist() == [1, 0, 1, 1]
