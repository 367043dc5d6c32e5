"""Everything a race has found so far, from its folder alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean, stdev
from typing import Any

from rookery.race.check import Check, read_checks
from rookery.race.methods import METHODS, WAYS
from rookery.race.plan import Entrant, Race
from rookery.race.pool import PairRow, PoolSettings, pentanomials, race_pool
from rookery.race.skills import SkillRow, skill_journal

# Student's t for 95 %, by degrees of freedom; more are as the normal distribution.
STUDENT = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)


@dataclass(frozen=True)
class Estimate:
    """Elo with its 95 % interval."""

    elo: float
    low: float
    high: float
    seeds: int = 1

    def __str__(self) -> str:
        """Such as "1234 [1200, 1268]"."""
        return f"{self.elo:.0f} [{self.low:.0f}, {self.high:.0f}]"

    def minus(self, other: Estimate) -> Estimate:
        """The difference, the errors being independent."""
        elo = self.elo - other.elo
        half = math.hypot((self.high - self.low) / 2, (other.high - other.low) / 2)
        return Estimate(elo, elo - half, elo + half, min(self.seeds, other.seeds))


@dataclass(frozen=True)
class RatedPoint:
    """The rating of a checkpoint in one way of playing."""

    entrant: Entrant
    way: str
    estimate: Estimate
    games: int
    score: float  # over all opponents

    def to_json(self) -> dict[str, Any]:
        """A point of the JSON object."""
        entrant, rating = self.entrant, self.estimate
        return {
            "core_minutes": round(entrant.minutes, 3),
            "mode": self.way,
            "elo": round(rating.elo, 1),
            "elo_low": round(rating.low, 1),
            "elo_high": round(rating.high, 1),
            "games": self.games,
            "score": round(self.score, 4),
            "planned_minutes": entrant.point,
            "iterations": entrant.step,
            "samples": entrant.samples,
            "training_games": entrant.games,
            "checkpoint": entrant.path,
        }


@dataclass
class Results:
    """A race as far as it has come."""

    race: Race
    entrants: list[Entrant]
    points: list[RatedPoint]
    anchors: Mapping[str, float]
    skills: list[SkillRow]
    rows: dict[str, list[PairRow]]  # by way
    finished: list[str]  # names of runs
    planned: int  # number of runs
    before: dict[tuple[str, int], float]  # minutes of labels and first network, by method and seed
    checks: list[Check] = field(default_factory=list)

    def methods(self) -> list[str]:
        """Methods with a checkpoint, in the order of the registry."""
        present = {entrant.method for entrant in self.entrants}
        return [name for name in METHODS if name in present]

    def at(self, method: str, way: str, point: float) -> list[RatedPoint]:
        """The ratings of all seeds at a planned point."""
        return [
            each
            for each in self.points
            if (each.entrant.method, each.way, each.entrant.point) == (method, way, point)
        ]

    def planned_points(self, method: str, way: str) -> list[float]:
        """The planned points that a method has ratings at."""
        found = {
            each.entrant.point
            for each in self.points
            if (each.entrant.method, each.way) == (method, way)
        }
        return sorted(found)

    def last(self, method: str, way: str) -> Estimate | None:
        """The rating at the last point, over all seeds."""
        points = self.planned_points(method, way)
        return over_seeds(self.at(method, way, points[-1])) if points else None

    def to_json(self) -> dict[str, Any]:
        """The object of `rookery race --json`."""
        methods = []
        for name, seed in dict.fromkeys((each.method, each.seed) for each in self.entrants):
            points = [
                each.to_json()
                for each in self.points
                if (each.entrant.method, each.entrant.seed) == (name, seed)
            ]
            methods.append({"name": name, "seed": seed, "points": points})
        settings = self.race.settings
        return {
            "folder": str(self.race.folder),
            "budget_minutes": settings.budget / 60,
            "clock": "processor time",
            "evaluations": settings.evaluations,
            "movetime": settings.movetime,
            "openings": settings.openings,
            "runs_finished": len(self.finished),
            "runs_planned": self.planned,
            "methods": methods,
            "anchors": dict(self.anchors),
            "skills": [asdict(row) for row in self.skills],
            "checks": [asdict(each) for each in self.checks],
            "faults": {
                way: sum(sum(row.faults) for row in rows) for way, rows in self.rows.items()
            },
        }


def gather(race: Race, anchors: Mapping[str, float]) -> Results:
    """Read a race folder and fit the ratings."""
    points, rows = [], {}
    for way in WAYS:
        pool, entrants = race_pool(race, way, anchors, PoolSettings())
        rows[way] = pool.rows
        for name, rating in pool.ratings().items():
            if name in entrants:
                estimate = Estimate(rating.elo, rating.low, rating.high)
                games = int(rating.games)
                points.append(RatedPoint(entrants[name], way, estimate, games, rating.score))
    points.sort(key=lambda each: (each.entrant.seed, each.way, each.entrant.minutes))
    runs = list(race.runs())
    present = race.entrants()
    known = {entrant.name for entrant in present}
    return Results(
        race,
        present,
        points,
        anchors,
        [row for row in skill_journal(race.folder).rows if row.player in known],
        rows,
        [run.name for run in runs if run.spent().finished],
        len(runs),
        {(run.method.name, run.seed): run.spent().seconds / 60 for run in runs},
        [each for each in read_checks(race.folder) if each.player in known],
    )


def over_seeds(points: Sequence[RatedPoint]) -> Estimate:
    """The mean over seeds; its interval is that of the seeds or of the games, the wider one."""
    elos = [point.estimate.elo for point in points]
    halves = [(point.estimate.high - point.estimate.low) / 2 for point in points]
    count, mean = len(points), fmean(elos)
    half = math.sqrt(fmean(half**2 for half in halves) / count)
    if count > 1:
        student = STUDENT[count - 2] if count - 2 < len(STUDENT) else 1.96
        half = max(half, student * stdev(elos) / math.sqrt(count))
    return Estimate(mean, mean - half, mean + half, count)


def final_pairs(results: Results, way: str) -> dict[tuple[str, str], list[int]]:
    """Pentanomials between the last checkpoints of the methods, and against the rungs."""
    last: dict[tuple[str, int], Entrant] = {}
    for point in results.points:
        if point.way == way:
            last[point.entrant.method, point.entrant.seed] = point.entrant
    side = {entrant.name: entrant.method for entrant in last.values()}
    side |= {rung: rung for rung in results.anchors}
    return pentanomials(results.rows[way], lambda name: side.get(name, ""))
