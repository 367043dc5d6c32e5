"""Long games, many moves, large batches, odd arguments: a right answer or a typed error."""

from __future__ import annotations

import random
import sys
from concurrent.futures import ThreadPoolExecutor

import chess
import numpy as np
import pytest

from rookery import FenError, Game, MoveError, VectorGames
from rookery._core import (
    encode_batch,
    legal_actions_batch,
    perft,
    play_random_plies,
    random_position,
)
from rookery.encodings import OBSERVATIONS

# As many legal moves as any reachable position is known to have (N. Petrovic, 1964).
MOST_MOVES = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"
TOO_MANY_QUEENS = "QQQQQQBk/Q6B/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/KQQQQQQQ w - - 0 1"
# Not reachable, but a legal FEN: 218 moves in another way.
UNREACHABLE = "3Q4/1Q4Q1/4Q3/2Q4R/Q4Q2/3Q4/1Q4Rp/1K1BBNNk w - - 0 1"
LONG_GAME_PLIES = 12_000


def test_the_position_with_most_moves() -> None:
    game = Game(MOST_MOVES)
    moves = game.legal_moves()
    assert game.legal_count() == len(moves) == len(set(moves)) == 218
    assert perft(MOST_MOVES, 1) == 218
    assert len(set(game.legal_actions().tolist())) == 218
    assert int(game.action_mask().sum()) == 218
    board = chess.Board(MOST_MOVES)
    assert sorted(moves) == sorted(move.uci() for move in board.legal_moves)
    flat, offsets = legal_actions_batch([game] * 50)
    assert len(flat) == 50 * 218 and offsets[-1] == 50 * 218


def test_the_same_for_black() -> None:
    board = chess.Board(MOST_MOVES).mirror()
    game = Game(board.fen())
    assert game.legal_count() == 218
    assert sorted(game.legal_actions()) == sorted(Game(MOST_MOVES).legal_actions())


def test_many_moves_in_vector_games() -> None:
    games = VectorGames(100, start_fens=[MOST_MOVES], observation="planes119")
    assert games.legal_offsets[-1] == 100 * 218
    rng = np.random.default_rng(1)
    for _ in range(20):  # the flat list must shrink and grow with the games
        counts = np.diff(games.legal_offsets)
        assert counts.min() > 0
        picks = games.legal_offsets[:-1] + (rng.random(100) * counts).astype(np.int64)
        games.step(games.legal_actions[picks].astype(np.int64))
    games.reset(3)
    assert games.legal_offsets[-1] == 100 * 218


def test_unreachable_positions_with_many_queens() -> None:
    legal = chess.Board(UNREACHABLE).legal_moves
    assert sorted(Game(UNREACHABLE).legal_moves()) == sorted(move.uci() for move in legal)
    with pytest.raises(FenError, match="16"):
        Game(TOO_MANY_QUEENS)


def test_sixteen_pieces_with_as_many_moves_as_possible() -> None:
    """Fifteen queens spread over an empty board: the move lists must be large enough."""
    rng = random.Random(2)
    most = 0
    for _ in range(300):
        board = chess.Board(None)
        squares = rng.sample(range(64), 17)
        board.set_piece_at(squares[0], chess.Piece(chess.KING, chess.WHITE))
        board.set_piece_at(squares[1], chess.Piece(chess.KING, chess.BLACK))
        for square in squares[2:]:
            board.set_piece_at(square, chess.Piece(chess.QUEEN, chess.WHITE))
            if board.status() & chess.STATUS_OPPOSITE_CHECK:
                board.remove_piece_at(square)
        if board.status() & ~chess.STATUS_VALID:
            continue
        game = Game(board.fen())
        assert game.legal_count() == board.legal_moves.count()
        assert len(game.legal_moves()) == game.legal_count()
        most = max(most, game.legal_count())
    assert most > 100


# --- long games ---------------------------------------------------------------------------------


def long_game() -> Game:
    """Quiet moves at random, a pawn step when the clock reaches 140, no captures, no mates."""
    rng = random.Random(3)
    game = Game()
    while game.ply < LONG_GAME_PLIES:
        free = [
            uci for uci in game.legal_moves() if not game.piece_at(chess.parse_square(uci[2:4]))
        ]
        steps = [uci for uci in free if game.piece_at(chess.parse_square(uci[:2])) in "Pp"]
        quiet = [uci for uci in free if uci not in steps]
        preferred = steps if game.halfmove_clock >= 140 and steps else quiet
        for uci in rng.sample(preferred, len(preferred)):
            game.push(uci)
            if game.legal_count():
                break
            game.pop()
        else:  # only captures or mates: another way from a little earlier
            for _ in range(min(game.ply, 10)):
                game.pop()
    return game


def test_a_game_of_twelve_thousand_plies() -> None:
    game = long_game()
    moves = game.moves()
    assert game.ply == len(moves) == LONG_GAME_PLIES
    board = chess.Board()
    for uci in moves:
        board.push_uci(uci)
    assert game.fen() == board.fen()
    assert sorted(game.legal_moves()) == sorted(move.uci() for move in board.legal_moves)
    assert game.can_claim_threefold() == board.can_claim_threefold_repetition()
    assert game.repetitions >= 1
    for name in OBSERVATIONS:
        if name != "kpk3":
            assert np.isfinite(game.encode(name)).all()
    twin = game.copy()
    for uci in reversed(moves):
        assert game.pop() == uci
    assert game.fen() == chess.STARTING_FEN
    assert twin.ply == LONG_GAME_PLIES


def test_thousands_of_repetitions() -> None:
    game = Game()
    for number in range(3000):
        for uci in ("g1f3", "g8f6", "f3g1", "f6g8"):
            game.push(uci)
        assert game.repetitions >= min(number + 2, 250)
        assert game.is_fivefold == (number >= 3)
    assert game.can_claim_threefold()
    for _ in range(4 * 2997):
        game.pop()
    assert game.repetitions == 4
    assert game.outcome(claim_draw=True) == ("threefold_repetition", None)


def test_the_clocks_can_pass_their_limits() -> None:
    game = Game("7k/8/8/8/8/5K2/8/R7 w - - 99999 99999")
    for uci in ("a1a2", "h8g8", "a2a1", "g8h8"):
        game.push(uci)
    assert game.halfmove_clock == 100003
    assert game.fullmove_number == 100001
    game.encode("planes119")


# --- randomness ---------------------------------------------------------------------------------


def test_random_plies_are_seeded() -> None:
    def play(seed: int) -> list[str]:
        game = Game()
        assert play_random_plies(game, 60, seed) == game.ply
        return game.moves()

    assert play(5) == play(5) != play(6)


def test_random_plies_stop_at_the_end() -> None:
    game = Game()
    played = play_random_plies(game, 100_000, 7)
    assert played == game.ply < 100_000
    assert game.outcome() is not None
    assert play_random_plies(game, 10, 8) == 0
    assert play_random_plies(Game(), 0, 8) == 0


def test_random_first_moves_are_uniform() -> None:
    counts: dict[str, int] = {}
    for seed in range(4000):
        game = Game()
        play_random_plies(game, 1, seed)
        counts[game.moves()[0]] = counts.get(game.moves()[0], 0) + 1
    assert len(counts) == 20
    # 200 expected each, standard deviation about 14.
    assert min(counts.values()) > 130 and max(counts.values()) < 270


def test_random_positions_are_uniform() -> None:
    """All legal KRvK positions with White to move are about equally likely."""
    white_kings = np.zeros(64)
    draws = 6400
    for seed in range(draws):
        board = chess.Board(random_position("KRvK", seed, "white"))
        assert board.is_valid() and not board.is_game_over()
        assert board.turn == chess.WHITE
        king = board.king(chess.WHITE)
        assert king is not None
        white_kings[king] += 1
    assert white_kings.min() > 50  # 100 expected
    corners = white_kings[[0, 7, 56, 63]].mean()
    middle = white_kings[[27, 28, 35, 36]].mean()
    assert corners > middle  # a corner king leaves the other king more squares


@pytest.mark.parametrize(
    "material", ["", "v", "K", "Kv", "vK", "KRvKvK", "krvk", "KvK ", "K" * 999]
)
def test_bad_material_is_refused(material: str) -> None:
    with pytest.raises(ValueError):
        random_position(material, 1, "white")


# --- odd arguments ------------------------------------------------------------------------------


def test_batches_of_thousands() -> None:
    games = [Game() for _ in range(3000)]
    for seed, game in enumerate(games):
        play_random_plies(game, seed % 40, seed)
    out = np.zeros((3000, 119, 8, 8), np.float32)
    encode_batch(games, "planes119", out)
    flat, offsets = legal_actions_batch(games)
    assert offsets[-1] == len(flat) == sum(game.legal_count() for game in games)


def test_threads_may_encode_the_same_games_at_once() -> None:
    """The core releases the GIL; games that are only read can be shared."""
    games = [Game() for _ in range(200)]
    for seed, game in enumerate(games):
        play_random_plies(game, seed % 40, seed)
    expected = np.stack([game.encode("planes119") for game in games])

    def encode(_: int) -> np.ndarray:
        out = np.zeros_like(expected)
        encode_batch(games, "planes119", out)
        return out

    with ThreadPoolExecutor(4) as pool:
        for out in pool.map(encode, range(40)):
            np.testing.assert_array_equal(out, expected)


def test_batches_refuse_other_objects() -> None:
    out = np.zeros((1, 19, 8, 8), np.float32)
    for wrong in (None, "Game", [None], [chess.Board()], [Game(), 5]):
        with pytest.raises(TypeError):
            encode_batch(wrong, "planes19", out)  # type: ignore[arg-type]
        with pytest.raises(TypeError):
            legal_actions_batch(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "x"])
def test_bad_seeds_are_refused(seed: object) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError)):
        VectorGames(1, seed=seed)  # type: ignore[arg-type]
    with pytest.raises((TypeError, ValueError, OverflowError)):
        play_random_plies(Game(), 1, seed)  # type: ignore[arg-type]


def test_long_texts_as_moves() -> None:
    game = Game()
    for text in ("e2e4" * 1_000_000, "\0" * 100, "e2e4\0", "\ud800"):
        with pytest.raises((MoveError, TypeError, ValueError)) as caught:
            game.push(text)
        assert len(str(caught.value)) < 1000
    assert game.ply == 0


def test_games_do_not_leak_references() -> None:
    game = Game()
    before = sys.getrefcount(game)
    out = np.zeros((4, 19, 8, 8), np.float32)
    for _ in range(100):
        encode_batch([game] * 4, "planes19", out)
        legal_actions_batch([game] * 4)
    assert sys.getrefcount(game) == before
