"""Warnings from a run's own records: too many draws, games cut off, falling scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rookery.report.read import RunData
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
    for opponent in run.opponents():
        scores = [
            (score, int(number(row.get("iteration")) or 0))
            for row in run.against(opponent)
            if (score := number(row.get("score"))) is not None
        ]
        if scores and max(scores)[0] - scores[-1][0] > FALLEN:
            best, iteration = max(scores)
            yield (
                f"against {opponent} it ends with a score of {scores[-1][0]:.1%}, "
                f"after {best:.1%} at iteration {iteration:,}"
            )
