"""Boards of other sizes in the commands: train, measure, play, refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rookery.cli import main
from rookery.nets.model_file import read_info

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
