"""The players and levels that the page offers.

A browser selects a choice by its id, which must be in the list made here: nothing that a browser
sends becomes a path, a command or an option of a player.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from rookery.nets.model_file import read_info
from rookery.players.offered_levels import GIVEN, Level, Levels
from rookery.players.registry import KINDS, PlayerKind, kind_of, make_player, named_kinds
from rookery.players.spec import PlayerSpec

T = TypeVar("T")
FOLDER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
REFRESH_SECONDS = 2.0  # how long the list of runs is cached
START = "start.safetensors"  # a run's network before training, kept by `rookery demo`
MOST_CHECKPOINTS = 40  # per run, evenly spaced


@dataclass(frozen=True)
class Choice:
    """A player that can be chosen."""

    id: str
    title: str
    group: str
    spec: str  # for `make_player`; never sent to a browser
    levels: Levels

    def level(self, wanted: str) -> Level:
        """Return a level by its id."""
        for level in self.levels.levels:
            if level.id == wanted:
                return level
        raise ValueError(f"{self.title} has no level {wanted[:40]!r}; choose one from the list")

    def summary(self) -> dict[str, object]:
        """Return the JSON for the page."""
        levels = [{"id": level.id, "title": level.title} for level in self.levels.levels]
        return {
            "id": self.id,
            "title": self.title,
            "group": self.group,
            "levels": levels,
            "default": self.levels.default,
        }


class Choices:
    """All choices: named players, the operator's player, and runs."""

    def __init__(
        self,
        runs: Path,
        given: str = "",
        extra: Iterable[Choice] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Offer also the runs in a folder; `given` is the operator's player specification."""
        self._runs = runs
        self._clock = clock
        self._fixed = list(extra)
        names = [choice.id for choice in self._fixed]
        if given and given not in KINDS:
            self._fixed.append(Choice("given", given, "Given", given, GIVEN))
        kinds = [kind for kind in named_kinds() if kind.offered and kind.name not in names]
        for kind in sorted(kinds, key=lambda kind: kind.name != given):
            if kind.name == given or available(kind):
                title = f"{kind.name}: {kind.summary}"
                self._fixed.append(Choice(kind.name, title, "Players", kind.name, kind.levels))
        self._until = -1.0
        self._found: dict[str, Choice] = {}

    def all(self) -> dict[str, Choice]:
        """Return the choices by id; runs are rescanned every few seconds."""
        if self._clock() >= self._until:
            found = {choice.id: choice for choice in self._fixed}
            for run in run_names(self._runs):
                found |= {choice.id: choice for choice in run_choices(self._runs / run)}
            self._found = found
            self._until = self._clock() + REFRESH_SECONDS
        return self._found

    def get(self, wanted: object) -> Choice:
        """Return a choice by its id."""
        found = self.all().get(wanted) if isinstance(wanted, str) else None
        if found is None:
            raise ValueError(f"unknown player {str(wanted)[:40]!r}; choose one from the list")
        return found


def available(kind: PlayerKind) -> bool:
    """Whether the programs and files that a player needs are installed."""
    if not kind.may_lack:
        return True
    try:
        make_player(kind.name).close()
    except (ValueError, OSError, ImportError):
        return False
    return True


def shipped_engine() -> Path | None:
    """Return the network of the player `rookery`, if it is installed."""
    path = Path(__file__).parent.parent / "networks" / "rookery.safetensors"
    return path if path.is_file() else None


def run_names(runs: Path) -> list[str]:
    """List run folders, most recent first, without symbolic links and unsafe names."""
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
    """List the latest network of a run, then its checkpoints, newest first."""
    files = {}  # by the part of the id after the run's name
    if _is_plain_file(run / "model.safetensors"):
        files[""] = ("latest network", run / "model.safetensors")
    for step in thinned(checkpoint_steps(run), MOST_CHECKPOINTS):
        path = run / "checkpoints" / f"{step:08d}" / "model.safetensors"
        files[f"@{step}"] = (f"after {step} iterations", path)
    if _is_plain_file(run / START):
        files["@start"] = ("before training", run / START)
    if not files:
        return []
    kind = _kind(next(iter(files.values()))[1])  # all networks of a run are of one kind
    return [
        Choice(
            f"run:{run.name}{part}",
            f"{run.name}: {title}",
            f"Run {run.name}",
            str(PlayerSpec(str(path if part else run), kind.page_options)),
            kind.levels,
        )
        for part, (title, path) in files.items()
    ]


def _kind(path: Path) -> PlayerKind:
    """Return the kind of player for a model file; an unreadable one counts as a policy."""
    try:
        return kind_of(read_info(path))
    except (ValueError, OSError):
        return KINDS["policy"]


def checkpoint_steps(run: Path) -> list[int]:
    """List the steps with a network, newest first."""
    folder = run / "checkpoints"
    try:
        names = [entry.name for entry in folder.iterdir()]
    except OSError:
        return []
    steps = [int(name) for name in names if re.fullmatch(r"[0-9]{8,12}", name)]
    steps = [s for s in steps if _is_plain_file(folder / f"{s:08d}" / "model.safetensors")]
    return sorted(steps, reverse=True)


def thinned(items: list[T], most: int) -> list[T]:
    """Return at most `most` evenly spaced items, including the first and the last."""
    if len(items) <= most:
        return items
    return [items[round(i * (len(items) - 1) / (most - 1))] for i in range(most)]


def _is_plain_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and not path.parent.is_symlink()
