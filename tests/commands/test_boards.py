"""Boards of other sizes in the commands: train, measure, play, refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rookery.cli import main
from rookery.engines.find import find_fairy_stockfish
from rookery.nets.model_file import read_info
from rookery.rating.networks import newest_rating

TINY = [
    "selfplay.samples=128", "selfplay.games=8", "tree.simulations=8", "evaluation.games=2",
    "evaluation.simulations=4",
]  # fmt: skip
OTHER = "rqkr/pppp/4/4/PPPP/RQKR w - - 0 1; double-step"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two iterations of AlphaZero on 5x5."""
    run = tmp_path_factory.mktemp("boards") / "gardner"
    settings = [word for setting in TINY for word in ("--set", setting)]
    words = ["train", "alphazero", "--board", "gardner", "--run", str(run), "--budget", "2it"]
    assert main([*words, "--workers", "1", *settings]) == 0
    return run


def test_a_model_file_tells_its_board(trained: Path) -> None:
    assert read_info(trained / "model.safetensors").board == "gardner"
    games = list((trained / "games").glob("*-selfplay.pgn"))
    assert games and '[Variant "gardner"]' in games[-1].read_text()


def test_a_trained_network_plays_on_its_board_and_no_other(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    player = f"{trained},simulations=8"
    words = ["arena", player, "random", "--games", "4", "--openings", "random:2"]
    assert main([*words, "--board", "gardner", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["games"] == 4 and found["faults"] == {"first": 0, "second": 0}
    for board in ("standard", "losalamos", OTHER):
        assert main([*words, "--board", board]) == 1
        error = capsys.readouterr().err
        assert "plays on the board gardner, not on" in error and error.count("\n") == 1


def test_a_rating_on_a_board_is_on_its_ladder(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["rate", f"{trained},simulations=2", "--games", "24", "--seed", "1"]
    start = ["--start", "greedy-safe,random=0.75"]
    assert main([*words, *start, "--board", "gardner", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["board"] == "gardner" and "greedy-safe (0)" in found["scale"]
    assert found["faults"] == 0 and found["games"] >= 8
    assert found["conditions"].startswith("openings random:4 on gardner")
    # The page of the run tells what the number is relative to.
    stored = newest_rating(trained)
    assert stored is not None and str(stored).endswith("Elo (greedy-safe: 0)")
    assert main(words) == 1
    error = capsys.readouterr().err
    assert "plays on the board gardner, not on standard" in error


@pytest.mark.skipif(find_fairy_stockfish() is None, reason="needs Fairy-Stockfish")
def test_fairy_stockfish_plays_boards_that_it_knows(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["arena", "fairy-stockfish,depth=1", "random", "--games", "2", "--json", "--board"]
    assert main([*words, "gardner"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["faults"] == {"first": 0, "second": 0} and found["wins"] >= 1
    assert main([*words, "4x4"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["faults"] == {"first": 2, "second": 0}  # forfeits, as any engine that refuses


def test_a_board_of_ones_own_needs_its_own_ladder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rate", "greedy", "--board", OTHER]) == 1
    error = capsys.readouterr().err
    assert "--calibrate FILE" in error and "--rungs FILE" in error and error.count("\n") == 1
    rungs = str(tmp_path / "rungs.json")
    some = ["random", "greedy-safe,random=0.75", "greedy-safe,random=0.5"]
    some += ["greedy-safe,random=0.25", "greedy-safe,random=0.1", "greedy-safe"]
    words = ["rate", "--board", OTHER]
    assert main([*words, *some, "--calibrate", rungs, "--games", "20"]) == 0
    assert main([*words, "greedy", "--rungs", rungs, "--games", "40", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["board"] == OTHER
    assert found["games"] >= 16 and found["elo_low"] < found["elo"] < found["elo_high"]


def test_networks_carry_over_from_board_to_board(trained: Path, tmp_path: Path) -> None:
    settings = [word for setting in TINY for word in ("--set", setting)]
    run = tmp_path / "larger"
    words = ["train", "alphazero", "--board", "losalamos", "--run", str(run), "--budget", "1it"]
    assert main([*words, "--workers", "1", *settings, "--set", f"initial={trained}"]) == 0
    assert read_info(run / "model.safetensors").board == "losalamos"


def test_ppo_learns_on_a_small_board(tmp_path: Path) -> None:
    run = tmp_path / "ppo"
    words = ["train", "ppo", "--board", "4x5", "--run", str(run), "--budget", "1it"]
    changes = ["ppo.games=8", "ppo.plies=8", "evaluation.games=2"]
    settings = [word for change in changes for word in ("--set", change)]
    assert main([*words, "--workers", "1", *settings]) == 0
    assert read_info(run / "model.safetensors").board == "4x5"


def test_other_algorithms_say_that_they_cannot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "engine", "--board", "gardner", "--run", str(tmp_path / "x")]) == 1
    assert "trains on the standard board only" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["perft", "startpos", "3", "--board", "gardner"], "506 nodes"),
        (["perft", "startpos", "3", "--board", OTHER], "nodes"),
        (["perft", "rnqknr/pppppp/6/6/PPPPPP/RNQKNR w - - 0 1", "2"], "100 nodes"),
        (["arena", "greedy", "random", "--games", "4", "--board", OTHER], "4 games"),
    ],
)
def test_commands_take_any_board(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 0
    assert expected in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["perft", "startpos", "3", "--board", "gardener"], "bad board 'gardener'"),
        (["perft", "8/8/8/8/8/8/8/K1k5 w - - 0 1", "1", "--board", "gardner"], "not of 'gardner'"),
        (["arena", "rookery", "random", "--board", "gardner"], "not on gardner"),
        (["train", "alphazero", "--board", "5x6"], "no start position"),
        (["play", "rookery", "--board", "4x4", "--terminal"], "not on 4x4"),
    ],
)
def test_what_does_not_fit_is_one_clear_line(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 1
    error = capsys.readouterr().err
    assert expected in error and error.count("\n") == 1
