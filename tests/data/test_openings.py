"""Openings from files, random plies and the start."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from rookery._core import STARTING_FEN, Game, settled_material
from rookery.data.openings import load_openings

EPD = """\
rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1
# a comment, then an EPD line with operations
rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - bm d5; id "x";

rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq c6 0 2
"""
PGN = """\
[Event "one"]
[ECO "C20"]

1. e4 e5 2. Nf3 Nc6 *

[Event "two"]
[SetUp "1"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]

1. e4 Kd7 *
"""


def test_start() -> None:
    book = load_openings("start")
    assert book.size == 1
    assert book.opening(0).game().fen() == book.opening(9).game().fen() == STARTING_FEN


def test_random_plies_are_drawn_once_a_pair() -> None:
    book = load_openings("random:8", seed=1)
    assert book.size is None
    lines = [book.opening(pair).moves for pair in range(200)]
    assert all(len(line) == 8 for line in lines)
    assert len(set(lines)) == 200
    assert lines[7] == book.opening(7).moves == load_openings("random:8", seed=1).opening(7).moves
    assert lines[7] != load_openings("random:8", seed=2).opening(7).moves
    assert load_openings("random:60").opening(3).game().outcome() is None


def test_balanced_openings_leave_neither_side_behind() -> None:
    """Of 200 random openings some lose a piece; of the balanced ones none does."""
    plain, balanced = load_openings("random:8", seed=1), load_openings("balanced:8", seed=1)
    lost = sum(abs(settled_material(plain.opening(pair).game())) > 100 for pair in range(200))
    assert lost > 10
    for pair in range(200):
        opening = balanced.opening(pair)
        assert len(opening.moves) == 8
        assert abs(settled_material(opening.game())) <= 100
        if abs(settled_material(plain.opening(pair).game())) <= 100:
            assert opening == plain.opening(pair), "only bad openings are drawn again"


@pytest.mark.parametrize(
    ("fen", "centipawns"),
    [
        (STARTING_FEN, 0),
        ("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1", 100),  # the queen falls, nothing retakes
        ("4k3/8/4p3/3p4/8/8/8/3QK3 w - - 0 1", 900 - 200),  # the pawn is guarded
        ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", 900),  # promotes
        ("k7/8/8/8/8/8/5PPP/r5K1 w - - 0 1", -1_000_000),  # is mate already
    ],
)
def test_settled_material(fen: str, centipawns: int) -> None:
    """Exchanges are played out before pieces are counted."""
    assert settled_material(Game(fen)) == centipawns


def test_epd_file(tmp_path: Path) -> None:
    path = tmp_path / "suite.epd"
    path.write_text(EPD)
    book = load_openings(str(path), seed=1)
    assert book.size == 3
    fens = {book.opening(pair).game().fen() for pair in range(3)}
    assert len(fens) == 3
    assert book.opening(0) == book.opening(3)
    assert [book.opening(i).fen for i in range(3)] != [
        load_openings(str(path), seed=3).opening(i).fen for i in range(3)
    ]


def test_pgn_file(tmp_path: Path) -> None:
    path = tmp_path / "book.pgn.gz"
    path.write_bytes(gzip.compress(PGN.encode()))
    book = load_openings(str(path))
    assert book.size == 2
    games = {book.opening(pair).game().fen() for pair in range(2)}
    assert "4k3" not in "".join(games)
    assert any(fen.startswith("8/3k4/8/8/4P3/8/8/4K3 w") for fen in games)
    short = load_openings(str(path), plies=1)
    assert all(len(short.opening(pair).moves) == 1 for pair in range(2))


def test_chess960_positions(tmp_path: Path) -> None:
    path = tmp_path / "frc.epd"
    path.write_text("bnrbkrqn/pppppppp/8/8/8/8/PPPPPPPP/BNRBKRQN w KQkq - 0 1\n")
    opening = load_openings(str(path)).opening(0)
    assert opening.chess960 and opening.game().chess960


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("not a position\n", "line 1"),
        ("8/8/8/8/8/8/8/8 w - - 0 1\n", "line 1"),
        ("", "no position"),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\n", "all its positions are over"),
        (f"{STARTING_FEN}\nrnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w - -\n", "line 2"),
    ],
)
def test_bad_files_are_named(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.epd"
    path.write_text(content)
    with pytest.raises(ValueError, match=message) as caught:
        load_openings(str(path))
    assert "bad.epd" in str(caught.value)


def test_text_that_is_no_game_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.pgn"
    path.write_text("this is no game\n")
    with pytest.raises(ValueError, match=r"bad\.pgn.*neither tags nor moves"):
        load_openings(str(path))


@pytest.mark.parametrize("spec", ["nowhere.epd", "random:x", "random:-1", "random:100000"])
def test_bad_specifications(spec: str) -> None:
    with pytest.raises(ValueError, match=r"random|no such file"):
        load_openings(spec)


def test_every_public_suite_opens(data_dir: Path) -> None:
    files = [p for p in (data_dir / "openings").iterdir() if p.name.endswith(("epd", "gz"))]
    assert files
    for path in files:
        book = load_openings(str(path))
        assert book.size is not None and book.size > 500
        assert all(book.opening(pair).game().outcome() is None for pair in range(20))


BAD_PGN = """\
[Event "fine"]

1. d4 d5 2. c4 *

[Event "over"]

1. f3 e5 2. g4 Qh4# 0-1

[Event "bad"]

1. e4 e5 2. Ke3 Nf6 *

[Event "bad position"]
[SetUp "1"]
[FEN "9/8/8/8/8/8/8/8 w - - 0 1"]

1. e4 *
"""


def test_bad_and_finished_games_are_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "book.pgn"
    path.write_text(PGN + "\n" + BAD_PGN)
    book = load_openings(str(path), seed=2)
    assert book.size == 3
    assert {len(book.opening(pair).moves) for pair in range(3)} == {2, 3, 4}
    assert book.opening(0) == book.opening(3)
    for pair in range(3):
        assert book.opening(pair).game().outcome() is None
    error = capsys.readouterr().err.strip()
    assert "\n" not in error and "2 unreadable games" in error and "1 finished games" in error
    assert not caplog.records  # python-chess keeps quiet
    # The n-th opening does not depend on who asked first.
    other = load_openings(str(path), seed=2)
    assert other.opening(2) == book.opening(2) and other.opening(0) == book.opening(0)


def test_plies_of_a_pgn_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "book.pgn"
    path.write_text(PGN + "\n" + BAD_PGN)
    book = load_openings(f"{path}:3")
    assert {book.opening(pair).moves[:3] for pair in range(4)} >= {
        ("e2e4", "e7e5", "g1f3"),
        ("f2f3", "e7e5", "g2g4"),  # not yet over after three plies
    }
    assert "finished" not in capsys.readouterr().err
    with pytest.raises(ValueError, match="no such file"):
        load_openings(f"{tmp_path}/none.pgn:3")
    epd = tmp_path / "book.epd"
    epd.write_text(EPD)
    with pytest.raises(ValueError, match="only the games of a PGN file"):
        load_openings(f"{epd}:3")


def test_a_pgn_file_without_a_usable_game(tmp_path: Path) -> None:
    path = tmp_path / "book.pgn"
    path.write_text('[Event "bad"]\n\n1. e4 e5 2. Ke3 *\n')
    with pytest.raises(ValueError, match=r"book\.pgn.*no game can be read: illegal san"):
        load_openings(str(path))
    path.write_text('[Event "over"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n')
    with pytest.raises(ValueError, match="all its games are over"):
        load_openings(str(path))
    path.write_text(
        '[Event "over"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n\n[Event "bad"]\n\n1. e4 e5 2. Ke3 *\n'
    )
    with pytest.raises(ValueError, match=r"illegal san: 'Ke3' in .* \(1 others are over\)"):
        load_openings(str(path))


def test_plies_are_part_of_a_matchs_identity(tmp_path: Path) -> None:
    from rookery.arena.match import MatchSettings, fingerprint

    path = tmp_path / "book.pgn"
    path.write_text(PGN)
    names = ("a", "b")
    whole, cut = (
        fingerprint(names, MatchSettings(openings=spec)) for spec in (str(path), f"{path}:2")
    )
    assert whole != cut
    moved = tmp_path / "moved.pgn"
    path.rename(moved)
    assert fingerprint(names, MatchSettings(openings=f"{moved}:2")) == cut
