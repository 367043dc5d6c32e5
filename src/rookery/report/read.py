"""Reading what a report shows of a run, which may still be training or be damaged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rookery.report.games import SampleGame, sample_games
from rookery.runs.graded import is_match
from rookery.runs.reader import RECIPE, number
from rookery.training.folder import RunError, RunFolder
from rookery.training.recipe import flatten, recipe_model

LOG_LINES = 40


@dataclass
class RunData:
    """One run; `rows` are those of metrics.jsonl, joined with timing.jsonl by iteration."""

    name: str
    recipe: dict[str, Any]  # flat, by dotted key
    rows: list[dict[str, Any]] = field(default_factory=list)
    evaluations: list[dict[str, Any]] = field(default_factory=list)
    games: list[SampleGame] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    colour: int = 0  # its number in charts
    folder: Path = Path()

    @property
    def last(self) -> dict[str, Any]:
        """The newest row, empty if there is none."""
        return self.rows[-1] if self.rows else {}

    @property
    def seconds(self) -> float:
        """Time spent so far."""
        return number(self.last.get("seconds")) or 0.0

    def opponents(self, matches: bool = True) -> list[str]:
        """Opponents of the matches, or of graded positions, in order of appearance."""
        rows = [row for row in self.evaluations if is_match(row) == matches]
        return list(dict.fromkeys(str(row.get("opponent")) for row in rows))

    def against(self, opponent: str, matches: bool = True) -> list[dict[str, Any]]:
        """Matches, or graded positions, against one opponent, oldest first."""
        rows = [row for row in self.evaluations if row.get("opponent") == opponent]
        return [row for row in rows if is_match(row) == matches]


class NothingYetError(RunError):
    """A run has not finished an iteration."""


def read_runs(paths: list[Path], left_out: Callable[[str], object] | None = None) -> list[RunData]:
    """Read runs; runs of the same name are told apart by their whole paths.

    One that has nothing to show yet, or a file or folder that is no run (runs/* names them too), is
    an error, or is left out and `left_out` called with the reason; an error if none remains.
    """
    found: dict[Path, RunData] = {}
    reasons = []
    for path in paths:
        try:
            found[path] = read_run(path)
        except RunError as error:
            no_run = path.exists() and not (path / RECIPE).is_file()
            if left_out is None or not (no_run or isinstance(error, NothingYetError)):
                raise
            reasons.append(str(error))
    if not found:
        raise RunError("; ".join(reasons))
    for reason in reasons:
        if left_out is not None:
            left_out(reason)
    names = [run.name for run in found.values()]
    for path, run in found.items():
        if names.count(run.name) > 1:
            run.name = str(path)
    return list(found.values())


def read_run(path: Path) -> RunData:
    """Read one run."""
    reader = RunFolder.open(path).reader
    run = RunData(path.resolve().name, flatten(_present_names(reader.recipe())), folder=path)
    clock = {row.get("iteration"): row for row in reader.timing()}
    run.rows = [{**clock.get(row["iteration"], {}), **row} for row in reader.metrics()]
    run.evaluations = [row for row in reader.evaluations() if number(row.get("games"))]
    if not run.rows and not run.evaluations:
        raise NothingYetError(f"{path} has nothing to report yet; wait for its first iteration")
    run.games = sample_games(reader)
    run.log = reader.log_lines(LOG_LINES)
    return run


def _present_names(recipe: dict[str, Any]) -> dict[str, Any]:
    """A recipe with the present names of its keys; unchanged if its algorithm is not installed."""
    try:
        return recipe_model(recipe, "").present_names(recipe)
    except ValueError:
        return recipe
