"""The solver: published and exhaustive truths."""

from __future__ import annotations

import json

import pytest

from rookery._core import Game, Solver
from rookery.cli import main
from rookery.players.registry import make_player


def test_white_mates_in_four_on_4x4_as_published() -> None:
    solution, line = Solver().solve(Game(board="4x4"))
    assert (solution.value, solution.mate_in, len(line)) == ("win", 4, 7)
    # Silverman's line: 1. axb3+ Qxb3 2. cxb3+ Kxb3 3. bxa3+ Kc4 4. Qa2#.
    game = Game(board="4x4")
    for number, san in enumerate(["axb3+", "Qxb3", "cxb3+", "Kxb3", "bxa3+", "Kc4", "Qa2#"]):
        solution, _ = Solver().solve(game)
        assert solution.value == ("win" if number % 2 == 0 else "loss")
        game.push_san(san)
    assert game.outcome() == ("checkmate", True)


def test_the_line_is_legal_and_ends_in_mate() -> None:
    game = Game(board="4x4")
    for move in Solver().solve(game)[1]:
        game.push(move)
    assert game.outcome() == ("checkmate", True)


@pytest.mark.parametrize(
    ("fen", "value"),
    [
        ("k3/4/4/KQ2 w - - 0 1", "win"),
        ("k3/R3/4/3K b - - 0 1", "draw"),  # the rook is taken
        ("k4/5/5/5/KR3 w - - 0 1", "win"),
        ("k4/5/K4/5/1R3 b - - 0 1", "draw"),  # stalemate
        ("k4/5/K4/5/4R b - - 0 1", "loss"),
        ("k4/2Q2/2K2/5/5 b - - 0 1", "draw"),  # stalemate as well
    ],
)
def test_endings_by_all_positions_that_follow(fen: str, value: str) -> None:
    """The mate search and the exhaustive graph agree; the graph alone proves draws."""
    graph, _ = Solver(moves=1, nodes=1).solve(Game(fen))
    assert graph.value == value
    mates, line = Solver(positions=1).solve(Game(fen))
    if value != "draw":
        assert (mates.value, mates.mate_in) == (value, graph.mate_in)
        assert len(line) == 2 * mates.mate_in - (value == "win")


def test_too_little_is_unknown() -> None:
    assert Solver(moves=2, positions=100).solve(Game(board="gardner"))[0].value == "unknown"


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "--board", "4x4", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"board", "fen", "value", "mate_in", "line"} <= set(found)
    assert (found["board"], found["value"], found["mate_in"]) == ("4x4", "win", 4)
    assert main(["solve", "k3/R3/4/3K b - - 0 1"]) == 0
    assert "drawn" in capsys.readouterr().out
    assert main(["solve", "--board", "gardener"]) == 1
    assert "known are" in capsys.readouterr().err


def test_the_solver_wins_4x4_as_white(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["arena", "solver,nodes=2000", "random", "--board", "4x4", "--openings", "start"]
    assert main([*words, "--games", "8", "--seed", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["as_white"]["wins"] == 4 and found["board"] == "4x4"


def test_a_lost_position_is_defended_as_long_as_possible() -> None:
    import numpy as np

    game = Game(board="4x4")
    game.push("c2b3")
    decision = make_player("solver").choose(game, np.random.default_rng(1))
    game.push(decision.move)
    assert decision.value == -1.0
    assert Solver().solve(game)[0].mate_in == 3
