"""Opening books made from games, read back by others and compared with polyglot's own."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
from pathlib import Path

import chess
import chess.polyglot
import pytest

from rookery import Game
from rookery.cli import main
from rookery.data.book_writer import MOST_WEIGHT, book_entries, book_from_pgn
from rookery.data.books import Book, BookMove

GAMES = """\
[Event "castling on either side"]
[Result "1-0"]
[WhiteElo "2000"]
[BlackElo "1900"]

1. e4 c5 2. e5 d5 3. exd6 Qxd6 4. Nf3 Bg4 5. Be2 Nc6 6. O-O O-O-O 7. h3 Bxf3 1-0

[Event "a variation and a comment"]
[Result "0-1"]

1. e4 e5 2. Nf3 {usual} Nc6 3. Bb5 a6 4. Bxc6 dxc6 (4... bxc6 5. d4) 5. O-O f6 0-1

[Event "drawn"]
[Result "1/2-1/2"]

1. d4 d5 2. c4 e6 3. Nc3 Nf6 4. Bg5 Be7 5. e3 O-O 6. Nf3 Nbd7 1/2-1/2

[Event "a promotion"]
[Result "1-0"]

1. e4 d5 2. exd5 c6 3. dxc6 Nf6 4. cxb7 Nd5 5. bxa8=N Nc7 6. Nxc7+ 1-0
"""
OTHERS = """
[Event "not finished"]
[Result "*"]

1. e4 e5 *

[Event "broken"]
[Result "1-0"]

1. e4 e5 2. Ke5 1-0

[Event "no game"]
[Result "1-0"]

1. e4 -- 2. d4 1-0

[Event "another game"]
[Variant "Atomic"]
[Result "1-0"]

1. e4 e5 1-0

[Event "only the moves tell the result"]

1. d4 Nf6 2. c4 e6 3. Nc3 Bb4 0-1

[Event "back and forth"]
[Result "1-0"]

1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 1-0
"""


def after(*moves: str) -> Game:
    game = Game()
    for move in moves:
        game.push(move)
    return game


def test_a_book_is_made_and_read_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pgn, out = tmp_path / "games.pgn.gz", tmp_path / "new" / "book.bin"
    pgn.write_bytes(gzip.compress((GAMES + OTHERS).encode()))
    words = ["data", "book", str(pgn), "--out", str(out), "--least-games", "1", "--json"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["file"], found["games"], found["skipped"]) == (str(out), 6, 4)
    assert os.listdir(out.parent) == ["book.bin"]
    with Book(out) as book:
        assert len(book) == found["entries"]
        assert len(set(book.positions())) == found["positions"]
        assert list(book.positions()) == sorted(book.positions())
        # Two of three games with e4 were won; d4 drew once and lost once. The game that comes
        # back to the start counts once.
        moves = [BookMove("e2e4", 4), BookMove("g1f3", 2), BookMove("d2d4", 1)]
        assert book.moves(Game()) == moves
        assert book.moves(after("e2e4")) == [BookMove("e7e5", 2)]  # the others lost
        spanish = after(*["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5c6", "d7c6"])
        assert book.moves(spanish) == []  # White castled and lost
        knight = after(*["e2e4", "d7d5", "e4d5", "c7c6", "d5c6", "g8f6", "c6b7", "f6d5"])
        assert book.moves(knight) == [BookMove("b7a8n", 2)]
    board = chess.Board()
    for move in ["e4", "c5", "e5", "d5", "exd6", "Qxd6", "Nf3", "Bg4", "Be2", "Nc6"]:
        board.push_san(move)
    with chess.polyglot.open_reader(out) as reader:
        assert [entry.move.uci() for entry in reader.find_all(board)] == ["e1g1"]
        assert reader.find(board).raw_move == chess.H1 | chess.E1 << 6


def test_the_options_choose_games_and_moves(tmp_path: Path) -> None:
    pgn = tmp_path / "games.pgn"
    pgn.write_text(GAMES)
    content, counts = book_from_pgn([pgn])
    assert counts == {"games": 4, "skipped": 0, "positions": 1, "entries": 1}  # 1. e4
    assert book_from_pgn([pgn, pgn])[1]["games"] == 8
    assert book_from_pgn([pgn], plies=1, least_games=1)[1]["entries"] == 2
    assert book_from_pgn([pgn], least_rating=1900, least_games=1)[1]["games"] == 1
    assert book_from_pgn([pgn], limit=2)[1]["games"] == 2
    assert len(content) == 16


def test_weights_fit_into_sixteen_bits() -> None:
    statistics = {(7, 1): [9, 200_000], (7, 2): [9, 100_000], (7, 3): [9, 1], (3, 4): [9, 5]}
    assert book_entries(statistics, 2) == [
        (3, 4, 5),
        (7, 1, MOST_WEIGHT),
        (7, 2, MOST_WEIGHT // 2),
        (7, 3, 1),
    ]


def test_the_book_is_the_one_that_polyglot_makes(tmp_path: Path) -> None:
    program = shutil.which("polyglot", path=f"{os.environ.get('PATH', '')}:/usr/games")
    if program is None:
        pytest.skip("needs polyglot: install Debian's polyglot")
    pgn, theirs = tmp_path / "games.pgn", tmp_path / "theirs.bin"
    pgn.write_text(GAMES)
    for least in (1, 2):
        options = ["-max-ply", "12", "-min-game", str(least)]
        command = [program, "make-book", "-pgn", str(pgn), "-bin", str(theirs), *options]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=60)
        ours, _ = book_from_pgn([pgn], plies=12, least_games=least)
        assert len(ours) >= 16 and _set(ours) == _set(theirs.read_bytes())


def _set(book: bytes) -> set[bytes]:
    """Entries without an order: that of equal weights is not laid down."""
    return {book[at : at + 16] for at in range(0, len(book), 16)}


@pytest.mark.parametrize(
    ("text", "out", "message"),
    [
        ("hello", "b.bin", "no game with a result"),
        (GAMES, "b.pgn", "must end in .bin"),
        (GAMES.split("[Event", 2)[1].join(["[Event", ""]), "b.bin", "lower --least-games"),
        (GAMES, "folder.bin", "is a folder"),
    ],
)
def test_errors_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, out: str, message: str
) -> None:
    pgn = tmp_path / "games.pgn"
    pgn.write_text(text)
    (tmp_path / "folder.bin").mkdir()
    assert main(["data", "book", str(pgn), "--out", str(tmp_path / out)]) == 1
    error = capsys.readouterr().err
    assert message in error and len(error.splitlines()) == 1
    assert sorted(os.listdir(tmp_path)) == ["folder.bin", "games.pgn"]
