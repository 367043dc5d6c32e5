from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import rookery.envs  # noqa: F401 (importing it registers)
from rookery.data.kpk_levels import LEVELS
from rookery.data.tablebases import find_tablebases
from rookery.envs.episode import Episode
from rookery.envs.kpk_env import KPKEnv, PromotionRules
from rookery.players.base import Decision
from support.needs import needs_tables

NORTH, SOUTH, PUSH, DOUBLE = 0, 4, 8, 9


class Script:
    name = "script"

    def __init__(self, *moves: str) -> None:
        self._moves = list(moves)

    def choose(self, game, rng, limits=None) -> Decision:
        return Decision(self._moves.pop(0))

    def new_game(self) -> None: ...

    def close(self) -> None: ...


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"level": "hard", "color": "black"},
        {"goal": "mate", "observation": "planes12", "actions": "az4672"},
    ],
)
def test_gymnasium_accepts_the_environment(options) -> None:
    env = gymnasium.make("rookery/KPK-v0", **options)
    check_env(env.unwrapped)
    env.close()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("color", ["white", "black", "random"])
def test_the_agent_has_the_pawn_and_moves_first(level: str, color: str) -> None:
    env = KPKEnv(level=level, color=color)
    for seed in range(10):
        observation, info = env.reset(seed=seed)
        game = env.episode.game
        assert game.material() == ("KPvK" if info["color"] == "white" else "KvKP")
        assert game.turn == (info["color"] == "white")
        assert observation.shape == (3, 8, 8) and abs(float(observation.sum())) < 1e-5
        assert info["action_mask"].shape == (10,) and info["action_mask"].any()


def test_both_colours_look_the_same() -> None:
    white, black = KPKEnv(level="hard", color="white"), KPKEnv(level="hard", color="black")
    for seed in range(20):
        (one, one_info), (other, other_info) = white.reset(seed=seed), black.reset(seed=seed)
        assert np.array_equal(one, other)
        assert np.array_equal(one_info["action_mask"], other_info["action_mask"])


def test_the_layouts_of_the_pawn_ending_need_its_rules() -> None:
    assert KPKEnv().episode.rules.promotion_wins
    env = KPKEnv(goal="mate", observation="planes12", actions="az4672", max_plies=7)
    assert not env.episode.rules.promotion_wins and env.episode.rules.max_plies == 7
    for layouts in ({"observation": "kpk3"}, {"actions": "kpk"}):
        with pytest.raises(ValueError, match="rookery/KPK-v0"):
            Episode(start="kpk:all", **layouts)
        Episode(start="kpk:all", rules=PromotionRules(), **layouts)


def test_promotion_wins() -> None:
    env = KPKEnv(Script("h1g1"))
    before, _ = env.reset(options={"fen": "8/8/P7/8/8/8/8/K6k w - - 0 1"})
    observation, reward, terminated, _, _ = env.step(PUSH)
    assert (reward, terminated) == (-1.0, False)
    after, reward, terminated, _, info = env.step(PUSH)
    assert (reward, terminated) == (9.0, True)
    assert (info["ending"], info["result"]) == ("promotion", 1)
    assert np.array_equal(after, observation) and not np.array_equal(before, after)
    assert not info["action_mask"].any()


def test_a_queen_that_is_taken_at_once_does_not_win() -> None:
    env = KPKEnv(Script("a7b8"))
    env.reset(options={"fen": "8/kP6/3K4/8/8/8/8/8 w - - 0 1"})
    _, reward, terminated, _, info = env.step(PUSH)
    assert (reward, terminated, info["ending"]) == (-11.0, True, "pawn_lost")


def test_a_queen_that_survives_the_reply_wins() -> None:
    env = KPKEnv(Script("a7a6"))
    env.reset(options={"fen": "8/kP6/3K4/8/8/8/8/8 w - - 0 1"})
    _, reward, terminated, _, info = env.step(PUSH)
    assert (reward, terminated, info["ending"]) == (9.0, True, "promotion")


def test_draws() -> None:
    env = KPKEnv(Script("d5e4"))
    env.reset(options={"fen": "8/8/8/3k4/8/4P3/8/7K w - - 0 1"})
    _, reward, terminated, _, info = env.step(PUSH)
    assert (reward, terminated, info["ending"]) == (-11.0, True, "pawn_lost")
    env = KPKEnv()
    env.reset(options={"fen": "4k3/4P3/8/4K3/8/8/8/8 w - - 0 1"})
    _, reward, terminated, _, info = env.step(NORTH)
    assert (reward, terminated, info["ending"]) == (-11.0, True, "stalemate")


def test_illegal_attempts_put_the_same_position_again() -> None:
    env = KPKEnv()
    before, info = env.reset(options={"fen": "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1"})
    assert not info["action_mask"][SOUTH] and info["action_mask"][DOUBLE] == 1
    after, reward, terminated, truncated, _ = env.step(SOUTH)
    assert np.array_equal(before, after) and (reward, terminated, truncated) == (
        -10.0,
        False,
        False,
    )


def test_repetitions_do_not_count_and_fifty_moves_truncate() -> None:
    env = KPKEnv(Script(*["e5e6", "e6e5"] * 30), max_plies=100)
    env.reset(options={"fen": "8/8/8/4k3/8/8/4P3/7K w - - 0 1"})
    steps = 0
    terminated = truncated = False
    while not (terminated or truncated):
        action = NORTH if env.episode.game.piece_at(7) else SOUTH
        _, _, terminated, truncated, info = env.step(action)
        steps += 1
    assert (steps, terminated, truncated, info["ending"]) == (50, False, True, "ply_cap")


def test_with_the_goal_mate_the_game_continues_after_promotion() -> None:
    env = KPKEnv(Script("h1g1"), goal="mate", observation="planes12", actions="az4672")
    env.reset(options={"fen": "8/P7/8/8/8/8/8/K6k w - - 0 1"})
    _, reward, terminated, _, _ = env.step(env.episode.game.action_of("a7a8q"))
    assert (reward, terminated) == (-1.0, False)
    with pytest.raises(ValueError, match="planes12"):
        KPKEnv(goal="mate")
    with pytest.raises(ValueError, match="draw"):
        KPKEnv(goal="draw")


@needs_tables
def test_perfect_play_wins_every_won_position_of_the_hard_level() -> None:
    """The rule about the queen makes a promotion worth exactly what the tables say."""
    tables = find_tablebases()

    class Perfect:
        name = "perfect"

        def choose(self, game, rng, limits=None) -> Decision:
            scores = {}
            for move in game.legal_moves():
                game.push(move)
                probe = tables.probe(game)
                game.pop()
                assert probe is not None
                scores[move] = (probe.result, probe.distance * -probe.result)
            return Decision(min(scores, key=lambda move: scores[move]))

        def new_game(self) -> None: ...

        def close(self) -> None: ...

    with tables:
        env = KPKEnv(Perfect(), level="hard", max_plies=200)
        results = {1: 0, 0: 0}
        for seed in range(40):
            env.reset(seed=seed)
            probe = tables.probe(env.episode.game)
            assert probe is not None
            terminated = truncated = False
            while not (terminated or truncated):
                game = env.episode.game
                move = Perfect().choose(game, None).move
                action = game.action_of(move, "kpk") if move[4:] in ("", "q") else PUSH
                _, _, terminated, truncated, info = env.step(action)
            assert info.get("result", 0) == probe.result
            results[probe.result] += 1
    assert min(results.values()) > 5
