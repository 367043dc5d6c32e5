"""Self-play in the core: games that python-chess replays, targets, resignation, saving."""

from __future__ import annotations

import resource
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest
import torch

from rookery import Game
from rookery._core import HashEvaluator, SelfPlay, SelfPlayGame
from rookery.data.samples import SampleBlock
from rookery.nets import make_network
from rookery.nets.evaluator import FakeEvaluator, TorchEvaluator
from rookery.nets.native import native_network
from support.paths import SUPPORT

torch.set_num_threads(1)


def small_network() -> Any:
    sizes = {"width": 16, "key_width": 8}
    return make_network("squares", "tactical70", "az4672", sizes, torch.Generator().manual_seed(1))


def advance(play: SelfPlay, evaluator: Any, samples: int) -> None:
    while play.ready < samples:
        play.gather()
        play.apply(*evaluator.evaluate(play.observations, play.legal_actions, play.legal_offsets))


def replayed(game: SelfPlayGame) -> chess.Board:
    board = chess.Board(game.start)
    for move in game.moves:
        board.push(board.parse_uci(move))  # refuses what is illegal
    return board


@pytest.mark.parametrize("tree", [{}, {"gumbel_actions": 8}])
def test_games_samples_and_results_belong_together(tree: dict[str, Any]) -> None:
    play = SelfPlay(
        16, seed=5, simulations=12, max_plies=80, resign_check_share=0.0, tree=tree,
        random_share=0.5, random_plies=(2, 9),
    )  # fmt: skip
    play.run(HashEvaluator(), 400)
    samples, games = play.take_samples(), {g.number: g for g in play.take_games()}
    offsets = np.concatenate([[0], np.cumsum(samples.counts)])
    endings = Counter(g.ending for g in games.values())
    assert endings["ply_cap"] and len(endings) > 1
    for index in range(len(samples)):
        game = games[int(samples.games[index])]
        ply = int(samples.plies[index])
        position = Game(game.start)
        for move in game.moves[:ply]:
            position.push(move)
        part = slice(offsets[index], offsets[index + 1])
        assert sorted(samples.legal[part]) == sorted(position.legal_actions("az4672"))
        assert samples.policy[part].sum() == pytest.approx(1.0, abs=1e-5)
        assert (samples.observations[index] == position.encode("tactical70")).all()
        assert samples.plies_left[index] == len(game.moves) - ply
        if game.ending != "ply_cap":
            expected = game.result * (1 if position.turn else -1)
            assert samples.results[index] == expected
        else:
            assert -1 <= samples.results[index] <= 1
    for game in games.values():
        board = replayed(game)
        if game.ending == "checkmate":
            assert board.is_checkmate()
            assert game.result == (-1 if board.turn else 1)
        elif game.ending == "threefold_repetition":
            assert board.is_repetition(3)


def test_openings_vary_and_start_positions_are_used() -> None:
    fen = "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1"
    play = SelfPlay(
        32, seed=2, simulations=2, max_plies=40, start_fens=[fen], starts_share=0.5,
        random_share=0.5, random_plies=(6, 6),
    )  # fmt: skip
    play.run(HashEvaluator(), 300)
    games = play.take_games()
    starts = Counter(game.start for game in games)
    assert set(starts) == {fen, chess.STARTING_FEN}
    openings = {tuple(g.moves[:6]) for g in games if g.start == chess.STARTING_FEN}
    assert len(openings) == starts[chess.STARTING_FEN]


def test_only_full_searches_are_learnt_from() -> None:
    play = SelfPlay(16, seed=1, simulations=20, fast_simulations=3, full_share=0.25, max_plies=60)
    play.run(HashEvaluator(), 200)
    samples = play.take_samples()
    games = play.take_games()
    moves = sum(len(game.moves) for game in games)
    assert 0.15 < len(samples) / moves < 0.35
    assert play.simulations / play.moves < 10


def test_python_and_native_networks_play_the_same_games() -> None:
    """The same network through both doors; its answers differ in the last bits only."""
    network = small_network()
    games = []
    for native in (True, False):
        play = SelfPlay(8, seed=4, simulations=8, max_plies=30, tree={"gumbel_actions": 4})
        if native:
            copied = native_network(network)
            assert copied is not None
            play.run(copied, 100)
        else:
            advance(play, TorchEvaluator(network), 100)
        games.append([game.moves for game in play.take_games()])
    same = sum(a == b for a, b in zip(*games, strict=False))
    assert same >= 0.8 * len(games[0])


def test_calls_cut_up_differently_give_the_same_games() -> None:
    first, second = (SelfPlay(8, seed=9, simulations=6, max_plies=40) for _ in range(2))
    first.run(HashEvaluator(), 200)
    while not second.run(HashEvaluator(), 200, 1e-9):
        pass
    assert first.take_games() == second.take_games()


@pytest.mark.parametrize("tree", [{}, {"gumbel_actions": 4}])
def test_a_restored_state_goes_on_exactly(tree: dict[str, Any]) -> None:
    options: dict[str, Any] = {"simulations": 10, "max_plies": 50, "tree": tree, "seed": 3}
    straight = SelfPlay(8, **options)
    straight.run(HashEvaluator(), 150)
    straight.take_samples()
    straight.take_games()
    straight.network_changed()
    state = straight.get_state()
    other = SelfPlay(8, **{**options, "seed": 77})
    other.set_state(state)
    assert other.get_state() == state
    for play in (straight, other):
        play.run(HashEvaluator(), 150)
    ours, theirs = straight.take_samples(), other.take_samples()
    blocks = [SampleBlock.from_selfplay(samples).columns() for samples in (ours, theirs)]
    for name, column in blocks[0].items():
        assert (column == blocks[1][name]).all(), name
    assert straight.take_games() == other.take_games()
    assert (straight.simulations, straight.moves) == (other.simulations, other.moves)


def test_states_of_version_1_still_load() -> None:
    """Old run folders hold them: games under way with two columns that are gone."""
    path = SUPPORT / "golden" / "selfplay_state_v1.zlib"
    state = zlib.decompress(path.read_bytes())
    play = SelfPlay(2, seed=99, simulations=4, max_plies=40)
    play.set_state(state)
    play.run(HashEvaluator(), 60)
    samples, games = play.take_samples(), play.take_games()
    assert [len(replayed(game).move_stack) for game in games] == [40, 40]
    # A sample for every ply, those before the state was saved included.
    assert sorted(samples.plies) == sorted(2 * list(range(40)))
    assert len(samples.policy) == len(samples.legal) == samples.counts.sum()


def test_damaged_states_are_refused() -> None:
    play = SelfPlay(2, simulations=4)
    play.run(HashEvaluator(), 1)
    with pytest.raises(ValueError, match="take samples"):
        play.get_state()
    play.take_samples()
    play.take_games()
    state = bytearray(play.get_state())
    with pytest.raises(ValueError, match="another number of games"):
        SelfPlay(3, simulations=4).set_state(bytes(state))
    state[len(state) // 2] ^= 1
    for wrong in (bytes(state), bytes(state[:100]), b""):
        with pytest.raises(ValueError, match="damaged"):
            play.set_state(wrong)


def test_a_nan_aborts_its_game_and_no_other() -> None:
    play = SelfPlay(4, seed=1, simulations=4, max_plies=20)
    fake = FakeEvaluator("tactical70")
    for round_number in range(200):
        play.gather()
        logits, values = fake.evaluate(play.observations, play.legal_actions, play.legal_offsets)
        if round_number == 50:
            values[1] = np.nan
        if round_number == 60:
            logits[: play.legal_offsets[1]] = -np.inf  # no move has any probability
        play.apply(logits, values)
    assert play.aborted == 2
    games = play.take_games()
    assert games and all(replayed(game).is_valid() for game in games)
    samples = play.take_samples()
    assert np.isfinite(samples.policy).all() and np.isfinite(samples.values).all()
    assert set(samples.games) <= {game.number for game in games}


def test_a_side_that_is_always_losing_resigns() -> None:
    """White has a bare king against queens, and the value says so."""
    fen = "3qk3/8/8/8/8/8/8/4K3 w - - 0 1"

    def judge(observation: np.ndarray, legal: np.ndarray) -> tuple[np.ndarray, float]:
        own = bool((observation[:64] % 13 == 5).any())  # the mover has the queen
        return np.zeros(len(legal)), 0.95 if own else -0.95

    play = SelfPlay(
        32, seed=1, simulations=2, max_plies=40, start_fens=[fen], starts_share=1.0,
        resign_below=-0.9, resign_moves=2, resign_check_share=0.3,
    )  # fmt: skip
    advance(play, FakeEvaluator("tactical70", function=judge), 600)
    games = play.take_games()
    endings = Counter(game.ending for game in games)
    assert endings["resignation"] > 0.4 * len(games)
    assert all(g.result == -1 for g in games if g.ending == "resignation")
    # Games played on are cut off without a result, or White takes the queen: that was wrong.
    assert play.resign_checked > 0
    assert play.resign_wrong <= play.resign_checked


def test_options_that_make_no_sense_are_refused() -> None:
    for options, text in (
        ({"simulations": 0}, "simulations"),
        ({"full_share": 0.0}, "full_share"),
        ({"starts_share": 0.5}, "start positions"),
        ({"random_plies": (5, 2)}, "random_plies"),
        ({"start_fens": ["7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"]}, "over already"),
        ({"tree": {"c_puct": 1.0}}, "c_puct"),
    ):
        with pytest.raises(ValueError, match=text):
            SelfPlay(2, **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="games"):
        SelfPlay(0)


def resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / (1 << 20)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_memory_stays_bounded() -> None:
    """Trees are reused, games come and go, samples are taken: nothing is left behind."""
    play = SelfPlay(
        32, seed=1, simulations=48, cache_megabytes=1, max_plies=120, random_share=0.2,
        random_plies=(2, 9), tree={"gumbel_actions": 8},
    )  # fmt: skip
    sizes = []
    for _ in range(24):
        play.network_changed()
        play.run(HashEvaluator(), 400)
        play.take_samples()
        play.take_games()
        state = play.get_state()
        play.set_state(state)
        sizes.append(resident_megabytes())
    # The C library keeps what was freed: the first rounds find out how much is needed at most.
    assert max(sizes[16:]) - max(sizes[:8]) < 4.0
    # 32 trees of 1 MB at most, and the games.
    assert len(state) < 32 * 1.5 * (1 << 20)
