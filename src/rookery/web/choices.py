"""Which players the page offers, and at which levels.

A browser names a choice by its id, and an id only ever counts if it stands in the list made here:
nothing that a browser sends becomes a path, a command or an option of a player.
"""

from __future__ import annotations

import importlib
import re
import time
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rookery.players.mcts import DEFAULT_SIMULATIONS
from rookery.players.model import TREE_SEARCHERS
from rookery.players.registry import KINDS

# Players that need a person at the terminal, or a program or a file of the operator's choosing.
NOT_OFFERED = frozenset({"human", "uci", "book"})
FOLDER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
REFRESH_SECONDS = 2.0  # for how long the list of runs is taken as known
START = "start.safetensors"  # a run's network before training, where `rookery demo` kept it
MOST_CHECKPOINTS = 40  # offered of one run, spread evenly


@dataclass(frozen=True)
class Level:
    """How strong a player is asked to be."""

    id: str
    title: str
    wishes: Mapping[str, float] = field(default_factory=dict)  # limits of a search, before clamps
    random: float = 0.0  # share of moves played at random, [0, 1]
    settings: Mapping[str, str] = field(default_factory=dict)  # of a `Thinker`

    @property
    def full(self) -> bool:
        """Whether nothing is held back, so that the level need not be named."""
        return not (self.wishes or self.random or self.settings)


@dataclass(frozen=True)
class Choice:
    """A player that can be chosen."""

    id: str
    title: str
    group: str
    spec: str  # as `make_player` takes it; never sent to a browser
    levels: tuple[Level, ...]
    default: str  # id of the level chosen at first
    settings: Mapping[str, str] = field(default_factory=dict)  # of a `Thinker`, at every level

    def level(self, wanted: str) -> Level:
        """A level by its id."""
        for level in self.levels:
            if level.id == wanted:
                return level
        raise ValueError(f"{self.title} has no level {wanted[:40]!r}; choose one of the list")

    def summary(self) -> dict[str, object]:
        """What the page is told."""
        levels = [{"id": level.id, "title": level.title} for level in self.levels]
        return {
            "id": self.id,
            "title": self.title,
            "group": self.group,
            "levels": levels,
            "default": self.default,
        }


# Weaker than full strength is a matter of limits and of random moves, both of which every player
# can be given; engines of ours have levels of their own, which make better mistakes.
FULL = {"UCI_LimitStrength": "false", "Level": "0"}
AS_MADE = {"UCI_LimitStrength": "", "UCI_Elo": "", "Level": ""}  # "": the player's own default
TIMES = (
    Level("fast", "full strength, 0.2 s a move", {"movetime": 0.2}, settings=FULL),
    Level("second", "full strength, 1 s a move", {"movetime": 1.0}, settings=FULL),
    Level("three", "full strength, 3 s a move", {"movetime": 3.0}, settings=FULL),
    Level("ten", "full strength, 10 s a move", {"movetime": 10.0}, settings=FULL),
)
SEARCH_LEVELS = (
    Level("1", "1: beginner (50 nodes, 3 of 10 moves random)", {"nodes": 50, "depth": 2}, 0.3),
    Level("2", "2: casual (200 nodes, 1 of 10 moves random)", {"nodes": 200}, 0.1),
    Level("3", "3: 500 nodes", {"nodes": 500}),
    Level("4", "4: 2,000 nodes", {"nodes": 2000}),
    Level("5", "5: 10,000 nodes", {"nodes": 10_000}),
    *TIMES,
)
TREE_LEVELS = (
    Level("1", "1: 10 simulations, 1 of 5 moves random", {"simulations": 10}, 0.2),
    Level("2", "2: 25 simulations", {"simulations": 25}),
    Level("3", "3: 100 simulations", {"simulations": 100}),
    Level("4", "4: 400 simulations", {"simulations": 400}),
    *TIMES,
)
GIVEN = Level("given", "as given, at most 1 s a move", {"movetime": 1.0}, settings=AS_MADE)
PLAIN_LEVELS = (
    Level("1", "beginner: every second move at random", random=0.5),
    Level("2", "careless: every fifth move at random", random=0.2),
    Level("3", "as strong as it is"),
)
OFFERED_ENGINE_LEVELS = (1, 3, 5, 7, 9, 11, 13, 15, 17, 20)
OWN_ENGINES = frozenset({"engine", "tdleaf"})  # algorithms that make engines


def engine_levels() -> tuple[Level, ...]:
    """Levels of our own engine, as far as it is there; see `rookery.players.levels`."""
    try:
        own = importlib.import_module("rookery.players.levels")
    except ImportError:
        return SEARCH_LEVELS
    found = []
    for number in OFFERED_ENGINE_LEVELS:
        elo = own.level_parameters(number).elo
        about = f" (about {elo} Elo)" if own.CALIBRATED else ""
        settings = {"UCI_LimitStrength": "false", "Level": str(number)}
        found.append(Level(str(number), f"level {number} of 20{about}", settings=settings))
    return (*found, *TIMES)


def levels_of(name: str, algorithm: str = "") -> tuple[tuple[Level, ...], str]:
    """The levels that fit a player by its name or its run's algorithm, and the first choice."""
    if name == "rookery" or algorithm in OWN_ENGINES:
        levels = engine_levels()
        return levels, "9" if any(level.id == "9" for level in levels) else "4"
    if name in ("stockfish", "sunfish"):
        return SEARCH_LEVELS, "4"
    if name in TREE_SEARCHERS or algorithm in TREE_SEARCHERS:
        return TREE_LEVELS, "3"
    if name in KINDS or algorithm:
        return PLAIN_LEVELS, "3"
    return (GIVEN, *SEARCH_LEVELS), GIVEN.id  # in the operator's own words: it may be anything


def named_choice(name: str, title: str, group: str, spec: str) -> Choice:
    """A choice with the levels that fit it."""
    return Choice(name, title, group, spec, *levels_of(name))


class Choices:
    """All choices at this time: players by name, one given by the operator, runs."""

    def __init__(
        self,
        runs: Path,
        given: str = "",
        extra: Iterable[Choice] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Offer what is in the folder `runs`, too; `given` is a player in words."""
        self._runs = runs
        self._clock = clock
        self._fixed = list(extra)
        names = [choice.id for choice in self._fixed]
        if given and given not in KINDS:
            self._fixed.append(named_choice("given", given, "Given", given))
        offered = (kind for kind in KINDS.values() if kind.name not in (*NOT_OFFERED, *names))
        for kind in sorted(offered, key=lambda kind: kind.name != given):
            if kind.name == given or available(kind.name):
                title = f"{kind.name}: {kind.summary}"
                self._fixed.append(named_choice(kind.name, title, "Players", kind.name))
        self._until = -1.0
        self._found: dict[str, Choice] = {}

    def all(self) -> dict[str, Choice]:
        """Choices by id; runs are looked for again every few seconds."""
        if self._clock() >= self._until:
            found = {choice.id: choice for choice in self._fixed}
            for run in run_names(self._runs):
                found |= {choice.id: choice for choice in run_choices(self._runs / run)}
            self._found = found
            self._until = self._clock() + REFRESH_SECONDS
        return self._found

    def get(self, wanted: object) -> Choice:
        """A choice by its id."""
        found = self.all().get(wanted) if isinstance(wanted, str) else None
        if found is None:
            raise ValueError(f"unknown player {str(wanted)[:40]!r}; choose one of the list")
        return found


def available(name: str) -> bool:
    """Whether a player by name has what it needs here."""
    if name in ("stockfish", "sunfish"):
        from rookery.players.registry import make_player

        try:
            make_player(name).close()
        except (ValueError, OSError):
            return False
    if name == "tablebase":
        from rookery.data.tablebases import find_tablebases

        try:
            find_tablebases(None, None)
        except (ValueError, OSError):
            return False
    return name != "rookery" or shipped_engine() is not None


def shipped_engine() -> Path | None:
    """The network of the player `rookery`, if it is there."""
    if "rookery" not in KINDS:
        return None
    path = Path(__file__).parent.parent / "networks" / "rookery.safetensors"
    return path if path.is_file() else None


def run_names(runs: Path) -> list[str]:
    """Run folders, the one worked on last first; links and odd names are left out."""
    found = []
    try:
        entries = list(runs.iterdir())
    except OSError:
        return []
    for entry in entries:
        recipe = entry / "recipe.toml"
        if FOLDER_NAME.fullmatch(entry.name) and not entry.is_symlink() and recipe.is_file():
            log = entry / "log.txt"
            found.append(((log if log.is_file() else recipe).stat().st_mtime, entry.name))
    return [name for _, name in sorted(found, reverse=True)]


def run_choices(run: Path) -> list[Choice]:
    """The newest network of a run, then its checkpoints, newest first."""
    found = []
    if _is_plain_file(run / "model.safetensors"):
        found.append(_run_choice(f"run:{run.name}", f"{run.name}: newest network", run, run))
    for step in thinned(checkpoint_steps(run), MOST_CHECKPOINTS):
        path = run / "checkpoints" / f"{step:08d}" / "model.safetensors"
        name = f"run:{run.name}@{step}"
        found.append(_run_choice(name, f"{run.name}: after {step} iterations", run, path))
    if _is_plain_file(run / START):
        title = f"{run.name}: before training"
        found.append(_run_choice(f"run:{run.name}@start", title, run, run / START))
    return found


def checkpoint_steps(run: Path) -> list[int]:
    """Steps whose network can play, newest first."""
    folder = run / "checkpoints"
    try:
        names = [entry.name for entry in folder.iterdir()]
    except OSError:
        return []
    steps = [int(name) for name in names if re.fullmatch(r"[0-9]{8,12}", name)]
    steps = [s for s in steps if _is_plain_file(folder / f"{s:08d}" / "model.safetensors")]
    return sorted(steps, reverse=True)


def thinned(steps: list[int], most: int) -> list[int]:
    """At most so many of them, first and last included."""
    if len(steps) <= most:
        return steps
    return [steps[round(i * (len(steps) - 1) / (most - 1))] for i in range(most)]


def _run_choice(name: str, title: str, run: Path, path: Path) -> Choice:
    quoted = re.sub(r'(["\\])', r"\\\1", str(path))
    algorithm = run_algorithm(run)
    levels, default = levels_of(name, algorithm)
    search = f",simulations={DEFAULT_SIMULATIONS}" if algorithm in TREE_SEARCHERS else ""
    return Choice(name, title, f"Run {run.name}", f'"{quoted}"{search}', levels, default)


def run_algorithm(run: Path) -> str:
    """What made the networks of a run; "unknown" if its recipe does not say.

    TD-leaf with Giraffe's network is "giraffe": that one is no engine of ours and has no levels.
    """
    try:
        recipe = tomllib.loads((run / "recipe.toml").read_text("utf-8", "replace"))
    except (OSError, tomllib.TOMLDecodeError):
        return "unknown"
    section = recipe.get("tdleaf")
    if isinstance(section, dict) and section.get("network") == "giraffe":
        return "giraffe"
    return str(recipe.get("algorithm") or "unknown")


def _is_plain_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and not path.parent.is_symlink()
