"""Many games at once: seeds, starts, saving, arrays and options of VectorGames."""

from __future__ import annotations

import subprocess
import sys
import zlib
from typing import Any

import chess
import numpy as np
import pytest

from rookery import FenError, VectorGames
from rookery._core import ENDINGS
from support.paths import SUPPORT
from support.reference import actions as reference
from support.reference.simulation import choose_random

ROOK_ENDING = "8/8/4k3/8/8/3K4/8/R7 w - - 0 1"


# --- seeds and starts ---------------------------------------------------------------------------


def record(games: VectorGames, steps: int, seed: int) -> list[tuple[list[str], bytes, bytes]]:
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(steps):
        games.step(choose_random(games, rng))
        rows.append((games.fens(), games.observations.tobytes(), games.rewards.tobytes()))
    return rows


@pytest.mark.parametrize(
    "start",
    [
        {},
        {"random_plies": (0, 12)},
        {"material": "KRvK", "material_side": "random"},
        {"start_fens": [ROOK_ENDING, chess.STARTING_FEN]},
    ],
    ids=["standard", "random plies", "material", "list"],
)
def test_the_same_seed_gives_the_same_games(start: dict[str, Any]) -> None:
    options = {"observation": "planes22", "max_plies": 30, **start}
    first = VectorGames(16, seed=20, **options)
    second = VectorGames(16, seed=20, threads=2, **options)
    begin = first.fens()
    assert begin == second.fens()
    rows = record(first, 100, seed=21)
    assert rows == record(second, 100, seed=21)
    second.reset(20)
    assert second.fens() == begin
    assert rows == record(second, 100, seed=21)
    if "random_plies" in start or "material" in start:
        assert VectorGames(16, seed=22, **options).fens() != begin


def test_games_of_one_seed_differ_from_each_other() -> None:
    fens = VectorGames(64, seed=23, random_plies=(8, 8)).fens()
    assert len(set(fens)) > 60


def test_reset_without_a_seed_goes_on_with_new_games() -> None:
    games = VectorGames(8, seed=24, random_plies=(6, 6))
    before = games.fens()
    games.reset()
    assert games.fens() != before
    assert games.plies.tolist() == [0] * 8
    assert not games.terminations.any()


def test_random_plies_are_within_bounds_and_unfinished() -> None:
    games = VectorGames(200, seed=25, random_plies=(3, 9))
    plies = []
    for fen in games.fens():
        board = chess.Board(fen)
        assert board.is_valid() and not board.is_game_over()
        plies.append(board.ply())
    assert min(plies) == 3 and max(plies) == 9
    assert games.plies.tolist() == [0] * 200


@pytest.mark.parametrize("material", ["KRvK", "KvKQ", "KPvK", "KBNvK", "KQvKR"])
def test_starts_of_a_material(material: str) -> None:
    games = VectorGames(100, seed=26, material=material, material_side="random")
    turns = []
    for fen in games.fens():
        board = chess.Board(fen)
        assert board.is_valid() and not board.is_game_over()
        symbols = sorted(piece.symbol() for piece in board.piece_map().values())
        white, black = material.split("v")
        assert symbols == sorted(white + black.lower())
        turns.append(board.turn)
    assert 20 < sum(turns) < 80


def test_start_lists_are_drawn_from_evenly() -> None:
    fens = [chess.STARTING_FEN, ROOK_ENDING]
    games = VectorGames(400, seed=27, start_fens=fens)
    share = sum(fen == ROOK_ENDING for fen in games.fens()) / 400
    assert 0.4 < share < 0.6
    assert set(games.fens()) == set(fens)


# --- saving -------------------------------------------------------------------------------------


@pytest.mark.parametrize("observation", ["planes119", "planes22", "vector69"])
def test_a_restored_state_goes_on_exactly(observation: str) -> None:
    options: dict[str, Any] = {"observation": observation, "random_plies": (0, 4), "max_plies": 50}
    games = VectorGames(8, seed=30, **options)
    record(games, 70, seed=31)
    state = games.get_state()
    assert isinstance(state, bytes)
    observations = games.observations.copy()
    legal = games.legal_actions.copy()
    straight = record(games, 120, seed=32)
    other = VectorGames(8, seed=99, **options)
    other.set_state(state)
    np.testing.assert_array_equal(other.observations, observations)
    np.testing.assert_array_equal(other.legal_actions, legal)
    assert record(other, 120, seed=32) == straight
    assert other.get_state() == games.get_state()


def test_states_with_the_old_checksum_still_load() -> None:
    path = SUPPORT / "golden" / "vector_state_old.zlib"
    games = VectorGames(3, observation="planes119", seed=1)
    games.set_state(zlib.decompress(path.read_bytes()))
    assert games.fens() == ["r1bqkbnr/pppppppp/8/8/1n6/N4N2/PPPPPPPP/R1BQKB1R w KQkq - 4 3"] * 3
    record(games, 20, seed=2)


def test_a_restored_state_remembers_repetitions() -> None:
    games = VectorGames(1)
    board = chess.Board()
    dance = ["g1f3", "g8f6", "f3g1", "f6g8"] * 2

    def step(vector: VectorGames, uci: str) -> None:
        vector.step(np.array([reference.az4672(board, chess.Move.from_uci(uci))], np.int64))
        board.push_uci(uci)

    for uci in dance[:-1]:
        step(games, uci)
    other = VectorGames(1)
    other.set_state(games.get_state())
    step(other, dance[-1])
    assert ENDINGS[int(other.endings[0])] == "threefold_repetition"


def test_bad_states_are_refused_and_change_nothing() -> None:
    games = VectorGames(4, seed=33)
    record(games, 10, seed=34)
    state, fens = games.get_state(), games.fens()
    bad = {
        "empty": b"",
        "short": state[:7],
        "truncated": state[:-1],
        "half": state[: len(state) // 2],
        "longer": state + b"\0",
        "other text": b"x" * len(state),
        "other number of games": VectorGames(5).get_state(),
    }
    for name, value in bad.items():
        with pytest.raises(ValueError, match="state"):
            games.set_state(value)
        assert games.fens() == fens, name
        assert games.get_state() == state, name


DAMAGE = """
import random
from rookery import VectorGames
rng = random.Random(1)
games = VectorGames(4, observation="planes119", seed=1)
state = games.get_state()
accepted = 0
for _ in range(400):
    damaged = bytearray(state)
    damaged[rng.randrange(len(state))] ^= 1 << rng.randrange(8)
    try:
        games.set_state(bytes(damaged))
    except ValueError:
        continue
    accepted += 1
print(accepted)
"""


def test_damaged_states_are_refused() -> None:
    """One flipped bit anywhere; in a process of its own, because a crash is what may happen."""
    run = subprocess.run([sys.executable, "-c", DAMAGE], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "0"


# --- arrays -------------------------------------------------------------------------------------


def test_arrays_have_the_promised_types() -> None:
    games = VectorGames(3, observation="planes119")
    assert games.observations.shape == (3, 119, 8, 8)
    assert games.observations.dtype == np.float32
    assert games.legal_actions.dtype == np.int32 and games.legal_offsets.dtype == np.int64
    assert games.legal_offsets.tolist() == [0, 20, 40, 60]
    assert games.rewards.dtype == np.float32
    assert games.terminations.dtype == games.truncations.dtype == np.bool_
    assert games.to_move.dtype == np.uint8 and games.plies.dtype == np.int32
    assert games.results.dtype == np.int8
    assert len(games) == 3


@pytest.mark.parametrize(
    "observation", ["planes19", "planes12", "planes14", "vector66", "tactical70"]
)
def test_bytes_agree_with_floats(observation: str) -> None:
    floats = VectorGames(8, observation=observation, seed=35)
    numbers = VectorGames(8, observation=observation, seed=35, dtype="uint8")
    assert numbers.observations.dtype == np.uint8
    rng = np.random.default_rng(36)
    for _ in range(40):
        np.testing.assert_array_equal(floats.observations, numbers.observations)
        actions = choose_random(floats, rng)
        floats.step(actions)
        numbers.step(actions)


def test_the_arrays_outlive_the_games() -> None:
    games = VectorGames(2)
    observations, legal = games.observations, games.legal_actions
    copies = observations.copy(), legal.copy()
    del games
    np.testing.assert_array_equal(observations, copies[0])
    np.testing.assert_array_equal(legal, copies[1])


def test_final_observations_only_of_games_that_just_ended() -> None:
    games = VectorGames(2)
    with pytest.raises(ValueError, match="1"):
        games.final_observations([1])
    with pytest.raises((ValueError, IndexError), match="7"):
        games.final_observations([7])
    assert games.final_observations([]).shape == (0, 19, 8, 8)


# --- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"num_games": 0}, "num_games"),
        ({"num_games": -3}, "num_games"),
        ({"observation": "planes20"}, "planes20"),
        ({"actions": "az"}, "az"),
        ({"claims": "sometimes"}, "sometimes"),
        ({"on_illegal": "ignore"}, "ignore"),
        ({"dtype": "float64"}, "float64"),
        ({"threads": 0}, "threads"),
        ({"max_plies": -1}, "negative|-1"),
        ({"draw_after_plies": -1}, "negative|-1"),
        ({"random_plies": (5, 2)}, "random_plies"),
        ({"random_plies": (-1, 2)}, "random_plies"),
        ({"observation": "planes119", "dtype": "uint8"}, "planes119"),
        ({"start_fens": [ROOK_ENDING], "material": "KRvK"}, "material"),
        ({"start_fens": ["8/8/8/8/8/8/8/8 w - - 0 1"]}, "king"),
        ({"start_fens": ["7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"]}, "over"),
        ({"material": "KRK"}, "KRK"),
        ({"material": "QvK"}, "QvK"),
        ({"material": "KvK"}, "KvK|over"),
        ({"material": "KXvK"}, "KXvK"),
        ({"material": "KPPPPPPPPPvK"}, "KPPPPPPPPPvK"),
        ({"material_side": "green", "material": "KRvK"}, "green"),
        ({"claims": "action"}, "az4673"),
        ({"actions": "kpk", "promotion_wins": True}, "king and pawn"),
        ({"observation": "kpk3", "promotion_wins": True}, "king and pawn"),
    ],
)
def test_bad_options_are_refused_by_name(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        VectorGames(**{"num_games": 2, **options})


def test_a_bad_start_names_the_fen_error() -> None:
    with pytest.raises(FenError):
        VectorGames(1, start_fens=["nonsense"])
