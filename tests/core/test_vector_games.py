"""Many games at once, in step with a python-chess simulation of the same actions."""

from __future__ import annotations

import random
from dataclasses import asdict
from typing import Any

import chess
import numpy as np
import pytest

from rookery import MoveError, VectorGames
from rookery._core import ENDINGS
from support.reference import actions as reference
from support.reference.observations import ENCODERS
from support.reference.simulation import (
    Options,
    SlowGames,
    choose_random,
    compare_positions,
    compare_results,
)

ROOK_ENDING = "8/8/4k3/8/8/3K4/8/R7 w - - 0 1"


def legal_of(games: VectorGames, index: int) -> np.ndarray:
    return games.legal_actions[games.legal_offsets[index] : games.legal_offsets[index + 1]]


def run_both(
    options: Options, games: VectorGames, steps: int, seed: int, illegal_share: float = 0.0
) -> dict[str, int]:
    """Step both, compare everything, count the endings."""
    rng = random.Random(seed)
    slow = SlowGames(games.fens(), options)
    compare_positions(games, slow, observed=list(range(len(slow.boards))))
    endings: dict[str, int] = {}
    for _ in range(steps):
        actions = []
        for index in range(len(slow.boards)):
            action = rng.choice(sorted(slow.legal(index)))
            if rng.random() < illegal_share:
                action = rng.choice([-2, 4671, 99999, action + 1])
            actions.append(action)
        games.step(np.array(actions, np.int64))
        expected = slow.step(actions)
        compare_results(games, expected)
        fens = games.fens()
        for index, result in enumerate(expected):
            if result.final_board is None:
                continue
            endings[result.ending] = endings.get(result.ending, 0) + 1
            assert games.final_fen(index) == result.final_board.fen()
            last = games.final_observations([index])[0]
            # After a promotion or the loss of the pawn kpk3 has no words for the position.
            if options.observation != "kpk3" or result.final_board.pawns:
                wanted = ENCODERS[options.observation](result.final_board)
                np.testing.assert_allclose(last, wanted, rtol=0, atol=1e-6)
            slow.start_anew(index, fens[index])
        compare_positions(games, slow, observed=[rng.randrange(len(fens))])
    return endings


# --- in step with python-chess ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("observation", "actions", "claims"),
    [
        ("planes19", "az4672", "automatic"),
        ("planes119", "az4672", "off"),
        ("planes22", "az4672", "automatic"),
        ("vector69", "az4673", "action"),
        ("vector66", "az4672", "automatic"),
        ("planes12", "az4672", "off"),
        ("planes14", "az4672", "automatic"),
        ("pepper353", "az4672", "automatic"),
        ("giraffe363", "az4672", "off"),
        ("tactical70", "az4672", "automatic"),
    ],
)
def test_games_from_the_start(observation: str, actions: str, claims: str) -> None:
    options = Options(observation=observation, actions=actions, claims=claims)
    games = VectorGames(8, seed=1, **asdict(options))
    run_both(options, games, steps=60, seed=2)


@pytest.mark.parametrize("claims", ["automatic", "off", "action"])
def test_endgames_meet_every_ending(claims: str) -> None:
    options = Options(
        observation="planes22",
        actions="az4673" if claims == "action" else "az4672",
        claims=claims,
        win=100.0,
        loss=-50.0,
        draw=3.0,
        move=-0.5,
    )
    fens = [
        ROOK_ENDING.replace("0 1", "96 70"),
        ROOK_ENDING.replace("0 1", "145 90"),
        "6k1/8/5KP1/8/8/8/8/R7 w - - 0 1",
        "k7/2Q5/8/8/8/8/5P2/K7 w - - 0 1",
        "k7/8/1K6/8/8/8/7q/8 b - - 0 1",
        "8/8/8/8/8/5k2/6p1/6K1 b - - 0 1",
        "8/8/8/8/8/1k6/7p/K7 b - - 0 1",
    ]
    games = VectorGames(16, seed=3, start_fens=fens, **asdict(options))
    endings = run_both(options, games, steps=250, seed=4)
    expected = {"checkmate", "stalemate", "insufficient_material"}
    expected |= {"automatic": {"fifty_moves", "threefold_repetition"}}.get(claims, set())
    expected |= {"off": {"seventyfive_moves"}, "action": {"draw_claimed"}}.get(claims, set())
    assert expected <= set(endings), endings


def test_fivefold_ends_the_game_when_claims_are_off() -> None:
    games = VectorGames(1, claims="off", draw=0.25)
    board = chess.Board()
    for number, uci in enumerate(["g1f3", "g8f6", "f3g1", "f6g8"] * 4):
        action = reference.az4672(board, chess.Move.from_uci(uci))
        games.step(np.array([action], np.int64))
        board.push_uci(uci)
        assert bool(games.terminations[0]) == (number == 15)
    assert ENDINGS[int(games.endings[0])] == "fivefold_repetition"
    assert games.rewards[0] == games.opponent_rewards[0] == 0.25
    assert games.results[0] == 0


def test_automatic_claims_end_at_the_third_occurrence_and_not_before() -> None:
    games = VectorGames(1, claims="automatic")
    board = chess.Board()
    for number, uci in enumerate(["g1f3", "g8f6", "f3g1", "f6g8"] * 2):
        games.step(np.array([reference.az4672(board, chess.Move.from_uci(uci))], np.int64))
        board.push_uci(uci)
        assert bool(games.terminations[0]) == (number == 7)
    assert ENDINGS[int(games.endings[0])] == "threefold_repetition"


def test_kpk_games() -> None:
    options = Options(
        observation="kpk3", actions="kpk", claims="automatic", promotion_wins=True, move=-0.01
    )
    games = VectorGames(
        12, seed=5, material="KPvK", material_side="random", random_plies=(0, 0), **asdict(options)
    )
    endings = run_both(options, games, steps=120, seed=6)
    assert endings["promotion"] > 0
    assert endings["insufficient_material"] > 0


# --- limits: a cap is a truncation, the 400-ply rule a draw -------------------------------------


def test_a_ply_cap_is_a_truncation_and_no_draw() -> None:
    options = Options(max_plies=20, draw=0.5, move=-1.0)
    games = VectorGames(6, seed=7, **asdict(options))
    endings = run_both(options, games, steps=50, seed=8)
    assert endings.keys() == {"ply_cap"}


def test_the_last_ply_of_the_cap_can_still_mate() -> None:
    games = VectorGames(1, start_fens=["7k/8/6K1/8/8/8/8/R7 w - - 0 1"], max_plies=1)
    board = chess.Board("7k/8/6K1/8/8/8/8/R7 w - - 0 1")
    games.step(np.array([reference.az4672(board, chess.Move.from_uci("a1a8"))], np.int64))
    assert bool(games.terminations[0]) and not games.truncations[0]
    assert games.rewards[0] == 1.0 and games.opponent_rewards[0] == -1.0
    assert games.results[0] == 1


def test_the_ply_rule_is_a_draw() -> None:
    options = Options(draw_after_plies=15, draw=0.5, max_plies=15)
    games = VectorGames(4, seed=9, **asdict(options))
    endings = run_both(options, games, steps=40, seed=10)
    assert endings.keys() == {"ply_limit"}  # at the same ply the rule goes before the cap


def test_four_hundred_plies() -> None:
    """The rule of version 1: nothing ends before, and at ply 400 it is a draw."""
    games = VectorGames(
        1,
        claims="off",
        draw_after_plies=400,
        start_fens=["k7/8/8/p1p1p1p1/P1P1P1P1/8/8/K7 w - - 0 1"],
    )
    rng = np.random.default_rng(11)
    # With all pawns blocked only the seventy-five-move rule and repetitions could end it sooner.
    lengths = []
    for _ in range(2000):
        games.step(choose_random(games, rng))
        if games.terminations[0]:
            lengths.append(int(games.lengths[0]))
    assert max(lengths) <= 400
    games = VectorGames(64, claims="off", draw_after_plies=400, seed=12)
    seen = set()
    for _ in range(900):
        games.step(choose_random(games, rng))
        for ending, length in zip(games.endings, games.lengths, strict=True):
            if ENDINGS[int(ending)] == "ply_limit":
                seen.add(int(length))
    assert seen == {400}


# --- illegal actions ----------------------------------------------------------------------------


def test_illegal_actions_raise_and_change_nothing() -> None:
    games = VectorGames(4, seed=13)
    rng = np.random.default_rng(14)
    for _ in range(5):
        games.step(choose_random(games, rng))
    fens, state = games.fens(), games.get_state()
    observations = games.observations.copy()
    actions = choose_random(games, rng)
    for bad in (-2, 4672, 10**9, -(2**63), 0):
        if bad in legal_of(games, 2).tolist():
            continue
        wrong = actions.copy()
        wrong[2] = bad
        with pytest.raises(MoveError, match=rf"{bad} of game 2"):
            games.step(wrong)
        assert games.fens() == fens
        assert games.get_state() == state
        np.testing.assert_array_equal(games.observations, observations)


def test_illegal_actions_can_cost_a_penalty() -> None:
    options = Options(on_illegal="penalty", illegal=-7.0, move=0.125, max_plies=40)
    games = VectorGames(6, seed=15, **asdict(options))
    endings = run_both(options, games, steps=120, seed=16, illegal_share=0.3)
    assert endings["ply_cap"] > 0


def test_only_illegal_actions_end_by_the_cap() -> None:
    games = VectorGames(1, on_illegal="penalty", max_plies=3)
    for step in range(3):
        games.step(np.array([-5], np.int64))
        assert games.rewards[0] == -1.0
        assert bool(games.truncations[0]) == (step == 2)
    assert games.fens() == [chess.STARTING_FEN]


@pytest.mark.parametrize(
    "actions",
    [
        np.zeros(3, np.int64),
        np.zeros(5, np.int64),
        np.zeros((4, 1), np.int64),
        np.zeros(4, np.float32),
        None,
    ],
    ids=["too few", "too many", "two axes", "floats", "nothing"],
)
def test_wrong_action_arrays_are_refused(actions: Any) -> None:
    games = VectorGames(4, on_illegal="penalty")
    with pytest.raises((ValueError, TypeError)):
        games.step(actions)
    assert games.plies.tolist() == [0, 0, 0, 0]


def test_other_integer_types_are_understood() -> None:
    for dtype in (np.int32, np.int64):
        games = VectorGames(2)
        games.step(games.legal_actions[games.legal_offsets[:-1]].astype(dtype))
        assert games.plies.tolist() == [1, 1]


def test_a_state_without_the_history_that_a_layout_needs_is_refused() -> None:
    state = VectorGames(2, observation="planes19").get_state()
    with pytest.raises(ValueError, match="history than planes119 needs"):
        VectorGames(2, observation="planes119").set_state(state)
