"""Invalid input of the measuring commands: refused before the first game, in one line."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from rookery._core import STANDARD_BOARD
from rookery.arena.limits import parse_time_control
from rookery.arena.pgn import StoredGame
from rookery.arena.results import Tally, describe
from rookery.arena.sprt import Sprt
from rookery.cli import main
from rookery.engines.find import find_stockfish
from rookery.players.bots import RandomPlayer
from rookery.rating.ladder import Climb, LadderSettings
from rookery.rating.rungs import Rung
from support.needs import needs_stockfish, needs_tables

MISSING = "uci,command=/no/such/engine"


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command that must fail; returns its one line of error."""
    assert main(words) == 1
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    return captured.err.removeprefix("rookery: error: ").strip()


@pytest.mark.parametrize(
    "words",
    [
        ["rate", "random", MISSING],
        ["rate", "stockfish,command=/no/such/engine"],
        ["rate", f"{MISSING},remember=answers.tsv"],
        ["rate", f'book,otherwise="{MISSING}"'],
        ["suite", MISSING, "suite.epd"],
        ["puzzles", MISSING, "puzzles.csv"],
        ["endgame", "KQK", MISSING],
        ["endgame", "KQK", "greedy-safe", "--against", MISSING],
    ],
)
def test_missing_engines_are_refused_before_the_first_game(
    words: list[str],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    if "book" in words[-1]:
        (tmp_path / "book.bin").write_bytes(bytes(16))
        words = [*words[:-1], f"{words[-1]},file=book.bin"]
    found = refused(capsys, *words)
    assert "cannot start '/no/such/engine'" in found and "name a program that runs" in found
    assert not list(tmp_path.glob("*.tsv"))


def test_a_folder_is_refused_as_an_engine(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert "cannot start" in refused(capsys, "rate", f"uci,command={tmp_path}")


@needs_stockfish
@pytest.mark.parametrize(
    ("player", "message"),
    [
        ("stockfish,elo=1", "UCI_Elo=1 is outside"),
        ("stockfish,depth=1,threads=999999", "Threads=999999 is outside"),
        (f"uci,command={find_stockfish()},option.Nope=3", "has no option 'Nope'"),
    ],
)
def test_options_that_the_engine_refuses_are_named(
    player: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = refused(capsys, "rate", player)
    assert message in found and "change this option" in found


def test_rungs_that_cannot_be_started_are_left_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rookery.commands.rate import usable_rungs
    from rookery.rating.ladders import find_ladder

    monkeypatch.setenv("ROOKERY_STOCKFISH", "/no/such/engine")
    assert {rung.player for rung in usable_rungs(find_ladder(STANDARD_BOARD).rungs())} == {
        "random",
        "greedy-safe",
    }
    warning = capsys.readouterr().err
    assert "rungs skipped" in warning and "cannot start" in warning and warning.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("arena random random --movetime nan", "--movetime is nan"),
        ("arena random random --movetime inf", "--movetime is inf"),
        (f"arena random random --nodes {10**400}", "--nodes is 1000"),
        ("arena random random --margin nan", "--margin is nan"),
        ("arena random random --resign nan", "--resign is nan"),
        (f"arena random random --tc {'9' * 400}:10", "is too long"),
        ("arena random random --games 0", "--games is 0; it must be 1 or more"),
        ("arena random random --seed -1", "--seed is -1"),
        ("arena random random --concurrency -1", "--concurrency is -1"),
        ("arena random random --sprt 0 inf", "from -4000 to 4000, got 0 and inf"),
        ("arena random random --sprt 0 1e308", "from -4000 to 4000, got 0 and 1e+308"),
        ("arena random random --sprt nan 5", "from -4000 to 4000, got nan and 5"),
        ("rate random --width nan", "--width is nan"),
        ("rate random --width -5", "--width is -5"),
        ("rate random --width 0", "--width is 0"),
        ("rate random --seed -1", "--seed is -1"),
        ("rate random --games 0", "--games is 0; it must be 1 or more"),
        ("rate random --games -1", "--games is -1"),
        ("rate random --checkpoints", "'random' is not a run folder"),
        ("rate random --calibrate .", "'.' is a folder; name a file"),
        ("rate random --calibrate none.json", "no two of random are rungs that meet"),
        ("suite random none.epd --concurrency -1", "--concurrency is -1"),
        ("puzzles random none.csv --concurrency -1", "--concurrency is -1"),
        ("puzzles random none.csv --seed -1", "--seed is -1"),
        ("puzzles random none.csv --missed", "add --mate N"),
        ("endgame KPK random --concurrency -1", "--concurrency is -1"),
        ("endgame KPK random --seed -1", "--seed is -1"),
        ("endgame KQK greedy --goal promotion", "White has no pawn in KQK; use --goal mate"),
        ("endgame KvKP greedy --goal promotion", "White has no pawn in KvKP"),
    ],
)
def test_options_out_of_range_are_named(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in refused(capsys, *words.split())


def test_long_but_finite_time_controls_are_accepted() -> None:
    assert parse_time_control("999999:59+1").seconds == 999999 * 60 + 59
    with pytest.raises(ValueError, match="too long"):
        parse_time_control("1+" + "9" * 400)


@pytest.mark.parametrize("model", ["normalized", "logistic"])
@pytest.mark.parametrize("pairs", [[9, 0, 0, 0, 0], [0, 0, 9, 0, 0], [0, 0, 0, 0, 9]])
def test_the_widest_sprt_gives_a_finite_llr(model: str, pairs: list[int]) -> None:
    assert math.isfinite(Sprt(-4000, 4000, model=model).llr_of_pairs(pairs))


@pytest.mark.parametrize("text", ["[]", "{}", "not JSON", '{"encounters": [["a"]]}'])
def test_a_file_without_calibration_games_is_named(
    text: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "games.json"
    path.write_text(text)
    assert f"{str(path)!r} holds no calibration games" in refused(
        capsys, "rate", "--calibrate", str(path), "--games", "2"
    )


@pytest.mark.parametrize(
    ("player", "start", "first"),
    [("low", "low", "second"), ("high", "high", "third"), ("other", "third", "third")],
)
def test_a_climb_starts_next_to_the_players_own_rung(
    player: str, start: str, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Begun(Exception):
        pass

    def play(climb: Climb, rung: Rung, settings: object) -> None:
        raise Begun(rung.player)

    monkeypatch.setattr(Climb, "_match", play)
    names = ("low", "second", "middle", "third", "high")
    rungs = [Rung(name, 500.0 * i, 0, False, False) for i, name in enumerate(names)]
    settings = LadderSettings(games=8, start=start)
    climb = Climb(player, RandomPlayer, rungs, lambda name: RandomPlayer, settings)
    with pytest.raises(Begun, match=first):
        climb.run()


def stored(pair: int, index: int, result: str) -> StoredGame:
    return StoredGame(pair, index, result, "mate", None, "", False, 2 * pair + index, 9, 0.0)


def test_unpaired_games_are_counted_and_reported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tally = Tally()
    for game in (stored(0, 0, "1-0"), stored(0, 1, "1-0"), stored(1, 0, "1-0")):
        tally.add(game)
    summary = describe("a", "b", tally, 1.0)
    assert (summary["unpaired_games"], summary["elo"]) == (1, 0.0)
    assert main(["arena", "random", "random", "--games", "3", "--json"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["unpaired_games"] == 1
    assert "1 game counts in the score but" in captured.err
    # A single game is counted everywhere, and so are complete pairs.
    for games in ("1", "2"):
        assert main(["arena", "random", "random", "--games", games]) == 0
        assert "in the score" not in capsys.readouterr().err


@needs_tables
@pytest.mark.parametrize("side", ["attack", "defend"])
def test_every_level_is_reported_even_for_one_position(
    side: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["endgame", "KPK", "greedy-safe", "--positions", "1", "--side", side]
    assert main([*words, "--json"]) == 0
    levels = json.loads(capsys.readouterr().out)["levels"]
    assert list(levels) == ["easy", "intermediate", "hard"]
    assert len({tuple(level) for level in levels.values()}) == 1  # the same keys
    empty = min(levels.values(), key=lambda level: level["positions"])
    assert empty["positions"] == 0 and empty["win_rate"] is None
    assert main(["endgame", "KQK", "greedy-safe", "--positions", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["levels"] == {}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("PuzzleId,FEN,Moves\n" + "x" * 300_000 + ",a,b\n", 2),
        ("x" * 300_000 + ",FEN,Moves\n", 1),
    ],
)
def test_an_oversized_field_is_reported_with_its_line(
    text: str, line: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "puzzles.csv"
    path.write_text(text)
    found = refused(capsys, "puzzles", "greedy", str(path))
    assert f"{str(path)!r}, line {line}: field larger than" in found


def test_an_invalid_rating_is_reported_with_its_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "puzzles.csv"
    path.write_text("fen,pv_uci,rating\n6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1,d1d8,nan\n")
    assert "line 2: rating 'nan' is not a number" in refused(capsys, "puzzles", "greedy", str(path))
