"""Matches during training: one set of rules for players, engines and policies."""

from __future__ import annotations

import io
from itertools import cycle

import chess.pgn
import numpy as np
import pytest
import torch

from rookery import Game
from rookery._core import NetworkMatch, NnueNetwork
from rookery.algorithms.engine_learning import new_weights, tensors_of
from rookery.learning.matches import (
    MAX_PLIES,
    OPENING_PLIES,
    engine_match,
    play_pairs,
    player_match,
    policy_match,
    search_player,
)
from rookery.nets import Network, make_network
from rookery.players.alphabeta import AlphaBetaPlayer
from rookery.players.base import Decision, Limits
from rookery.players.bots import BotPlayer
from rookery.training.trainer import MatchScore

torch.set_num_threads(1)


def small_network() -> Network:
    generator = torch.Generator().manual_seed(1)
    sizes = {"width": 16, "key_width": 8}
    network: Network = make_network("squares", "tactical70", "az4672", sizes, generator)
    return network


def read(score: MatchScore) -> list[chess.pgn.Game]:
    games = [chess.pgn.read_game(io.StringIO(text)) for text in score.games]
    assert all(game is not None and not game.errors for game in games)
    return games  # type: ignore[return-value]


class Shuffler:
    """Moves its king's knight out and back, for ever."""

    name = "shuffler"

    def __init__(self) -> None:
        self.moves = {True: cycle(["g1f3", "f3g1"]), False: cycle(["g8f6", "f6g8"])}

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        return Decision(next(self.moves[game.turn]))

    def new_game(self) -> None:
        self.__init__()  # type: ignore[misc]

    def close(self) -> None: ...


def test_a_game_is_drawn_when_a_position_has_occurred_three_times() -> None:
    games = play_pairs(Shuffler(), Shuffler(), 2, np.random.default_rng(1), opening_plies=0)
    assert [(game.white, game.result, len(game.moves)) for game in games] == [
        (True, 0, 8),
        (False, 0, 8),
    ]


def test_games_of_a_pair_share_their_opening() -> None:
    games = play_pairs(BotPlayer("greedy"), BotPlayer("random"), 8, np.random.default_rng(1))
    openings = [tuple(game.moves[:OPENING_PLIES]) for game in games]
    assert openings[::2] == openings[1::2]
    assert len(set(openings)) == 4
    assert [game.white for game in games] == [True, False] * 4


def test_long_games_are_drawn() -> None:
    """Random movers often need more plies than there are."""
    games = play_pairs(BotPlayer("random"), BotPlayer("random"), 20, np.random.default_rng(1))
    lengths = [len(game.moves) for game in games]
    assert max(lengths) == MAX_PLIES
    assert games[lengths.index(MAX_PLIES)].result == 0


def test_a_player_that_fails_ends_the_match() -> None:
    class Broken(Shuffler):
        def choose(self, *arguments: object) -> Decision:
            raise ValueError("the network answered with a NaN")

    with pytest.raises(ValueError, match="answered with a NaN"):
        play_pairs(Broken(), BotPlayer("random"), 2, np.random.default_rng(1))


def test_the_same_network_scores_half_against_itself() -> None:
    network = small_network()
    games = play_pairs(
        search_player(network, 4), search_player(network, 4), 4, np.random.default_rng(1)
    )
    assert sum(game.result for game in games) == 0


def test_search_wins_against_random_moves() -> None:
    """Even a network that knows nothing mates with a search behind it."""
    player, opponent = search_player(small_network(), 200), BotPlayer("random")
    score = player_match(player, opponent, 6, np.random.default_rng(1), {"simulations": 200.0})
    assert score.as_white[0] + score.as_black[0] >= 4
    assert score.as_white[2] + score.as_black[2] == 0
    assert score.values == {"simulations": 200.0}
    games = read(score)
    assert [game.headers["White"] for game in games] == [player.name] * 2 + ["random"] * 2
    assert games[0].headers["Event"] == f"{player.name} against random"
    white, draws, losses = score.as_white
    results = [game.headers["Result"] for game in games[:2]]
    assert results.count("1-0") <= white and results.count("1/2-1/2") <= draws and not losses


def test_engines_play_bots_and_each_other() -> None:
    network, other = (
        tensors_of(new_weights(16, 8, torch.Generator().manual_seed(seed))) for seed in (1, 2)
    )
    for opponent, name in (("greedy-safe", "greedy-safe"), (other, "generation 3")):
        score = engine_match(network, opponent, name, 6, nodes=50, seed=1, threads=1)
        assert (score.opponent, sum(score.as_white), sum(score.as_black)) == (name, 3, 3)
        again = engine_match(network, opponent, name, 6, nodes=50, seed=1, threads=2)
        assert score == again
        games = read(score)
        assert [game.headers["Black"] for game in games] == [name] * 2 + ["engine"] * 2
        assert games[0].headers["Result"] in ("1-0", "0-1", "1/2-1/2")


def test_the_trainers_matches_mean_the_same_nodes_as_the_arena() -> None:
    """Every move of a trainer's match is the one that the arena's player makes at these nodes."""
    generator = torch.Generator().manual_seed(1)
    network, other = (tensors_of(new_weights(16, 8, generator)) for _ in range(2))
    match = NetworkMatch(network, other, seed=2, nodes=70, random_plies=4, adjudicate=False)
    for pair in match.run(0, 2):
        for white, (_, moves) in zip((True, False), pair, strict=True):
            player = AlphaBetaPlayer(NnueNetwork(*network), nodes=70, hash=1)
            player.new_game()
            game = Game()
            for ply, move in enumerate(moves[:60]):
                if ply >= 4 and game.turn == white:
                    decision = player.choose(game, np.random.default_rng(0))
                    assert decision.move == move, f"ply {ply} of {moves}"
                    assert int(str(decision.details["nodes"])) <= 70
                game.push(move)


def test_an_untrained_policy_plays_whole_games_against_bots() -> None:
    score = policy_match(small_network(), "greedy-safe", 20, seed=5)
    assert sum(score.as_white) == sum(score.as_black) == 10
    lost = score.as_white[2] + score.as_black[2]
    assert lost >= 18  # a mover at random has no chance
    assert score.values["wins_minus_losses"] == score.as_white[0] + score.as_black[0] - lost
    games = read(score)
    assert [game.headers["White"] for game in games] == ["policy"] * 2 + ["greedy-safe"] * 2
    decided = [game for game in games if game.headers["Result"] != "1/2-1/2"]
    assert decided and all(game.end().board().is_checkmate() for game in decided)
    with pytest.raises(ValueError, match="3 games"):
        policy_match(small_network(), "random", 3, seed=5)


def test_policies_are_drawn_after_the_same_number_of_plies() -> None:
    games = read(policy_match(small_network(), "random", 20, seed=5))
    longest = max(games, key=lambda game: game.end().ply())
    assert longest.end().ply() == MAX_PLIES
    assert longest.headers["Result"] == "1/2-1/2"


def test_policies_play_by_the_rules_of_their_training() -> None:
    """Version 1 of Salisch 2023: drawn after some plies, and a random mover may claim a draw."""
    network = make_network("mlp", "vector69", "az4673", {}, torch.Generator().manual_seed(1))
    score = policy_match(network, "random", 20, seed=5, draw_after_plies=30)
    assert score.as_white[1] + score.as_black[1] >= 16  # hardly a mate in 30 plies
    assert all(game.end().ply() <= 30 for game in read(score))
