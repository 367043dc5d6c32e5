"""The beginner: legal moves, repeatable, and mistakes that people make."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from rookery import Game
from rookery.players.beginner import (
    ELO_OF_SKILL,
    VALUES,
    BeginnerPlayer,
    elo_of_skill,
    habits_of,
    skill_of_elo,
)
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
    value = VALUES[board.piece_type_at(square) or 0]
    exposed = board.is_attacked_by(not side, square) and not board.is_attacked_by(side, square)
    return exposed and value > VALUES[taken or 0] and board.piece_type_at(square) != chess.KING


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


def test_near_things_are_seen_more_often_than_far_ones() -> None:
    # A rook takes a hanging rook next to it, or at the other end of the rank.
    near = share(0.3, "4k3/8/8/8/Rr6/8/8/K7 w - - 0 1", "a4b4")
    far = share(0.3, "4k3/8/8/8/R6r/8/8/K7 w - - 0 1", "a4h4")
    assert near > far + 0.05
    # Over the whole board a rook sees more than a bishop.
    file = share(0.3, "4r3/7k/8/8/8/8/8/K3R3 w - - 0 1", "e1e8")
    diagonal = share(0.3, "7r/k7/8/8/8/8/8/B1K5 w - - 0 1", "a1h8")
    assert file > diagonal > 0.02


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
