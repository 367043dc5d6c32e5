"""What a race consists of, and where its parts are.

RACE/race.json             the settings
RACE/METHOD-seedN/         the run of a method
RACE/parts/METHOD-seedN*   its labels and first network, if it has them, and what they cost
RACE/entrants.jsonl        the checkpoints of complete runs, also of those trained elsewhere
RACE/pool-WAY.jsonl        the games, a line per colour-swapped pair
RACE/skills.jsonl          answers to the positions
RACE/checks.jsonl          games of `rookery rate` for comparison
RACE/results.json          everything the page shows
RACE/race.html, *.svg      the page and its charts
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rookery.base.storage import atomic_write
from rookery.race.methods import METHODS, Method
from rookery.runs.checkpoint import Checkpoint, CheckpointError, Checkpoints, folder_name
from rookery.runs.reader import RECIPE

SETTINGS = "race.json"
ENTRANTS = "entrants.jsonl"
# When checkpoints are rated, as shares of the budget: of 30 minutes after 1, 2, 4, 8, 15 and 30.
POINTS = (1 / 30, 1 / 15, 2 / 15, 4 / 15, 1 / 2, 1.0)
ROUNDING = 1.01  # times are written in whole seconds


@dataclass(frozen=True)
class RaceSettings:
    """What must stay the same for all runs; methods and seeds may be added later."""

    budget: float = 1800.0  # seconds of processor time of each run, labels included
    seeds: int = 3  # 1, 2, ...
    methods: tuple[str, ...] = tuple(METHODS)
    evaluations: int = 400  # a move, in the way `fixed`
    movetime: float = 0.1  # seconds a move, in the way `timed`
    openings: str = "random:6"  # as `rookery rate`, so that ratings can be compared
    changes: tuple[str, ...] = ()  # to recipes, as "METHOD:key=value"

    def __post_init__(self) -> None:
        """Refuse unknown methods and numbers that make no race."""
        for name in self.methods:
            METHODS.find(name)
        if not self.methods or self.seeds < 1 or self.evaluations < 1 or not self.movetime > 0:
            raise ValueError("a race needs a method, a seed, an evaluation and time for a move")
        for change in self.changes:
            method, colon, setting = change.partition(":")
            if not colon or "=" not in setting:
                raise ValueError(f"--set {change!r} is not of the form METHOD:key=value")
            METHODS.find(method)

    def points(self) -> list[float]:
        """The planned points in core-minutes."""
        return [share * self.budget / 60 for share in POINTS]

    def changes_of(self, method: str) -> list[str]:
        """The changes to a method's recipe."""
        return [change.partition(":")[2] for change in self.changes
                if change.partition(":")[0] == method]  # fmt: skip


@dataclass(frozen=True)
class RaceRun:
    """The run of one method with one seed."""

    race: Path
    method: Method
    seed: int

    @property
    def name(self) -> str:
        """As in file names."""
        return f"{self.method.name}-seed{self.seed}"

    @property
    def folder(self) -> Path:
        """The run folder."""
        return self.race / self.name

    @property
    def labels(self) -> Path:
        """The folder of its labels."""
        return self.race / "parts" / f"{self.name}-labels"

    @property
    def start(self) -> Path:
        """The run of the network that it begins with."""
        return self.race / "parts" / f"{self.name}-start"

    def spent(self) -> Spent:
        """What its earlier parts cost so far."""
        try:
            return Spent(**json.loads(self._spent_file.read_bytes()))
        except FileNotFoundError:
            return Spent()

    def write_spent(self, spent: Spent) -> None:
        """Store what the parts cost."""
        self._spent_file.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(self._spent_file, json.dumps(asdict(spent)) + "\n")

    @property
    def _spent_file(self) -> Path:
        return self.race / "parts" / f"{self.name}.json"

    def began(self) -> bool:
        """Whether its run folder exists."""
        return (self.folder / RECIPE).is_file()


@dataclass(frozen=True)
class Spent:
    """Processor seconds of a run's parts, and whether it is complete."""

    labels: int = 0  # positions
    label_seconds: float = 0.0
    start_seconds: float = 0.0
    finished: bool = False

    @property
    def seconds(self) -> float:
        """Before the run itself begins."""
        return self.label_seconds + self.start_seconds


@dataclass(frozen=True)
class Entrant:
    """A checkpoint that takes part in the pools."""

    name: str  # unique, and different for other weights
    method: str
    seed: int
    step: int  # iterations
    minutes: float  # core-minutes spent, labels included; 0: untrained
    point: float  # the planned point that it stands for, in core-minutes
    samples: int  # positions learnt from
    games: int  # played to learn from
    path: str  # of the checkpoint

    @property
    def run(self) -> str:
        """The name of its run."""
        return f"{self.method}-seed{self.seed}"

    @property
    def here(self) -> bool:
        """Whether its network is on this machine; only the games count of one that is not."""
        return Path(self.path).is_dir()


class Race:
    """A race folder."""

    def __init__(self, folder: Path, settings: RaceSettings) -> None:
        """Refer to a folder; `open` makes one."""
        self.folder, self.settings = folder, settings

    @classmethod
    def open(cls, folder: Path, asked: RaceSettings | None = None) -> Race:
        """Open a race, and make or extend it as asked; other conditions are refused."""
        path = folder / SETTINGS
        stored = _read(path) if path.exists() else None
        if asked is None:
            if stored is None:
                raise ValueError(f"{folder} is not a race: it has no {SETTINGS}")
            return cls(folder, stored)
        settings = asked if stored is None else _merged(folder, stored, asked)
        if settings != stored:
            folder.mkdir(parents=True, exist_ok=True)
            atomic_write(path, json.dumps(asdict(settings), indent=1) + "\n")
        return cls(folder, settings)

    def runs(self, methods: Sequence[str] | None = None) -> Iterator[RaceRun]:
        """All runs, or those of some methods: the first seed of each first."""
        for seed in range(1, self.settings.seeds + 1):
            for name in self.settings.methods:
                if methods is None or name in methods:
                    yield RaceRun(self.folder, METHODS.find(name), seed)

    def entrants(self) -> list[Entrant]:
        """The checkpoints of all runs, one for each planned point that was reached."""
        elsewhere = self._remembered()
        found = []
        for run in self.runs():
            found += self._of(run) if run.began() else elsewhere.get(run.name, [])
        return found

    def complete(self) -> list[Entrant]:
        """The checkpoints of all complete runs."""
        finished = {run.name for run in self.runs() if run.spent().finished}
        return [entrant for entrant in self.entrants() if entrant.run in finished]

    def remember(self, entrants: Sequence[Entrant]) -> None:
        """Write down the checkpoints of complete runs; their folders may go elsewhere then."""
        lines = [json.dumps(asdict(entrant)) + "\n" for entrant in entrants]
        atomic_write(self.folder / ENTRANTS, "".join(lines))

    def _remembered(self) -> dict[str, list[Entrant]]:
        """Of complete runs, by name."""
        path = self.folder / ENTRANTS
        found: dict[str, list[Entrant]] = {}
        for line in path.read_text().splitlines() if path.exists() else ():
            try:
                entrant = Entrant(**json.loads(line))
            except (ValueError, TypeError) as error:
                raise ValueError(f"{path} is not of a race ({error})") from None
            found.setdefault(entrant.run, []).append(entrant)
        return found

    def player(self, entrant: Entrant, way: str) -> str:
        """The specification of a checkpoint as a player."""
        settings, method = self.settings, METHODS.find(entrant.method)
        return f"{entrant.path},{method.options(way, settings.evaluations, settings.movetime)}"

    def _of(self, run: RaceRun) -> list[Entrant]:
        spent = run.spent()
        found: dict[float, Entrant] = {}
        for checkpoint in _kept(run, spent.finished):
            counters = checkpoint.counters
            minutes = (spent.seconds + (counters.seconds if counters.iterations else 0.0)) / 60
            point = self._passed(minutes)
            digest = checkpoint.files["model.safetensors"][1]
            entrant = Entrant(
                f"{run.name}@{folder_name(checkpoint.step)}-{digest[:8]}",
                run.method.name,
                run.seed,
                checkpoint.step,
                minutes,
                point,
                counters.samples,
                counters.games,
                str(checkpoint.path),
            )
            found.setdefault(point, entrant)
            last = entrant
        if spent.finished and found:
            end = self.settings.points()[-1]
            found.pop(last.point)
            found[end] = replace(last, point=end)
        return [found[point] for point in sorted(found)]

    def _passed(self, minutes: float) -> float:
        """The last planned point that a checkpoint has passed; 0: untrained."""
        if minutes == 0:
            return 0.0
        points = self.settings.points()
        return max((each for each in points if each <= ROUNDING * minutes), default=points[0])


def is_race(folder: Path) -> bool:
    """Whether a folder was made by `rookery race`."""
    return (folder / SETTINGS).is_file()


def run_folders(folder: Path) -> list[Path]:
    """The runs of a race that have begun."""
    return [run.folder for run in Race.open(folder).runs() if run.began()]


def _kept(run: RaceRun, finished: bool) -> Iterator[Checkpoint]:
    """Checkpoints that stay: milestones, and the last one of a finished run."""
    checkpoints = Checkpoints(run.folder / "checkpoints")
    steps = checkpoints.steps()
    for step in steps:
        try:
            checkpoint = checkpoints.read(step)
        except CheckpointError:
            continue
        if checkpoint.milestone or (finished and step == steps[-1]):
            yield checkpoint


def _read(path: Path) -> RaceSettings:
    try:
        content: dict[str, Any] = json.loads(path.read_text())
        lists = {key: tuple(content[key]) for key in ("methods", "changes")}
        return RaceSettings(**{**content, **lists})
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not of a race ({error}); choose another --out") from None


def _merged(folder: Path, stored: RaceSettings, asked: RaceSettings) -> RaceSettings:
    """The stored settings with the methods and seeds that are asked for as well."""
    methods = tuple(dict.fromkeys((*stored.methods, *asked.methods)))
    merged = replace(asked, methods=methods, seeds=max(stored.seeds, asked.seeds))
    before, after = asdict(stored), asdict(merged)
    changed = [
        f"{key}: {before[key]} -> {after[key]}"
        for key in before
        if key not in ("methods", "seeds") and before[key] != after[key]
    ]
    if changed:
        raise ValueError(
            f"{folder} holds another race ({'; '.join(changed)}); choose another --out, or the "
            "same conditions"
        )
    return merged
