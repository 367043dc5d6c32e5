"""Evaluations of runs as played: scores with intervals, and the sentence and figure of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rookery._core import STANDARD_BOARD
from rookery.arena.elo import estimate_from_games, expected_score
from rookery.rating.networks import evaluation_rating, run_ratings
from rookery.report.chart import Series, line_chart, log_ticks
from rookery.report.positions import solved_chart
from rookery.report.read import RunData
from rookery.runs.graded import graded
from rookery.runs.reader import number
from rookery.training.budget import duration

MOST_SENTENCES = 6


def counts_of(row: Mapping[str, Any]) -> tuple[int, int, int]:
    """Wins, draws and losses."""
    wins, draws, losses = (int(number(row.get(key)) or 0) for key in ("wins", "draws", "losses"))
    return wins, draws, losses


def score_interval(row: Mapping[str, Any]) -> tuple[float, float, float] | None:
    """The score in per cent with the 95 % interval of its Elo difference; None without games."""
    wins, draws, losses = counts_of(row)
    games = wins + draws + losses
    if not games or min(wins, draws, losses) < 0:
        return None
    score = 100 * (wins + draws / 2) / games
    estimate = estimate_from_games(wins, draws, losses)
    low, high = (100 * expected_score(elo) for elo in (estimate.elo_low, estimate.elo_high))
    return score, min(low, score), max(high, score)


def score_series(run: RunData, opponent: str, key: str, scale: float) -> Series:
    """A run's scores against an opponent over a counter, with their intervals."""
    points, errors = [], []
    for row in run.against(opponent):
        interval = score_interval(row)
        if interval is not None:
            points.append(((number(row.get(key)) or 0.0) / scale, interval[0]))
            errors.append(interval[1:])
    return Series(run.name, points, run.colour, marked=True, errors=errors)


def score_chart(runs: Sequence[RunData], opponent: str, key: str, label: str) -> str:
    """Scores of several runs against an opponent."""
    scale = 60.0 if key == "seconds" else 1.0
    lines = [score_series(run, opponent, key, scale) for run in runs]
    title = "Score in per cent, with 95 % intervals"
    return line_chart(title, lines, label, include=[0.0, 100.0])


def rating_chart(runs: Sequence[RunData]) -> str:
    """Elo over minutes, on a logarithmic axis, of checkpoints with a measured rating.

    One that won or lost every game is left out: only one end of its interval is known.
    """
    lines = []
    for run in runs:
        minutes = {row.get("iteration"): (number(row.get("seconds")) or 0) / 60 for row in run.rows}
        points, errors = [], []
        for step, rating in sorted(run_ratings(run.folder).items()):
            when, elo, low, high = minutes.get(step), rating.elo, rating.low, rating.high
            if when and elo is not None and low is not None and high is not None:
                points.append((when, elo))
                errors.append((low, high))
        lines.append(Series(run.name, points, run.colour, marked=True, errors=errors))
    title = "Elo on the ladder, with 95 % intervals"
    marks = log_ticks([x for line in lines for x, _ in line.points])
    return line_chart(title, lines, "minutes of training", log_x=marks)


def opening(runs: Sequence[RunData]) -> tuple[list[str], str]:
    """What a report begins with: a sentence per run, and one figure."""
    sentences = [sentence(run) for run in runs[:MOST_SENTENCES]]
    if len(runs) > MOST_SENTENCES:
        sentences.append(f"{len(runs) - MOST_SENTENCES} more runs are below.")
    opponents = list(dict.fromkeys(name for run in runs for name in run.opponents()))
    graded_by = [name for run in runs for name in run.opponents(matches=False)]
    if not opponents and not graded_by:
        return sentences, ""
    if not opponents:
        return sentences, solved_chart(runs, graded_by[-1], "seconds", f"; against {graded_by[-1]}")
    # The strongest of the usual opponents tells most.
    best = "greedy-safe" if "greedy-safe" in opponents else opponents[-1]
    chart = score_chart(runs, best, "seconds", f"minutes of training; against {best}")
    return sentences, chart


def sentence(run: RunData) -> str:
    """How long a run trained and what it reached."""
    games = int(number(run.last.get("games")) or 0)
    text = f"{run.name} trained for {duration(round(run.seconds))}"
    text += f" and played {games:,} games" if games else ""
    if not run.evaluations:
        return f"{text}. It has not been evaluated yet."
    row = run.evaluations[-1]
    positions = graded(row)
    if positions is not None:
        return f"{text}; in the end it {positions} against {row.get('opponent')}."
    wins, draws, losses = counts_of(row)
    interval = score_interval(row)
    if interval is not None:
        text += (
            f"; in the end it scored {interval[0]:.1f} % ({interval[1]:.1f} to {interval[2]:.1f}) "
            f"against {row.get('opponent')}: +{wins} ={draws} -{losses} in {wins + draws + losses} "
            "games"
        )
    last = [r for r in run.evaluations if r.get("iteration") == row.get("iteration")]
    rating = evaluation_rating(last, str(run.recipe.get("board", STANDARD_BOARD)))
    if rating is not None:
        text += f", {rating} on the ladder"
    return f"{text}."
