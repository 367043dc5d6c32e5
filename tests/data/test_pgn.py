"""The guarded reader of PGN: whatever the text, games or errors, within bounded memory."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rookery.cli import main
from rookery.data import pgn as reader
from rookery.data.openings import load_openings
from rookery.data.pgn import read_pgn, read_pgn_files
from rookery.report.games import sample_games
from rookery.runs.reader import RunReader
from rookery.web.games.records import game_of_pgn

# The second one raises an exception inside python-chess's parser, whatever the visitor.
BREAKERS = ("a2)!", "$" + 5000 * "9")
GOOD = '[Event "good"]\n[Result "1-0"]\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n\n'
WORDS = (
    "[Event \"x\"]\n", "[FEN \"8/8/8/8/8/8/8/K1k5 w - - 0 1\"]\n", "[SetUp \"1\"]\n",
    "[Variant \"Crazyhouse\"]\n", "[Variant \"Chess960\"]\n", "[Result \"1-0\"]\n", "[", "\n",
    "\n\n", "e4", "a2", "O-O", "P@e4", "--", "Z0", "e8=Q", "e2e4", "1.", "1...", "(", ")", "{",
    "}", ";", "%", "$1", BREAKERS[1], "!", "?!", "1-0", "*", "\ufeff", "\0", "é", " ",
)  # fmt: skip


@pytest.mark.parametrize("bad", BREAKERS)
def test_a_game_that_breaks_the_parser_does_not_hide_its_neighbours(bad: str) -> None:
    games = list(read_pgn(f'{GOOD}[Event "bad"]\n\n{bad}\n\n{GOOD}'))
    assert [bool(game.error) for game in games] == [False, True, False]
    assert [len(game.moves) for game in games] == [7, 0, 7]
    assert games[1].headers == {"Event": "bad"}


@pytest.mark.parametrize("words", [["data", "pgn"], ["data", "book"], ["data", "label"]])
def test_commands_skip_what_cannot_be_read_and_say_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    file = tmp_path / "games.pgn"
    file.write_text("".join(f"{bad}\n\n" for bad in BREAKERS) + GOOD + GOOD)
    out = ["--out", str(tmp_path / "out.bin")]
    if words[1] == "label":
        out += ["--engine", "stockfish", "--nodes", "10", "--count", "3"]
        pytest.importorskip("rookery.engines.find")
        from rookery.engines.find import find_stockfish

        if find_stockfish() is None:
            pytest.skip("needs Stockfish (stockfish)")
    assert main([*words, str(file), *out, "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["games"] >= 1
    assert "games that could not be read to their end: 2; the first: " in captured.err
    assert str(file) in captured.err


def test_a_run_with_such_a_game_is_reported(tmp_path: Path) -> None:
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "1.pgn").write_text("".join(f"{bad}\n\n" for bad in BREAKERS) + GOOD)
    assert [game.moves[-1] for game in sample_games(RunReader(tmp_path))] == ["Qxf7#"]


@pytest.mark.parametrize("bad", BREAKERS)
def test_openings_and_the_page_refuse_it_in_one_line(tmp_path: Path, bad: str) -> None:
    with pytest.raises(ValueError, match="the PGN is invalid"):
        game_of_pgn(bad)
    file = tmp_path / "openings.pgn"
    file.write_text(bad)
    with pytest.raises(ValueError, match=r"openings\.pgn"):
        load_openings(str(file), 1)


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(WORDS)).map(" ".join)))
def test_any_text_is_games_or_errors(text: str) -> None:
    for game in read_pgn(text):
        assert game.teaches <= (not game.error)
        played = [move for _, move in game.positions()]
        assert played == game.moves[: len(played)]
        if game.teaches and game.start is not None and not game.start.chess960:
            assert len(played) == len(game.moves)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(WORDS)).map(" ".join))
def test_the_page_and_reports_take_any_text(text: str) -> None:
    try:
        game_of_pgn(text)
    except ValueError as error:
        assert str(error)

    class Run:
        def game_texts(self) -> list[tuple[str, str]]:
            return [("title", text)]

    for game in sample_games(Run()):  # type: ignore[arg-type]
        assert len(game.placements) == len(game.moves) + 1


@pytest.mark.parametrize(
    ("unit", "error"),
    [
        (" ", None),
        ("e4 e5 ", ""),  # an illegal move comes first
        ("Nf3 Nf6 Ng1 Ng8 ", "plies"),
        ("{x} ", "characters"),
        ("( ", "characters"),
        ('[Event "x"]\n', "characters"),
        ("x", "characters"),
    ],
)
def test_huge_games_take_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unit: str, error: str | None
) -> None:
    """A few kilobytes of gzip that unpack to many times the largest game."""
    monkeypatch.setattr(reader, "MOST_PLIES", 500)
    monkeypatch.setattr(reader, "LONGEST_LINE", 1 << 10)
    monkeypatch.setattr(reader, "LARGEST_GAME", 1 << 15)
    file = tmp_path / "bomb.pgn.gz"
    size = 1 << 20
    with gzip.open(file, "wt") as stream:
        stream.write("1. e4 " if unit == "{x} " else "")
        stream.write(unit * (size // len(unit)))
        stream.write(f"\n\n{GOOD}")
    tracemalloc.start()
    try:
        games = list(read_pgn_files([file], 100 if error != "plies" else None))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 700_000  # bytes: less than the text
    assert games[-1].teaches
    if error is None:
        assert len(games) == 1
    else:
        assert games[0].error and error in games[0].error


def test_long_lines_are_not_cut_inside_a_move(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "LONGEST_LINE", 16)
    moves = "Nf3 Nf6 Ng1 Ng8 " * 20
    for text in (moves, moves.replace(" ", " {a comment } "), f"{GOOD}{GOOD}"):
        for game in read_pgn(text):
            assert not game.error
            assert len(game.moves) in (80, 7)
