"""Evaluations as rows and text: games are games, positions are positions, faults are errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rookery.nets import make_network
from rookery.nets.model_file import save_model
from rookery.runs.checkpoint import Counters
from rookery.runs.graded import Graded, graded, is_match
from rookery.training.folder import RunError
from rookery.training.opponents import play_opponents
from rookery.training.ratings import has_elo, rating_row, rating_text
from rookery.training.recipe import RecipeError, RunSettings
from rookery.training.session import resume, start
from rookery.training.trainer import MatchScore
from support.runs import QuietView, train
from support.tiny_recipes import TINY_RECIPES

ENDING = TINY_RECIPES["dqn"]


def row_of(*counts: tuple[int, int, int], is_match: bool = False) -> dict[str, Any]:
    return rating_row(MatchScore("random", *counts, is_match=is_match), Counters(3))


# --- Rows ---


def test_a_match_is_marked_and_has_an_elo_difference() -> None:
    row = row_of((5, 3, 2), (4, 4, 2), is_match=True)
    assert row["is_match"] is True and row["games"] == 20 and row["score"] == 0.625
    assert row["elo_low"] < row["elo"] < row["elo_high"] and has_elo(row)
    assert graded(row) is None
    assert rating_text([row]).startswith("+9 =7 -4 against random, Elo difference +")


def test_positions_are_marked_and_a_failure_is_no_half_point() -> None:
    row = row_of((75, 0, 925), (0, 0, 0))
    assert row["is_match"] is False and row["score"] == 0.075
    assert row["draws"] == 0 and row["losses"] == 925
    assert row["elo"] is row["elo_low"] is row["elo_high"] is None and not has_elo(row)
    assert rating_text([row]) == "won 75 of 1,000 positions against random"
    assert json.loads(json.dumps(row)) == row


def test_drawn_positions_are_held() -> None:
    row = row_of((0, 0, 62_480), (0, 20_292, 16_789))
    assert row["score"] == 20_292 / 99_561
    both = "won 0 of 62,480 positions and held 20,292 of 37,081 positions"
    assert rating_text([row]) == f"{both} against random"
    assert str(Graded(0, 0, 2, 3)) == "held 2 of 3 positions"
    assert str(Graded(0, 0, 0, 0)) == "won 0 of 0 positions"


def test_nothing_to_grade_has_no_score() -> None:
    assert row_of((0, 0, 0), (0, 0, 0))["score"] is None


OLD = {"opponent": "king", "games": 1000, "wins": 980, "draws": 20, "losses": 0, "score": 0.99}
SIDES = {
    "as_white": {"wins": 980, "draws": 20, "losses": 0},
    "as_black": {"wins": 0, "draws": 0, "losses": 0},
}
PERFECT = {
    "as_white": {"wins": 0, "draws": 62_480, "losses": 0},
    "as_black": {"wins": 0, "draws": 20_292, "losses": 16_789},
}


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({**OLD, **SIDES, "elo": None}, "won 980 of 1,000 positions"),
        ({**OLD, "elo": None}, "won 980 of 1,000 positions"),
        (
            {**OLD, **PERFECT, "opponent": "perfect", "elo": -72.0},
            "won 0 of 62,480 positions and held 20,292 of 37,081 positions",
        ),
        ({**OLD, **SIDES, "elo": 800.0}, "None"),
        ({**OLD, **SIDES}, "None"),
        ({}, "None"),
    ],
)
def test_rows_of_older_runs_are_understood(row: dict[str, Any], text: str) -> None:
    """They do not say what they count, and count failures to win as draws."""
    assert str(graded(row)) == text
    assert is_match(row) == (text == "None")
    assert not has_elo(row) or is_match(row)


def test_an_ending_records_and_tells_positions(tmp_path: Path) -> None:
    run, view = tmp_path / "run", QuietView()
    settings = [*ENDING.settings, "run.evaluations=1", "evaluation.games=40"]
    outcome = start(ENDING.recipe, str(run), "1it", settings=settings, view=view)
    rows = json.loads((run / "ratings.json").read_text())["evaluations"]
    assert rows == outcome.ratings and [row["iteration"] for row in rows] == [0, 1]
    for row in rows:
        assert row["is_match"] is False and row["elo"] is None and row["draws"] == 0
        assert row["games"] == row["wins"] + row["losses"] > 0
        text = f"won {row['wins']} of {row['games']} positions against random"
        assert f"after {row['iteration']} iterations: {text}\n" in (run / "log.txt").read_text()
    assert view.updates[0].rating == rating_text(rows[:1])


# --- Matches against any players ---


@pytest.mark.parametrize("algorithm", ["dqn", "endgame", "blind"])
def test_opponents_are_refused_where_no_whole_games_are_learnt(
    tmp_path: Path, algorithm: str
) -> None:
    tiny, run = TINY_RECIPES[algorithm], tmp_path / "run"
    settings = [*tiny.settings, 'run.opponents=["greedy"]']
    with pytest.raises(RecipeError, match=r"run\.opponents = \['greedy'\].*'run\.opponents=\[\]'"):
        start(tiny.recipe, str(run), "1it", settings=settings, view=QuietView())
    assert not run.exists()


def test_opponents_are_refused_when_a_run_is_resumed(tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    settings = [*ENDING.settings, "run.evaluations=0"]
    start(ENDING.recipe, run, "1it", settings=settings, view=QuietView())
    with pytest.raises(RecipeError, match="does not learn whole games of chess"):
        resume(run, settings=['run.opponents=["greedy"]'], view=QuietView())
    assert resume(run, settings=["run.opponents=[]"], view=QuietView()).finished


def test_a_fault_of_the_own_player_is_an_error_and_no_loss(tmp_path: Path) -> None:
    """The tests' algorithm has the ten actions of an ending: no player of a whole game."""
    with pytest.raises(RunError, match=r"forfeited a game against 'greedy'.*MoveError") as error:
        train(tmp_path, 'run.opponents=["greedy"]', "run.opponent_games=2")
    assert f"rookery resume {tmp_path / 'run'} --set 'run.opponents=[]'" in str(error.value)
    assert not (tmp_path / "run" / "ratings.json").exists()
    outcome = resume(str(tmp_path / "run"), settings=["run.opponents=[]"], view=QuietView())
    assert outcome.finished and {row["opponent"] for row in outcome.ratings} == {"random"}


def test_a_fault_of_the_opponent_is_a_won_game(tmp_path: Path) -> None:
    good, bad = tmp_path / "1" / "good", tmp_path / "1" / "bad"
    good.parent.mkdir()
    for path, actions in ((good, "az4672"), (bad, "kpk")):
        save_model(
            path.with_suffix(".safetensors"),
            make_network("mlp", "vector66", actions, {"hidden": [8]}),
        )
    settings = RunSettings(opponents=[f"{bad}.safetensors"], opponent_games=2)
    model = good.with_suffix(".safetensors")
    assert play_opponents(model, settings, 1, "standard")[0].as_white == (1, 0, 0)
