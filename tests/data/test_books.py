from __future__ import annotations

import struct

import chess
import chess.polyglot
import numpy as np
import pytest

from rookery import Game
from rookery.data import books
from rookery.data.books import Book, BookMove, find_book
from rookery.data.paths import MissingDataError

CASTLE = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"


def entry(fen: str, move: str, weight: int) -> bytes:
    """One Polyglot entry, castling as the king taking its rook."""
    board = chess.Board(fen)
    parsed = chess.Move.from_uci(move)
    raw = parsed.to_square | parsed.from_square << 6
    if parsed.promotion:
        raw |= (parsed.promotion - 1) << 12
    return struct.pack(">QHHI", chess.polyglot.zobrist_hash(board), raw, weight, 0)


def write_book(path, entries: list[bytes]):
    path.write_bytes(b"".join(sorted(entries)))
    return path


@pytest.fixture
def small_book(tmp_path):
    start = chess.STARTING_FEN
    entries = [
        entry(start, "e2e4", 3),
        entry(start, "d2d4", 1),
        entry(start, "e2e5", 9),  # illegal: a hash collision in a real book
        entry(CASTLE, "e1h1", 5),
        entry(CASTLE, "e1a1", 0),
        entry("8/P6k/8/8/8/8/8/K7 w - - 0 1", "a7a8q", 1),
    ]
    with Book(write_book(tmp_path / "small.bin", entries)) as book:
        yield book


def test_moves_are_legal_and_sorted(small_book: Book) -> None:
    assert small_book.moves(Game()) == [BookMove("e2e4", 3), BookMove("d2d4", 1)]
    assert small_book.contains(Game(), "d2d4")
    assert not small_book.contains(Game(), "e2e5")
    assert small_book.moves(Game("8/8/8/8/8/k7/8/KR6 w - - 0 1")) == []
    assert len(small_book) == 6


def test_castling_and_promotion_are_spelt_as_in_the_game(small_book: Book) -> None:
    assert [move.move for move in small_book.moves(Game(CASTLE))] == ["e1g1", "e1c1"]
    chess960 = Game("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1", chess960=True)
    assert [move.move for move in small_book.moves(chess960)] == ["e1h1", "e1a1"]
    promotion = Game("8/P6k/8/8/8/8/8/K7 w - - 0 1")
    assert small_book.moves(promotion) == [BookMove("a7a8q", 1)]


def test_a_rook_move_is_not_taken_for_castling(tmp_path) -> None:
    fen = "3k4/8/8/8/8/8/8/K3R3 w - - 0 1"
    with Book(write_book(tmp_path / "rook.bin", [entry(fen, "e1h1", 1)])) as book:
        assert book.moves(Game(fen)) == [BookMove("e1h1", 1)]


def test_choice_follows_the_weights(small_book: Book) -> None:
    rng = np.random.default_rng(0)
    chosen = [small_book.choose(Game(), rng) for _ in range(400)]
    assert 260 < chosen.count("e2e4") < 340 and set(chosen) == {"e2e4", "d2d4"}
    assert small_book.choose(Game("8/8/8/8/8/k7/8/KR6 w - - 0 1"), rng) is None


def test_a_book_without_weights(tmp_path) -> None:
    entries = [entry(chess.STARTING_FEN, move, 0) for move in ("e2e4", "d2d4")]
    with Book(write_book(tmp_path / "flat.bin", entries)) as book:
        chosen = {book.choose(Game(), np.random.default_rng(seed)) for seed in range(20)}
    assert chosen == {"e2e4", "d2d4"}


def test_missing_and_broken_books(tmp_path, monkeypatch) -> None:
    with pytest.raises(MissingDataError, match="gnuchess-book"):
        Book(tmp_path / "absent.bin")
    broken = tmp_path / "broken.bin"
    broken.write_bytes(b"not a book")
    with pytest.raises(ValueError, match="multiple of 16"):
        Book(broken)
    broken.write_bytes(b"")
    with pytest.raises(ValueError, match="0 bytes"):
        Book(broken)
    monkeypatch.setenv("ROOKERY_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr(books, "USUAL_FOLDERS", ())
    with pytest.raises(MissingDataError, match="ROOKERY_DATA"):
        find_book()


def test_the_users_own_book_comes_first(tmp_path, monkeypatch) -> None:
    folder = tmp_path / "openings"
    folder.mkdir()
    path = write_book(folder / "own.bin", [entry(chess.STARTING_FEN, "a2a3", 1)])
    monkeypatch.setenv("ROOKERY_DATA", str(tmp_path))
    with find_book() as book:
        assert book.path == path


def test_real_books_agree_with_python_chess() -> None:
    paths = books.book_paths()
    if not paths:
        pytest.skip("needs an opening book: install Debian's gnuchess-book")
    rng = np.random.default_rng(1)
    for path in paths:
        with Book(path) as book, chess.polyglot.open_reader(path) as reader:
            for _ in range(20):
                game, board = Game(), chess.Board()
                while move := book.choose(game, rng):
                    theirs = [
                        entry.move.uci() for entry in reader.find_all(board, minimum_weight=0)
                    ]
                    assert sorted(entry.move for entry in book.moves(game)) == sorted(theirs)
                    game.push(move)
                    board.push_uci(move)
                assert game.ply > 2
