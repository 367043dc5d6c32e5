"""Mates in a few moves: what counts as one, and that searches end when they see it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rookery._core import Game
from rookery.cli import main
from rookery.data.puzzles import Puzzle
from rookery.exams.mates import (
    Mate,
    is_forced,
    is_right,
    mates_of,
    read_mates,
    run_mates,
    solve_mate,
    summarise_mates,
)
from rookery.exams.suites import parse_line, run_suite
from rookery.players.base import Decision, Limits
from rookery.players.registry import make_player
from support.uci_session import PATIENCE

ENGINE = "rookery,network=material"
IN_ONE = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"
IN_TWO = "2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - 0 1"  # Qg6, and the rook follows
TWO_ROOKS = "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1"  # two ways to mate in two


def test_forced_mates_are_proven() -> None:
    game = Game(IN_ONE)
    assert not is_forced(game, 3)  # White is to move, and is not the one who is mated
    game.push("d1d8")
    assert is_forced(game, 0)
    right = {
        move for move in Game(TWO_ROOKS).legal_moves() if is_right(Mate("", TWO_ROOKS, 2), move)
    }
    assert right == {"a2a7", "b1b7"}
    assert is_right(Mate("", IN_TWO, 2), "g3g6")
    assert not is_right(Mate("", IN_TWO, 2), "f6d7")
    assert not is_right(Mate("", IN_TWO, 1), "g3g6")  # too slow
    stalemate = Game("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1")
    stalemate.push("f1f7")
    assert not is_forced(stalemate, 2)


def test_which_puzzles_are_mates() -> None:
    puzzles = [
        Puzzle("one", IN_ONE, ("d1d8",), None, ()),
        Puzzle("no mate", IN_ONE, ("d1d7",), None, ()),
        Puzzle("too long", IN_TWO, ("g3g6", "f7g6", "e5g6"), None, ()),
        Puzzle("defender has the last move", IN_ONE, ("d1d7", "g8f8"), None, ()),
    ]
    assert [mate.name for mate in mates_of(puzzles, 1)] == ["one"]
    assert [(mate.name, mate.moves) for mate in mates_of(puzzles, 2)] == [
        ("one", 1),
        ("too long", 2),
    ]


def test_files(tmp_path: Path) -> None:
    table = tmp_path / "mates.csv"
    table.write_text(f"fen,mate,solution_uci,title\n{IN_ONE},1,d1d8,Back rank\n{IN_ONE},1,d1d7,x\n")
    assert read_mates(table, 3) == [Mate("Back rank", IN_ONE, 1, "d1d8")]
    positions = tmp_path / "two.fen"
    positions.write_text(f"# mates in two\n{' '.join(TWO_ROOKS.split()[:4])}\n\n{IN_TWO}\n")
    assert [(mate.moves, mate.first) for mate in read_mates(positions, 2)] == [(2, ""), (2, "")]
    assert len(read_mates(positions, 2, limit=1)) == 1
    for path, most, words in (
        (table, 0, "1 or more"),
        (positions, 4, "1 to 3"),
        (tmp_path / "none.fen", 2, "no such file"),
    ):
        with pytest.raises(ValueError, match=words):
            read_mates(path, most)
    positions.write_text("k7/8/8 w - -\n")
    with pytest.raises(ValueError, match="line 1"):
        read_mates(positions, 2)


def test_a_search_ends_when_it_sees_the_mate() -> None:
    player = make_player(ENGINE)
    mate = Mate("", IN_TWO, 2, "g3g6")
    # A search that does not end at the mate would take all of this time.
    answer = solve_mate(player, mate, np.random.default_rng(0), Limits(movetime=PATIENCE))
    assert answer.solved and answer.announced == 2 and answer.seconds < PATIENCE / 2
    short = solve_mate(player, mate, np.random.default_rng(0), Limits(nodes=3))
    assert not short.fault and short.announced is None
    player.close()


def test_players_without_search_reports_announce_no_mate() -> None:
    mates = [Mate("a", IN_ONE, 1, "d1d8"), Mate("b", TWO_ROOKS, 2)]
    answers = run_mates(lambda: make_player("greedy-safe"), mates, Limits())
    summary = summarise_mates("greedy-safe", answers)
    assert answers[0].solved and answers[0].announced is None
    assert summary["total"] == 2 and summary["announced"] == 0 and summary["faults"] == 0


def test_illegal_answers_are_faults() -> None:
    class Illegal:
        name = "illegal"

        def choose(
            self, game: Game, rng: np.random.Generator, limits: Limits | None = None
        ) -> Decision:
            return Decision("e2e5")

        def new_game(self) -> None: ...

        def close(self) -> None: ...

    (answer,) = run_mates(Illegal, [Mate("a", IN_ONE, 1, "d1d8")], Limits())
    assert not answer.solved and "illegal" in answer.fault


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "mates.csv"
    line = f"{IN_ONE},1,d1d8,Back rank\n{IN_TWO},2,g3g6 f7g6 e5g6,Smothered\n"
    table.write_text("fen,mate,solution_uci,title\n" + line)
    words = ["puzzles", ENGINE, str(table), "--nodes", "200000"]
    assert main([*words, "--mate", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["total"] == 2 == found["solved"] == found["announced"]
    assert main([*words, "--mate", "1", "--missed"]) == 0
    assert "mate in 1: 1 of 1 solved" in capsys.readouterr().out
    assert main([*words, "--mate", "0"]) == 1


def test_a_suite_may_stop_when_the_key_is_settled() -> None:
    position = parse_line(f"{' '.join(IN_TWO.split()[:4])} bm Qg6;")
    limits = Limits(movetime=PATIENCE)
    (answer,) = run_suite(lambda: make_player(ENGINE), [position], limits, settled=2)
    assert answer.solved
