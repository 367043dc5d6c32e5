"""Damaged, foreign and unusable files: one line that names them, and nothing is overwritten."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from rookery import Game
from rookery.arena.pgn import Journal, PgnError
from rookery.cli import main
from rookery.data.position_files import TextFile, read_text
from rookery.data.puzzles import read_puzzles
from rookery.engines.faults import EngineFault
from rookery.players.human import HumanPlayer
from rookery.players.registry import make_player
from rookery.players.spec import SpecError

EPD = 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - bm d5; id "x";\n'


def error_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command that must fail; returns its one line of error."""
    assert main(words) == 1
    captured = capsys.readouterr()
    assert captured.out == "" and len(captured.err.splitlines()) == 1
    return captured.err


@pytest.mark.parametrize(
    "words",
    [
        ["suite", "random", "FILE"],
        ["arena", "random", "random", "--games", "2", "--openings", "FILE"],
        ["puzzles", "random", "FILE"],
        ["data", "pgn", "FILE", "--out", "OUT"],
        ["data", "puzzles", "FILE", "--out", "OUT"],
        ["data", "book", "FILE", "--out", "OUT.bin"],
    ],
)
def test_a_cut_off_gzip_file_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    file = tmp_path / "cut.gz"
    file.write_bytes(gzip.compress(EPD.encode() * 50)[:-12])
    places = {"FILE": str(file), "OUT": str(tmp_path / "o"), "OUT.bin": str(tmp_path / "o.bin")}
    text = error_of(capsys, *(places.get(word, word) for word in words))
    assert f"{file}: the gzip file is cut off or damaged" in text
    assert os.listdir(tmp_path) == ["cut.gz"]


def test_every_damage_of_a_gzip_file_is_reported(tmp_path: Path) -> None:
    whole = gzip.compress(EPD.encode() * 5)
    file = tmp_path / "x.gz"
    torn = [whole[:length] for length in range(2, len(whole), 5)]
    flipped = [whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :] for at in range(10, 40, 4)]
    for content in (*torn, *flipped, whole + b"more"):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=r"x\.gz: the gzip file is cut off or damaged"):
            read_text(file)


@pytest.mark.parametrize("words", [["suite", "random", "FILE"], ["puzzles", "random", "FILE"]])
def test_files_that_may_not_be_read_are_named(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
) -> None:
    file = tmp_path / "x.csv"
    file.write_text(EPD)

    def refuse(self: Path, *arguments: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)  # root may read every file
    text = error_of(capsys, *(str(file) if word == "FILE" else word for word in words))
    assert f"{file}: access is not permitted" in text and "writ" not in text


@pytest.mark.parametrize("zipped", [False, True])
def test_a_byte_order_mark_is_skipped(tmp_path: Path, zipped: bool) -> None:
    file = tmp_path / "x.epd"
    content = b"\xef\xbb\xbf" + EPD.encode()
    file.write_bytes(gzip.compress(content) if zipped else content)
    assert read_text(file) == EPD
    assert main(["suite", "random", str(file)]) == 0


def test_an_oversized_field_of_a_puzzle_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "p.csv"
    file.write_text(f"PuzzleId,FEN,Moves,Rating,Themes\nx,{'a' * 200_000},e2e4,1000,mateIn1\n")
    text = error_of(capsys, "data", "puzzles", str(file), "--out", str(tmp_path / "out"))
    assert "p.csv" in text and "line 2" in text and len(text) < 300


HEADER = "PuzzleId,FEN,Moves,Rating,Themes\n"


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        ("", "a"),  # the line of the columns
        (HEADER, "a"),
        (HEADER, "a,"),
        (HEADER, "\0"),
        (HEADER, 'x","x\n'),  # a row of short lines that never ends
    ],
)
def test_an_endless_row_of_puzzles_is_refused_in_little_memory(
    tmp_path: Path, start: str, piece: str
) -> None:
    file = tmp_path / "p.csv.gz"
    with gzip.open(file, "wb", 1) as stream:
        stream.write(f'{start}"'.encode() if "\n" in piece else start.encode())
        for _ in range(64):
            stream.write(piece.encode() * ((1 << 20) // len(piece)))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"p\.csv\.gz', line \d+: .*(more than|larger than)"):
            read_puzzles(file)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_puzzles_that_do_not_fit_in_memory_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhaust(self: TextFile, size: int = -1, /) -> str:
        raise MemoryError

    file = tmp_path / "p.csv"
    file.write_text(HEADER)
    monkeypatch.setattr(TextFile, "readline", exhaust)
    text = error_of(capsys, "data", "puzzles", str(file), "--out", str(tmp_path / "out"))
    assert f"puzzles '{file}' do not fit in memory" in text


# --- A human player at the terminal ---


def test_a_human_player_does_not_write_to_standard_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert main(["arena", "human", "random", "--games", "2", "--openings", "start", "--json"]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert "the input ended" in found["fault_examples"]["human"]
    assert "White: " in captured.err


def test_a_human_player_is_asked_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("e4\n"))
    player = HumanPlayer()
    assert player.choose(Game(), np.random.default_rng(0)).move == "e2e4"
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.endswith("White: ")
    with pytest.raises(EngineFault, match="the input ended"):
        player.choose(Game(), np.random.default_rng(0))


# --- remember=FILE ---


@pytest.mark.parametrize("content", ["hello\n", "hello", EPD, "a\tb\n"])
def test_remember_does_not_overwrite_other_files(tmp_path: Path, content: str) -> None:
    file = tmp_path / "x.txt"
    file.write_text(content)
    with pytest.raises(SpecError, match=r"x\.txt' is not a file of answers.*remember=auto"):
        make_player(f"greedy,remember={file}")
    assert file.read_text() == content


def test_remember_uses_a_file_that_holds_nothing(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    file.write_text("\n\n")
    player = make_player(f"greedy,remember={file}")
    move = player.choose(Game(), np.random.default_rng(0)).move
    player.close()
    assert file.read_text().strip() == f"{Game().epd()}\t{move}"


def test_remember_needs_a_regular_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = error_of(capsys, "arena", f"greedy,remember={tmp_path}", "random", "--games", "2")
    assert str(tmp_path) in text and "is a folder" in text
    with pytest.raises(SpecError, match="not a regular file"):
        make_player("greedy,remember=/dev/full")


def test_a_truncated_line_does_not_damage_the_next_one(tmp_path: Path) -> None:
    file = tmp_path / "answers.tsv"
    rng = np.random.default_rng(0)
    file.write_text(Game().epd()[:20])  # the machine stopped in the middle of the first line
    player = make_player(f"greedy,remember={file}")
    move = player.choose(Game(), rng).move
    player.close()
    assert file.read_text().splitlines()[1] == f"{Game().epd()}\t{move}"
    again = make_player(f"greedy,remember={file}")
    assert again.choose(Game(), rng).move == move
    assert again.asked == 0  # type: ignore[attr-defined]
    again.close()


# --- Files to write ---


@pytest.mark.parametrize("device", ["/dev/null", "/dev/full", "/dev/zero"])
def test_a_journal_must_be_a_regular_file(device: str) -> None:
    with pytest.raises(PgnError, match=f"{device} is not a regular file"):
        Journal(Path(device), "match", {})


def test_samples_need_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pgn, taken = tmp_path / "g.pgn", tmp_path / "taken"
    pgn.write_text('[Event "a"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n')
    taken.write_text("mine")
    text = error_of(capsys, "data", "pgn", str(pgn), "--out", str(taken))
    assert f"{taken} is a file; name a folder" in text and taken.read_text() == "mine"


@pytest.mark.parametrize(
    "words",
    [
        ["pgn", "x.pgn", "--skip", "-100"],
        ["pgn", "x.pgn", "--limit", "0"],
        ["pgn", "x.pgn", "--least-elo", "-1"],
        ["puzzles", "x.csv", "--seed", "-1"],
        ["label", "--count", "-5"],
        ["book", "x.pgn", "--plies", "0"],
        ["book", "x.pgn", "--least-games", "0"],
    ],
)
def test_numbers_out_of_range_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    text = error_of(capsys, "data", *words, "--out", str(tmp_path / "o.bin"))
    assert f"{words[-2]} is {words[-1]}; it must be" in text
