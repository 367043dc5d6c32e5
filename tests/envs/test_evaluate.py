from __future__ import annotations

import json
import zlib

import numpy as np
import pytest

from rookery import FenError, Game, MoveError
from rookery.envs import evaluate, run
from rookery.papers.salisch2023.agents import AgentPlayer, PlayerAgent, game_of_observation
from rookery.players.base import Decision, Limits, Player
from rookery.players.bots import RandomPlayer


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


class MateFinder(RandomPlayer):
    """Mates where it can, else plays at random."""

    def choose(self, game, rng, limits=None) -> Decision:
        for move in game.legal_moves():
            game.push(move)
            mate = game.in_check and not game.legal_count()
            game.pop()
            if mate:
                return Decision(move)
        return super().choose(game, rng, limits)


class Fixed(RandomPlayer):
    def __init__(self, move: str, claims: bool = False) -> None:
        super().__init__("fixed")
        self._move = move
        self._claim = claims

    def choose(self, game, rng, limits=None) -> Decision:
        return Decision(self._move, claims_draw=self._claim)


def test_run_plays_a_whole_game() -> None:
    record = run(RandomPlayer(), RandomPlayer(), generator(1))
    game = Game(record.start_fen)
    for move in record.moves:
        game.push(move)
    assert game.fen() == record.fen and record.plies == len(record.moves)
    assert record.result in (-1, 0, 1) and record.ending != "ply_cap"
    assert record == run(RandomPlayer(), RandomPlayer(), generator(1))


def test_ply_limits() -> None:
    record = run(RandomPlayer(), RandomPlayer(), generator(), max_plies=10)
    assert (record.result, record.ending, record.plies) == (None, "ply_cap", 10)
    record = run(RandomPlayer(), RandomPlayer(), generator(), draw_after_plies=10)
    assert (record.result, record.ending, record.plies) == (0, "ply_limit", 10)


def test_claims() -> None:
    claimers = [RandomPlayer(claims=True) for _ in range(2)]
    start = "8/8/8/8/8/k7/7R/1K6 w - - 100 80"
    endings = {
        run(*claimers, generator(seed), claims="action", start=[start]).ending for seed in range(60)
    }
    assert "draw_claimed" in endings
    with pytest.raises(MoveError, match="without right"):
        run(Fixed("e2e4", claims=True), RandomPlayer(), generator(), claims="action")
    # Where claims are automatic, nobody has to make them.
    record = run(Fixed("e2e4", claims=True), RandomPlayer(), generator(), max_plies=1)
    assert record.moves == ("e2e4",)


def test_games_do_not_begin_when_they_are_over() -> None:
    used_up, fresh = "8/8/8/8/8/k7/7R/1K6 w - - 100 80", "8/8/8/8/8/k7/7R/1K6 w - - 10 80"
    for seed in range(10):
        record = run(
            RandomPlayer(), RandomPlayer(), generator(seed), start=[used_up, fresh], max_plies=4
        )
        assert (record.start_fen, record.plies > 0) == (fresh, True)
    with pytest.raises(FenError, match="1000 draws"):
        run(RandomPlayer(), RandomPlayer(), generator(), start=[used_up])


def test_a_player_that_breaks_the_rules_is_named() -> None:
    with pytest.raises(MoveError, match="'fixed'"):
        run(Fixed("e2e5"), RandomPlayer(), generator())


def test_evaluate_halves_the_colours() -> None:
    result = evaluate(MateFinder("mate finder"), RandomPlayer(), generator(3), games=40)
    assert result.as_white.games == result.as_black.games == 20
    assert result.score == result.total.wins - result.total.losses
    assert result.score > 5
    text = json.loads(json.dumps(result.as_dict()))
    assert text["games"] == 40 and text["as_black"]["score"] == result.as_black.score
    for games in (0, 7):
        with pytest.raises(ValueError, match=f"games is {games}"):
            evaluate(MateFinder(), RandomPlayer(), generator(), games=games)


def test_unfinished_games_count_for_nobody() -> None:
    result = evaluate(RandomPlayer(), RandomPlayer(), generator(), games=4, max_plies=3)
    assert (result.total.unfinished, result.score) == (4, 0)


def test_an_equal_opponent_scores_about_zero() -> None:
    result = evaluate(RandomPlayer(), RandomPlayer(), generator(5), games=60)
    assert abs(result.score) <= 15


def test_protocols() -> None:
    assert isinstance(RandomPlayer(), Player)
    with pytest.raises(ValueError, match="nodes"):
        Limits(nodes=-1)
    with pytest.raises(ValueError, match="movetime"):
        Limits(movetime=float("nan"))
    with pytest.raises(MoveError, match="no legal move"):
        RandomPlayer().choose(Game("7k/5KQ1/8/8/8/8/8/8 b - - 0 1"), generator())


class FirstLegal:
    """An agent as in Salisch (2023): takes the first action of the mask."""

    def compute_single_action(self, observation):
        assert observation["observation"].shape == (66,)
        return int(np.flatnonzero(observation["action_mask"])[0])


class Bare:
    """An agent that gets no mask and answers as RLlib does, with a tuple."""

    def compute_single_action(self, observation):
        assert observation.shape == (19, 8, 8)
        return (0, [], {})


def test_agents_as_players() -> None:
    record = run(AgentPlayer(FirstLegal()), RandomPlayer(), generator(), max_plies=20)
    assert record.plies == 20
    bare = AgentPlayer(Bare(), observation="planes19", masked=False)
    with pytest.raises(MoveError, match="illegal action 0"):
        run(bare, RandomPlayer(), generator())
    bare = AgentPlayer(Bare(), observation="planes19", masked=False, on_illegal="random")
    assert run(bare, RandomPlayer(), generator(), max_plies=20).plies == 20
    with pytest.raises(ValueError, match="perhaps"):
        AgentPlayer(Bare(), on_illegal="perhaps")


def test_agents_may_claim() -> None:
    class Claimer:
        def compute_single_action(self, observation):
            return int(np.flatnonzero(observation["action_mask"])[-1])

    player = AgentPlayer(Claimer(), observation="vector69", actions="az4673")
    start = "8/8/8/8/8/k7/7R/1K6 w - - 100 80"
    record = run(player, RandomPlayer(), generator(), claims="action", start=[start])
    assert (record.ending, record.plies) == ("draw_claimed", 0)


def test_players_as_agents() -> None:
    agent = PlayerAgent(MateFinder("mate finder"), generator())
    for fen in ("k7/8/1K6/8/8/8/8/7R w - - 0 1", "7r/8/8/8/8/1k6/8/K7 b - - 0 1"):
        game = Game(fen)
        action = agent.compute_single_action(game.encode("vector66"), explore=False)
        game.push_action(action)
        assert game.outcome() == ("checkmate", fen.split()[1] == "w")
    game = Game()
    assert agent.compute_single_action(None, game=game) in game.legal_actions()
    with pytest.raises(ValueError, match=r"\(19, 8, 8\)"):
        agent.compute_single_action(game.encode("planes19"))


@pytest.mark.parametrize("layout", ["vector66", "vector69"])
def test_positions_are_read_back_from_observations(layout: str) -> None:
    rng = generator(4)
    for _ in range(30):
        game = Game()
        while game.outcome() is None and game.ply < 120:
            actions = game.legal_actions()
            mask = game.action_mask()
            state = {"observation": game.encode(layout), "action_mask": mask}
            read = game_of_observation(state)
            # With the mask even en passant is known, so the actions are the same.
            assert sorted(read.legal_actions()) == sorted(actions), game.fen()
            if layout == "vector69":
                assert read.halfmove_clock == game.halfmove_clock
            game.push_action(int(rng.choice(actions)))


class ByPosition(RandomPlayer):
    """Chooses by the legal actions alone, which look the same to both colours."""

    def choose(self, game, rng, limits=None) -> Decision:
        actions = np.sort(game.legal_actions())
        return Decision(game.move_of(int(actions[zlib.crc32(actions.tobytes()) % len(actions)])))


def test_a_player_behind_two_adapters_plays_the_same_game() -> None:
    def wrapped() -> AgentPlayer:
        return AgentPlayer(PlayerAgent(ByPosition(), generator(1)), name="wrapped")

    plain = run(ByPosition(), ByPosition(), generator(2), max_plies=60)
    assert plain.plies == 60
    assert run(wrapped(), wrapped(), generator(2), max_plies=60).moves == plain.moves
