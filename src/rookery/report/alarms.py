"""Warnings from a run's own records: too many draws, games cut off, falling scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from rookery.report.read import RunData
from rookery.runs.graded import graded
from rookery.runs.reader import number

LATEST = 0.1  # share of the iterations examined, the newest
MANY_DRAWS = 0.7  # of the training games
MANY_CUT_OFF = 0.1
FALLEN = 0.05  # of the score, 1 for a win and 0.5 for a draw


def alarms(run: RunData) -> Iterator[str]:
    """The warnings, one line each."""
    iterations = [row for row in run.rows if isinstance(row.get("results"), dict)]
    latest = iterations[-max(1, round(LATEST * len(iterations))) :]
    results: Counter[str] = Counter()
    for row in latest:
        for name, count in row["results"].items():
            results[name] += int(number(count) or 0)
    played = sum(results.values())
    for name, limit, text in (
        ("draws", MANY_DRAWS, "drawn: there is little to learn from"),
        ("cut off", MANY_CUT_OFF, "cut off without a result"),
    ):
        if played and results[name] > limit * played:
            share = f"{results[name] / played:.0%} of the training games"
            yield f"{share} of the last {len(latest)} iterations were {text}"
    for matches in (True, False):
        for opponent in run.opponents(matches):
            yield from _fallen(run, opponent, matches)


def _fallen(run: RunData, opponent: str, matches: bool) -> Iterator[str]:
    """A warning if the last evaluation is worse than the best one."""
    scores = [
        (score, int(number(row.get("iteration")) or 0))
        for row in run.against(opponent, matches)
        if (score := _score(row)) is not None
    ]
    if scores and max(scores)[0] - scores[-1][0] > FALLEN:
        (best, iteration), last = max(scores), scores[-1][0]
        found = f"a score of {last:.1%}" if matches else f"{last:.1%} of the positions won or held"
        when = f"{best:.1%} at iteration {iteration:,}"
        yield f"against {opponent} it ends with {found}, after {when}"


def _score(row: Mapping[str, Any]) -> float | None:
    positions = graded(row)
    return number(row.get("score")) if positions is None else positions.share
