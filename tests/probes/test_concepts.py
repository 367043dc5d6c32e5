"""Concepts against python-chess and against positions that a person can judge."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from rookery import Game
from rookery.probes.boards import OPPONENT, Boards
from rookery.probes.concepts import CONCEPTS, find_concepts
from rookery.probes.positions import random_games


@pytest.fixture(scope="module")
def played() -> Boards:
    return Boards(random_games(400, np.random.default_rng(3)).games)


def test_attackers_are_those_of_python_chess(played: Boards) -> None:
    for number in range(0, len(played), 4):
        board = chess.Board(played.games[number].fen())
        for side, found in (
            (board.turn, played.own_attackers[number]),
            (not board.turn, played.their_attackers[number]),
        ):
            for square in chess.SQUARES:
                rank = chess.square_rank(square)
                row = 7 - rank if board.turn else rank  # row 0 is the mover's last rank
                count = len(board.attackers(side, square))
                assert found[row, chess.square_file(square)] == count, board.fen()


def test_pins_and_checks_are_those_of_python_chess(played: Boards) -> None:
    checks = CONCEPTS["in_check"].answers(played)
    own, theirs = played.pinned(0), played.pinned(OPPONENT)
    for number, game in enumerate(played.games):
        board = chess.Board(game.fen())
        assert checks[number] == board.is_check()
        for side, found in ((board.turn, own[number]), (not board.turn, theirs[number])):
            pieces = [s for s in chess.SQUARES if board.color_at(s) == side]
            assert found == any(board.is_pinned(side, square) for square in pieces), game.fen()


def test_mates_are_those_of_python_chess(played: Boards) -> None:
    found = CONCEPTS["mate_in_one"].answers(played)
    threatened = CONCEPTS["opponent_mate_in_one"].answers(played)
    for number, game in enumerate(played.games):
        board = chess.Board(game.fen())
        assert found[number] == _can_mate(board)
        if not board.is_check():
            board.push(chess.Move.null())
            assert threatened[number] == _can_mate(board), game.fen()


def _can_mate(board: chess.Board) -> bool:
    for move in list(board.legal_moves):
        board.push(move)
        mated = board.is_checkmate()
        board.pop()
        if mated:
            return True
    return False


# Positions with and without each concept; the same holds with colours swapped.
EXAMPLES = {
    "queen_threat": ("4k3/8/8/3q4/8/2N5/8/4K3 w - - 0 1", "4k3/8/8/3q4/8/1N6/8/4K3 w - - 0 1"),
    "material_advantage": ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "4k3/7p/7p/8/7p/8/8/R3K3 w - - 0 1"),
    "material_behind": ("r3k3/8/8/8/8/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/8/R3K3 w - - 0 1"),
    "contested_open_file": (
        "r3k3/1p6/8/8/8/8/1P6/R3K3 w - - 0 1",
        "r3k3/p7/8/8/8/8/1P6/R3K3 w - - 0 1",
    ),
    "more_mobility": ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "r3k3/8/8/8/8/8/8/4K3 w - - 0 1"),
    "king_in_danger": ("k6r/8/8/8/8/8/6q1/4K3 w - - 0 1", "k7/8/8/8/8/8/8/4K3 w - - 0 1"),
    "fork": ("4k3/8/8/2r1q3/3P4/8/8/4K3 w - - 0 1", "4k3/8/8/2r1p3/3P4/8/8/4K3 w - - 0 1"),
    "own_piece_hanging": (
        "4k3/8/8/3r4/8/3N4/8/6K1 w - - 0 1",
        "4k3/8/8/3r4/8/3N4/2P5/6K1 w - - 0 1",
    ),
    "opponent_piece_hanging": (
        "4k3/8/8/3n4/8/3R4/8/4K3 w - - 0 1",
        "4k3/8/4p3/3n4/8/3R4/8/4K3 w - - 0 1",
    ),
    "passed_pawn": ("4k3/2p5/8/8/4P3/8/8/4K3 w - - 0 1", "4k3/3p4/8/8/4P3/8/8/4K3 w - - 0 1"),
    "isolated_pawn": ("4k3/8/8/8/8/P1P5/8/4K3 w - - 0 1", "4k3/8/8/8/8/PP6/8/4K3 w - - 0 1"),
    "doubled_pawns": ("4k3/8/8/8/P7/P7/8/4K3 w - - 0 1", "4k3/8/8/8/P7/1P6/8/4K3 w - - 0 1"),
    "rook_on_open_file": ("4k3/8/8/8/8/8/1P6/R3K3 w - - 0 1", "4k3/8/8/8/8/8/P7/R3K3 w - - 0 1"),
    "bishop_pair": ("4k3/8/8/8/8/8/8/2BBK3 w - - 0 1", "2bbk3/8/8/8/8/8/8/2BBK3 w - - 0 1"),
    "engine_score": ("4k3/8/8/8/8/8/8/Q3K3 w - - 0 1", chess.STARTING_FEN),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_concept_is_seen_where_it_is(name: str) -> None:
    fens = [*EXAMPLES[name]]
    fens += [chess.Board(fen).mirror().fen() for fen in fens]
    found = CONCEPTS[name].answers(Boards([Game(fen) for fen in fens]))
    assert list(found) == [True, False, True, False]


def test_own_hanging_piece_is_attacked_by_the_other_side() -> None:
    boards = Boards([Game("4k3/8/8/8/8/3N4/8/4K2r w - - 0 1")])
    assert not CONCEPTS["own_piece_hanging"].answers(boards)[0]


def test_an_unknown_concept_is_named() -> None:
    with pytest.raises(ValueError, match="unknown concept 'tempo'; there are in_check"):
        find_concepts(["tempo"])
