"""The beginner: legal moves, repeatable, and mistakes that people make."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from rookery import Game
from rookery.players.beginners.habits import GAINS, LOSSES, WEIGHTS
from rookery.players.beginners.player import (
    ELO_OF_SKILL,
    BeginnerPlayer,
    elo_of_skill,
    habits_of,
    skill_of_elo,
)
from rookery.players.beginners.view import WORTH, View
from rookery.players.registry import make_player
from rookery.players.spec import SpecError


def positions(count: int, seed: int) -> list[Game]:
    """Positions of games between the beginner and itself, with their moves."""
    rng = np.random.default_rng(seed)
    player = BeginnerPlayer(0.5)
    found: list[Game] = []
    while len(found) < count:
        game = Game()
        while game.outcome() is None and not game.is_threefold and game.ply < 120:
            found.append(game.copy())
            game.push(player.choose(game, rng).move)
    return found[:count]


def hangs(game: Game, move: str) -> bool:
    """Whether the piece that moved can then be taken for nothing."""
    board = chess.Board(game.fen())
    side, taken = board.turn, board.piece_type_at(chess.parse_square(move[2:4]))
    board.push_uci(move)
    square = chess.parse_square(move[2:4])
    value = WORTH[board.piece_type_at(square) or 0]
    exposed = board.is_attacked_by(not side, square) and not board.is_attacked_by(side, square)
    return exposed and value > WORTH[taken or 0] and board.piece_type_at(square) != chess.KING


def test_it_never_leaves_the_legal_moves_and_repeats_itself() -> None:
    sample = positions(100, seed=1)
    special = ("r3k2r/1P6/8/8/8/8/6p1/R3K2R w KQkq - 0 1", "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2")
    sample += [Game(fen) for fen in special for _ in range(10)]
    for skill in (0.0, 1.0):
        player = BeginnerPlayer(skill)
        for number, game in enumerate(sample):
            before = game.fen()
            move = player.choose(game, np.random.default_rng(number)).move
            assert game.is_legal(move) and game.fen() == before
            assert player.choose(game, np.random.default_rng(number)).move == move


def test_the_less_it_sees_the_more_it_hangs() -> None:
    sample = positions(250, seed=2)
    counts = []
    for skill in (0.0, 0.5, 1.0):
        player = BeginnerPlayer(skill)
        moves = [
            player.choose(game, np.random.default_rng(number)).move
            for number, game in enumerate(sample)
        ]
        counts.append(sum(map(hangs, sample, moves)))
    assert counts[0] > counts[1] > counts[2]
    assert counts[0] >= 2 * counts[2]


def share(skill: float, fen: str, move: str) -> float:
    """How often of 200 times it plays this move."""
    player, game = BeginnerPlayer(skill), Game(fen)
    rngs = map(np.random.default_rng, range(200))
    return sum(player.choose(game, rng).move == move for rng in rngs) / 200


def seen(fen: str, move: str, past: tuple[str, ...] = ()) -> dict[str, float]:
    """The features of a move that are not 0."""
    board = chess.Board(fen)
    for each in past:
        board.push_uci(each)
    row = View(board, board.move_stack[-2:]).features([chess.Move.from_uci(move)])[0]
    return {name: float(value) for name, value in zip(WEIGHTS, row, strict=True) if value}


def test_what_can_be_won_and_lost_is_counted_in_pawns() -> None:
    rook = "4k3/8/8/3p4/8/3r4/8/3RK2R w K - 0 1"
    taking = seen(rook, "d1d3")
    assert (taking["take"], taking["gain"]) == (1, 5)
    # The rook on d1 can be taken by a rook and is defended: nothing is lost by castling away.
    assert "loss" not in seen(rook, "e1g1") and seen(rook, "e1g1")["castle"] == 1
    # A queen that moves next to a pawn's diagonal, or that is left there.
    queen = "4k3/8/2p5/8/8/3Q4/P7/4K3 w - - 0 1"
    assert seen(queen, "d3d5")["moved_loss"] == 9
    left = seen("4k3/8/2p5/3Q4/8/8/P7/4K3 w - - 0 1", "a2a3")
    assert left["loss"] == 9 and "moved_loss" not in left and "loss_to_last" not in left
    attacked = "4k3/2p5/8/3Q4/8/P7/8/4K3 b - - 0 1"
    assert seen(attacked, "a3a4", ("c7c6",))["loss_to_last"] == 9
    # Taking a defended pawn with the queen wins one and loses nine.
    bad = seen("4k3/8/2p5/3p4/8/8/8/3QK3 w - - 0 1", "d1d5")
    assert bad["bad_take"] == 8 and "gain" not in bad


def test_the_look_of_a_move_is_the_same_for_both_sides() -> None:
    white = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 4 4"
    for move in chess.Board(white).legal_moves:
        mirrored = chess.Move(
            chess.square_mirror(move.from_square), chess.square_mirror(move.to_square)
        )
        black = chess.Board(white).mirror().fen()
        assert seen(white, move.uci()) == seen(black, mirrored.uci())
    assert seen(white, "f3f7")["mate"] == 1
    assert seen(white, "g1h3")["knight_on_edge"] == 1 == seen(white, "g1h3")["knight_out"]


def test_a_weaker_one_heeds_less_of_what_it_could_win_and_lose() -> None:
    assert set(WEIGHTS) > GAINS | LOSSES
    weak, strong = (dict(zip(WEIGHTS, habits_of(s).weights(), strict=True)) for s in (0.1, 0.9))
    for name in GAINS | LOSSES:
        assert abs(weak[name]) < abs(strong[name])


def test_a_mate_is_usually_seen_by_the_better_one() -> None:
    fen = "6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"
    assert share(1.0, fen, "a1a8") > share(0.0, fen, "a1a8") + 0.2


def test_skill_and_elo_convert() -> None:
    lowest, highest = ELO_OF_SKILL[0][1], ELO_OF_SKILL[-1][1]
    for elo in (lowest, (lowest + highest) / 2, highest):
        assert elo_of_skill(skill_of_elo(elo)) == pytest.approx(elo, abs=10)
    with pytest.raises(ValueError, match="is not from"):
        skill_of_elo(highest + 1)
    with pytest.raises(ValueError, match="outside"):
        habits_of(1.5)
    with pytest.raises(SpecError, match="skill"):
        make_player("beginner,skill=2")
