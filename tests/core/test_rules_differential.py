"""The rules in step with python-chess, and the cases that random games rarely meet."""

from __future__ import annotations

import csv
from pathlib import Path

import chess
import chess.polyglot
import pytest

import board_families
import differential
from rookery import Game, MoveError

PLIES = 200_000
PARTS = 4  # so that test workers can share them

RARE = [
    *("en passant", "castling", "taken back", "threefold claim", "fifty-move claim"),
    *(f"promotion to {piece}" for piece in ("knight", "bishop", "rook", "queen")),
    *("checkmate", "stalemate", "insufficient_material"),
    *("seventyfive_moves", "fivefold_repetition"),
    *(f"family {family}" for family in board_families.FAMILIES),
]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_random_games_agree_with_python_chess(part: int) -> None:
    report = differential.compare_games(PLIES // PARTS, seed=100 + part)
    assert report.differences == []
    assert report.plies >= PLIES // PARTS
    assert [kind for kind in RARE if report.seen[kind] < 3] == []  # all rules were met


def both(fen: str, moves: str = "", chess960: bool = False) -> tuple[chess.Board, Game]:
    """The same game on a python-chess board and in the core."""
    board, game = chess.Board(fen, chess960=chess960), Game(fen, chess960=chess960)
    for uci in moves.split():
        board.push_uci(uci)
        game.push(uci)
    return board, game


def agree(board: chess.Board, game: Game) -> None:
    assert game.fen() == board.fen()
    assert sorted(game.legal_moves()) == sorted(move.uci() for move in board.legal_moves)
    assert game.in_check == board.is_check()
    assert game.polyglot_key == chess.polyglot.zobrist_hash(board)
    assert game.can_claim_threefold() == board.can_claim_threefold_repetition()
    assert game.can_claim_fifty_moves() == board.can_claim_fifty_moves()
    assert game.can_claim_draw() == board.can_claim_draw()
    assert game.is_threefold == board.is_repetition(3)
    assert game.is_fifty_moves == board.is_fifty_moves()
    assert game.is_seventyfive_moves == board.is_seventyfive_moves()
    assert game.is_insufficient_material == board.is_insufficient_material()
    for claim_draw in (False, True):
        expected = differential.outcome_of(board, claim_draw)
        assert game.outcome(claim_draw=claim_draw) == expected


# --- the fifty-move rule ------------------------------------------------------------------------


def test_mate_on_the_hundredth_ply_wins() -> None:
    board, game = both("7k/8/6K1/8/8/8/8/R7 w - - 99 80", "a1a8")
    assert game.halfmove_clock == 100
    assert game.outcome(claim_draw=True) == ("checkmate", True)
    assert not game.is_fifty_moves
    agree(board, game)


def test_stalemate_on_the_hundredth_ply_is_stalemate() -> None:
    board, game = both("7k/8/8/6K1/8/8/8/5Q2 w - - 99 80", "f1f7")
    assert game.outcome(claim_draw=True) == ("stalemate", None)
    agree(board, game)


def test_claim_by_the_intended_move() -> None:
    board, game = both("7k/8/8/6K1/8/8/8/5Q2 w - - 99 80")
    assert game.can_claim_fifty_moves() and not game.is_fifty_moves
    agree(board, game)


def test_no_claim_if_every_quiet_move_ends_the_game() -> None:
    # White's only legal moves are captures: the clock cannot reach 100.
    board, game = both("8/8/8/8/8/1k6/1q6/K7 w - - 99 80")
    assert game.legal_moves() == []  # sanity: this one is mate
    agree(board, game)
    board, game = both("k7/8/8/8/8/8/1q6/K7 w - - 99 80")
    assert game.legal_moves() == ["a1b2"]
    assert not game.can_claim_fifty_moves()
    agree(board, game)


@pytest.mark.parametrize("clock", [98, 99, 100, 148, 149, 150, 151])
def test_clock_limits(clock: int) -> None:
    for moves in ("", "a1a2", "a1a2 h8g8"):
        agree(*both(f"7k/8/8/8/8/5K2/8/R7 w - - {clock} 120", moves))


def test_seventyfive_moves_end_the_game_without_a_claim() -> None:
    _, game = both("7k/8/8/8/8/5K2/8/R7 w - - 149 120", "a1a2")
    assert game.outcome() == ("seventyfive_moves", None)


# --- repetition ---------------------------------------------------------------------------------

KNIGHT_DANCE = "g1f3 g8f6 f3g1 f6g8 "


def test_threefold_from_the_start() -> None:
    board, game = both(chess.STARTING_FEN, KNIGHT_DANCE * 2)
    assert game.repetitions == 3
    assert game.outcome(claim_draw=True) == ("threefold_repetition", None)
    assert game.outcome() is None
    agree(board, game)


def test_threefold_claim_by_the_intended_move() -> None:
    board, game = both(chess.STARTING_FEN, KNIGHT_DANCE + "g1f3 g8f6 f3g1")
    assert not game.is_threefold
    assert game.can_claim_threefold()
    agree(board, game)


def test_fivefold_ends_the_game() -> None:
    board, game = both(chess.STARTING_FEN, KNIGHT_DANCE * 4)
    assert game.outcome() == ("fivefold_repetition", None)
    agree(board, game)


def test_lost_castling_rights_make_another_position() -> None:
    # The rook leaves and comes back: same squares, other rights.
    fen = "r3k3/8/8/8/8/8/8/4K2R w K - 0 1"
    dance = "h1h2 a8a7 h2h1 a7a8 "
    board, game = both(fen, dance * 2)
    assert game.repetitions == 2
    agree(board, game)
    agree(*both(fen, dance * 2 + "h1h2 a8a7 h2h1"))
    agree(*both(fen, dance * 3))


def test_legal_en_passant_makes_another_position() -> None:
    # After e2e4 Black may capture on e3; when the position comes back he no longer may.
    fen = "rnbqkbnr/ppp1pppp/8/8/3p4/8/PPPPPPPP/RNBQKBNR w KQkq - 0 3"
    dance = "g8f6 g1f3 f6g8 f3g1 "
    for times, expected in ((1, 1), (2, 2), (3, 3)):
        board, game = both(fen, "e2e4 " + dance * times)
        assert game.repetitions == expected
        agree(board, game)


def test_impossible_en_passant_is_the_same_position() -> None:
    # No pawn can capture on e3, so the double step leaves an ordinary position.
    board, game = both(chess.STARTING_FEN, "e2e4 g8f6 g1f3 f6g8 f3g1 g8f6 g1f3 f6g8 f3g1")
    assert game.repetitions == 3
    agree(board, game)


def test_pinned_en_passant_is_the_same_position() -> None:
    # d4xe3 would uncover the rook on h4: the square is not part of the position.
    fen = "8/8/8/8/k2p3R/8/4P3/4K3 w - - 0 1"
    board, game = both(fen, "e2e4 a4b4 e1d1 b4a4 d1e1 a4b4 e1d1 b4a4 d1e1")
    assert "e3" not in both(fen, "e2e4")[1].fen()
    assert game.repetitions == 3
    agree(board, game)


def test_taking_back_forgets_the_repetition() -> None:
    board, game = both(chess.STARTING_FEN, KNIGHT_DANCE * 2)
    for _ in range(3):
        game.pop()
        board.pop()
        agree(board, game)
    assert game.repetitions == 2


def test_a_copy_keeps_the_history_and_is_independent() -> None:
    board, game = both(chess.STARTING_FEN, KNIGHT_DANCE + "g1f3 g8f6 f3g1")
    twin = game.copy()
    twin.push("f6g8")
    assert twin.repetitions == 3
    agree(board, game)
    assert game.moves() == twin.moves()[:-1]
    assert twin.start_fen == chess.STARTING_FEN


# --- dead positions -----------------------------------------------------------------------------

DEAD = [
    "8/8/4k3/8/8/3K4/8/8 w - - 0 1",
    "8/8/4k3/8/8/3K4/5N2/8 w - - 0 1",
    "8/8/4k3/8/8/3K4/5B2/8 b - - 0 1",
    "8/8/4k3/5b2/8/3K4/4B3/8 w - - 0 1",  # bishops on squares of the same colour
    "8/b1b5/4k3/8/8/3K4/5B2/8 w - - 0 1",
]
ALIVE = [
    "8/8/4k3/4b3/8/3K4/4B3/8 w - - 0 1",  # opposite colours can mate in a corner
    "8/8/4k3/8/8/3K4/3NN3/8 w - - 0 1",
    "8/8/4k3/5n2/8/3K4/5N2/8 w - - 0 1",
    "8/8/4k3/5n2/8/3K4/5B2/8 w - - 0 1",
    "8/8/4k3/8/8/3K4/5P2/8 w - - 0 1",
    "8/8/4k3/8/8/3K4/5R2/8 w - - 0 1",
    "8/8/4k3/5q2/8/3K4/8/5N2 w - - 0 1",
]


@pytest.mark.parametrize("fen", DEAD + ALIVE)
def test_dead_positions(fen: str) -> None:
    board, game = both(fen)
    assert game.is_insufficient_material == (fen in DEAD)
    agree(board, game)


def test_capture_that_leaves_dead_material_ends_the_game() -> None:
    _, game = both("8/8/4k3/8/8/3Kr3/8/8 w - - 0 1", "d3e3")
    assert game.outcome() == ("insufficient_material", None)


# --- castling -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fen",
    [
        "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
        "r3k2r/8/8/8/8/8/6p1/R3K2R w KQkq - 0 1",  # g2 covers f1 and h1
        "r3k2r/8/8/8/1b6/8/8/R3K2R w KQkq - 0 1",  # in check
        "1r2k2r/8/8/8/8/8/8/R3K2R w KQk - 0 1",  # b1 attacked: queenside still allowed
        "r3k2r/8/8/8/8/8/8/RN2K2R w KQkq - 0 1",  # b1 occupied
        "r3k2r/8/8/8/8/8/8/R3K2R b Kq - 0 1",
    ],
)
def test_castling_conditions(fen: str) -> None:
    board, game = both(fen)
    agree(board, game)
    for move in list(board.legal_moves):
        agree(*both(fen, move.uci()))


@pytest.mark.parametrize(
    "fen",
    [
        "1r2k1r1/8/8/8/8/8/8/1R2K1R1 w KQkq - 0 1",
        "8/8/8/8/8/7k/8/qR1K1R2 w KQ - 0 1",  # the castling rook shields the king
        "rk6/8/8/8/8/8/8/RK6 w Qq - 0 1",
        "6kr/8/8/8/8/8/8/6KR w Kk - 0 1",
        "1k2rr2/8/8/8/8/8/8/1K2RR2 w Ee - 0 1",  # the inner rook castles: a file letter
        "r1k4r/8/8/8/8/8/8/R1K4R w KQkq - 0 1",
    ],
)
def test_chess960_castling(fen: str) -> None:
    board, game = both(fen, chess960=True)
    agree(board, game)
    for move in list(board.legal_moves):
        agree(*both(fen, move.uci(), chess960=True))


# --- moves in and out ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "uci",
    ["", "e2", "e2e5", "e7e5", "e2e4q", "e2e4 ", "0000", "e1g1", "i2i4", "e2-e4", "a1a1", "é2e4"],
)
def test_bad_moves_are_refused_and_change_nothing(uci: str) -> None:
    game = Game()
    assert not game.is_legal(uci)
    with pytest.raises(MoveError) as caught:
        game.push(uci)
    if uci.isascii():
        assert uci in str(caught.value)
    assert game.fen() == chess.STARTING_FEN
    assert game.moves() == []


@pytest.mark.parametrize("uci", ["a7a8", "a7a8k", "a7a8p", "a7a8Q", "a7a8qq"])
def test_bad_promotions_are_refused(uci: str) -> None:
    game = Game("8/P6k/8/8/8/8/8/K7 w - - 0 1")
    with pytest.raises(MoveError):
        game.push(uci)


def test_pop_at_the_start_is_an_index_error() -> None:
    with pytest.raises(IndexError):
        Game().pop()


def test_moves_round_trip() -> None:
    board, game = both(chess.STARTING_FEN, "e2e4 e7e5 g1f3 b8c6 f1b5 g8f6 e1g1 f6e4")
    assert game.moves() == [move.uci() for move in board.move_stack]
    while board.move_stack:
        assert game.pop() == board.pop().uci()
        agree(board, game)
    assert game.ply == 0


def test_pieces_and_material() -> None:
    board, game = both("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
    for square in chess.SQUARES:
        piece = board.piece_at(square)
        assert game.piece_at(square) == ("" if piece is None else piece.symbol())
    assert game.piece_count() == len(board.piece_map())
    assert game.material() == "KQRRBBNNPPPPPPPPvKQRRBBNNPPPPPPPP"
    assert Game("8/8/4k3/8/8/3K4/5R2/8 b - - 0 1").material() == "KRvK"
    for bad in (-1, 64, 1000):
        with pytest.raises(ValueError, match=str(bad)):
            game.piece_at(bad)


# --- Polyglot keys ------------------------------------------------------------------------------

# From the format's own description: http://hgm.nubati.net/book_format.html
POLYGLOT = [
    ("", 0x463B96181691FC9C),
    ("e2e4", 0x823C9B50FD114196),
    ("e2e4 d7d5", 0x0756B94461C50FB0),
    ("e2e4 d7d5 e4e5", 0x662FAFB965DB29D4),
    ("e2e4 d7d5 e4e5 f7f5", 0x22A48B5A8E47FF78),
    ("e2e4 d7d5 e4e5 f7f5 e1e2", 0x652A607CA3F242C1),
    ("e2e4 d7d5 e4e5 f7f5 e1e2 e8f7", 0x00FDD303C946BDD9),
    ("a2a4 b7b5 h2h4 b5b4 c2c4", 0x3C8123EA7B067637),
    ("a2a4 b7b5 h2h4 b5b4 c2c4 b4c3 a1a3", 0x5C3F9B829B279560),
]


@pytest.mark.parametrize(("moves", "key"), POLYGLOT)
def test_polyglot_keys_of_the_specification(moves: str, key: int) -> None:
    assert both(chess.STARTING_FEN, moves)[1].polyglot_key == key


def test_polyglot_keys_of_the_data_folder(data_dir: Path) -> None:
    path = data_dir / "ground_truth" / "polyglot_hash.csv"
    if not path.exists():
        pytest.skip("needs the data folder: ground_truth/polyglot_hash.csv")
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert rows
    for row in rows:
        game = both(chess.STARTING_FEN, row["uci_moves"])[1]
        assert game.fen() == row["fen"]
        assert game.polyglot_key == int(row["polyglot_key"], 16), row["fen"]
