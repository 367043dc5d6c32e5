"""The plain search against minimax over python-chess, and the simplified evaluation."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from rookery import Game
from rookery._core import (
    BatchEvaluator,
    EvaluatorError,
    NnueNetwork,
    PlainSearch,
    PositionEvaluator,
    play_random_plies,
)

WORTH = {chess.PAWN: 100, chess.KNIGHT: 320, chess.BISHOP: 330, chess.ROOK: 500, chess.QUEEN: 900}


def simplified() -> PositionEvaluator:
    return PositionEvaluator.simplified(bounded=False)


def centipawns(fen: str) -> int:
    return round(800 * float(simplified().values([Game(fen)])[0]))


def minimax(board: chess.Board, depth: int, ply: int = 0) -> float:
    if board.is_checkmate():
        return ply - PlainSearch.MATE
    if board.outcome() is not None or (ply and board.is_fifty_moves()):
        return 0.0
    if depth == 0:
        return float(simplified().values([Game(board.fen())])[0])
    best = -np.inf
    for move in board.legal_moves:
        board.push(move)
        best = max(best, -minimax(board, depth - 1, ply + 1))
        board.pop()
    return float(best)


@pytest.mark.parametrize("depth", [1, 2])
def test_values_are_those_of_minimax(depth: int) -> None:
    fens = [
        "r1b1k2r/pp3ppp/2n5/3q4/8/5N2/PPP2PPP/R2Q1RK1 w kq - 0 1",
        "7k/8/5KQ1/8/8/8/8/8 w - - 0 1",
    ]
    for seed in range(4):
        game = Game()
        play_random_plies(game, 20 + seed, seed)
        fens.append(game.fen())
    for fen in fens:
        line, value, _leaves = PlainSearch(simplified()).search(Game(fen), depth)
        assert value == pytest.approx(minimax(chess.Board(fen), depth), abs=1e-5), fen
        assert 1 <= len(line) <= depth


def test_the_evaluation_is_material_and_squares() -> None:
    assert centipawns(chess.STARTING_FEN) == 0
    # 1. e4: the pawn leaves a square of -20 for one of +20.
    assert centipawns("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1") == -40
    # A knight on e5 beside a king that may come out without queens.
    assert centipawns("4k3/8/8/4N3/8/8/8/4K3 w - - 0 1") == 320 + 20
    assert centipawns("4k3/8/8/8/4K3/8/8/8 w - - 0 1") == 40 - -30
    bounded = PositionEvaluator.simplified().values([Game("4k3/8/8/4N3/8/8/8/4K3 w - - 0 1")])
    assert bounded[0] == pytest.approx(np.tanh(340 / 800))


def test_both_colours_are_evaluated_alike() -> None:
    for seed in range(50):
        game = Game()
        play_random_plies(game, 30, seed)
        mirrored = chess.Board(game.fen()).mirror().fen()
        assert centipawns(game.fen()) == centipawns(mirrored)


def test_a_share_of_leaves_goes_to_the_other_evaluator() -> None:
    def zero(observations: np.ndarray) -> np.ndarray:
        return np.zeros(len(observations), dtype=np.float32)

    nothing = BatchEvaluator("planes12", zero)
    game = Game("4k3/8/8/8/8/8/8/QQQ1K3 w - - 0 1")
    search = PlainSearch(nothing, simplified())
    assert search.search(game, 1)[1] == 0.0
    assert search.search(game, 1, 1.0)[1] > 3.0
    assert search.search(game, 1, 0.5, 7) == search.search(game, 1, 0.5, 7)
    with pytest.raises(ValueError, match="second evaluator"):
        PlainSearch(nothing).search(game, 1, 0.5)
    with pytest.raises(ValueError, match="depth 9"):
        search.search(game, 9)


def test_a_value_that_is_not_a_number_ends_the_search() -> None:
    broken = BatchEvaluator("planes12", lambda x: np.full(len(x), np.nan, np.float32), "broken")
    with pytest.raises(EvaluatorError, match="'broken' gave the value nan in 'rnb"):
        PlainSearch(broken).search(Game(), 1)


def test_repetitions_of_the_game_are_draws() -> None:
    game = Game("7k/8/8/8/8/8/8/KQ6 w - - 0 1")
    for move in ["b1b2", "h8g8", "b2b1", "g8h8"] * 2:
        game.push(move)
    # Once more and the position has occurred three times: not with a queen more.
    line, value, _ = PlainSearch(simplified()).search(game, 1)
    assert line[0] != "b1b2" and value > 0.9


def test_the_engines_network_is_an_evaluator_of_positions() -> None:
    network = NnueNetwork.random(16, 2, 3)
    games = [Game(), Game("4k3/8/8/8/8/8/4P3/4K3 b - - 0 1")]
    values = PositionEvaluator.network(network).values(games)
    expected = [np.tanh(network.evaluate(game) / 800) for game in games]
    assert np.allclose(values, expected, atol=1e-6)
