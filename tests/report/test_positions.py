"""Evaluations that grade positions have no games, draws or Elo in the report."""

from __future__ import annotations

import re
from typing import Any

from rookery.report.alarms import alarms
from rookery.report.evaluations import sentence
from rookery.report.page import make_page
from rookery.report.read import RunData


def positions(
    name: str, shares: list[tuple[int, int]], opponent: str = "perfect", **changes: Any
) -> RunData:
    """A run that won and held so many of 1000 and 200 positions; without seed, all are alike."""
    rows = []
    for number, (won, held) in enumerate(shares, 1):
        white = {"wins": won, "draws": 0, "losses": 1000 - won}
        black = {"wins": 0, "draws": held, "losses": 200 - held if held else 0}
        rows.append({
            "iteration": number, "seconds": 60.0 * number, "opponent": opponent, "games": 1200,
            "wins": won, "draws": held, "losses": 1200 - won - held, "as_white": white,
            "as_black": black, "is_match": False, "score": (won + held) / 1200, "elo": None,
        })  # fmt: skip
    last = {"iteration": len(shares), "seconds": 60.0 * len(shares)}
    settings = {"name": "kpk", "algorithm": "endgame", **changes}
    return RunData(name, settings, rows=[last], evaluations=rows)


def evaluation_of(page: str) -> str:
    return page.split("<h2>Evaluation</h2>")[1].split("<h2>")[0]


def test_positions_are_won_and_held_and_nothing_else() -> None:
    page = make_page([positions("a", [(0, 20), (980, 150)])])
    text = evaluation_of(page)
    assert "Positions against perfect" in text
    assert "980 of 1,000 positions" in text and "150 of 200 positions" in text
    assert "94.2 %" in text  # of 1130 of 1200
    for word in ("games", "draws", "losses", "Elo", "as White", "Score in per cent"):
        assert word not in text, word
    assert text.count('class="chart"') == 3
    before = page.split("<h2>")[0]
    end = "in the end it won 980 of 1,000 positions and held 150 of 200 positions against perfect."
    assert end in before and before.count('class="chart"') == 1


def test_without_drawn_positions_nothing_is_held() -> None:
    run = positions("a", [(75, 0)], "king")
    text = evaluation_of(make_page([run]))
    assert "75 of 1,000 positions" in text and "7.5 %" in text
    assert "<th>held</th>" not in text
    assert sentence(run).endswith("in the end it won 75 of 1,000 positions against king.")


def test_rows_of_older_runs_count_failures_as_failures() -> None:
    run = positions("a", [(980, 0)], "king")
    for row in run.evaluations:
        del row["is_match"]
        row |= {"draws": 20, "losses": 0, "score": 0.99}
        row["as_white"] = {"wins": 980, "draws": 20, "losses": 0}
    text = evaluation_of(make_page([run]))
    assert "980 of 1,000 positions" in text and "98.0 %" in text and "99" not in text


def test_games_and_positions_against_the_same_player_stand_apart() -> None:
    match = {
        "iteration": 1, "seconds": 60.0, "opponent": "random", "games": 10, "wins": 6, "draws": 2,
        "losses": 2, "score": 0.7, "elo": 147.0, "elo_low": -50.0, "elo_high": 400.0,
    }  # fmt: skip
    whole = RunData("whole", {"name": "ppo"}, rows=[{"iteration": 1}], evaluations=[match])
    text = evaluation_of(make_page([whole, positions("ending", [(500, 0)], "random")]))
    games, graded = text.split("<h3>Positions against random</h3>")
    cells = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall("<tr>.*?</tr>", games)]
    assert "<h3>Against random</h3>" in games and "ending" not in str(cells)
    assert "+147 [-50, +400]" in games and "500 of 1,000 positions" not in games
    assert "500 of 1,000 positions" in graded and "+147" not in graded


def test_several_seeds_share_a_bar() -> None:
    runs = [
        positions("a", [(800, 0)], **{"run.seed": 1}),
        positions("b", [(600, 0)], **{"run.seed": 2}),
    ]
    text = evaluation_of(make_page(runs))
    assert "70 (2 runs, 2,000 positions)" in text


def test_fewer_positions_at_the_end_raise_an_alarm() -> None:
    (alarm,) = alarms(positions("a", [(900, 0), (300, 0)], "random"))
    assert alarm == (
        "against random it ends with 30.0% of the positions won or held, after 90.0% at iteration 1"
    )
