"""The players and levels that the page offers.

A browser selects a choice by its id, which must be in the list made here: nothing that a browser
sends becomes a path, a command or an option of a player.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rookery._core import STANDARD_BOARD, find_board
from rookery.data.starts import start_positions
from rookery.nets.model_file import read_info
from rookery.players.characters import CHARACTERS
from rookery.players.levels import is_calibrated
from rookery.players.offered_levels import ENGINE, GIVEN, RATED_ENGINE, Level, Levels
from rookery.players.registry import KINDS, PlayerKind, kind_of, make_player, named_kinds
from rookery.players.spec import PlayerSpec
from rookery.rating.networks import (
    NOT_RATED,
    NetworkRating,
    evaluation_rating,
    network_checksum,
    newest_rating,
    run_ratings,
)

T = TypeVar("T")
FOLDER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
REFRESH_SECONDS = 2.0  # how long the list of runs is cached
OUR_ENGINE = "rookery"
NETWORKS = Path(__file__).parent.parent / "networks"
DEMO = "demo.json"  # what `rookery demo` measured
START = "start.safetensors"  # a run's network before training, kept by `rookery demo`
MOST_CHECKPOINTS = 40  # per run, evenly spaced
# A position to begin with for the endings of the shipped networks; others are drawn at random.
EXAMPLES = {
    "KPvK": "8/8/8/4k3/8/4K3/4P3/8 w - - 0 1",
    "KQvK": "8/8/8/4k3/8/8/8/3QK3 w - - 0 1",
    "KRvK": "8/8/8/4k3/8/8/8/R3K3 w - - 0 1",
}


@dataclass(frozen=True)
class Choice:
    """A player that can be chosen."""

    id: str
    title: str
    group: str
    spec: str  # for `make_player`; never sent to a browser
    levels: Levels
    start: str = ""  # FEN to start from if no other is chosen: of its board, or its only ending
    rating: NetworkRating | None = None  # measured, at full strength
    called: str = ""  # at the board, if not by title and level
    words: str = ""  # the part of the title that describes it
    hints: str = ""  # specification of who gives hints instead of it

    def level(self, wanted: str) -> Level:
        """Return a level by its id."""
        for level in self.levels.levels:
            if level.id == wanted:
                return level
        raise ValueError(f"{self.title} has no level {wanted[:40]!r}; choose one from the list")

    @property
    def name(self) -> str:
        """What a list shows, short enough for a phone; `words` say the rest."""
        return self.called or self.title.removesuffix(f": {self.words}")

    def summary(self) -> dict[str, object]:
        """Return the JSON for the page."""
        levels = [{"id": level.id, "title": level.title} for level in self.levels.levels]
        return {
            "id": self.id,
            "title": self.title,
            "name": self.name,
            "words": self.words,
            "group": self.group,
            "levels": levels,
            "default": self.levels.default,
            "start": self.start,
            "rating": None if self.rating is None else self.rating.to_json(),
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
        # The given player first, then our engine and the characters, which are our engine too.
        kinds.sort(key=lambda kind: (kind.name != given, kind.name != OUR_ENGINE))
        for kind in kinds:
            if kind.name == given or available(kind):
                self._fixed.append(named_choice(kind))
            if kind.name == OUR_ENGINE:
                self._fixed += characters()
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


def named_choice(kind: PlayerKind) -> Choice:
    """Return a named player; one that plays a shipped network starts where that can play."""
    levels, start = kind.levels, ""
    path = NETWORKS / f"{kind.name}.safetensors"
    if path.is_file():
        start = usual_start(path)
        if levels == ENGINE and is_calibrated(path.read_bytes()):
            levels = RATED_ENGINE
    group = "Our engine" if kind.name == OUR_ENGINE else "Other players"
    title = f"{kind.name}: {kind.summary}"
    return Choice(kind.name, title, group, kind.name, levels, start=start, words=kind.summary)


def characters() -> list[Choice]:
    """Return the opponents with names; the engine's were measured with one network only."""
    path = shipped_engine()
    calibrated = path is not None and is_calibrated(path.read_bytes())
    return [
        Choice(
            person.id,
            person.title,
            "Characters",
            person.player,
            person.levels,
            called=f"{person.name} (about {person.elo} Elo)",
            words=person.words,
            hints="" if path is None else OUR_ENGINE,
        )
        for person in CHARACTERS
        if calibrated or person.player != "rookery"
    ]


def usual_start(model: Path) -> str:
    """Return the start of a network's board, or a position of its ending; "" if standard."""
    try:
        info = read_info(model)
    except (ValueError, OSError):
        return ""
    if info.board != STANDARD_BOARD:
        return find_board(info.board).start
    endings = info.sizes.get("endings")
    return ending_fen(str(endings[0])) if isinstance(endings, list) and endings else ""


def ending_fen(ending: str) -> str:
    """Return a position with this material ("KQvK"), White to move; "" if there is none."""
    if ending in EXAMPLES:
        return EXAMPLES[ending]
    try:
        return start_positions(ending).sample(np.random.default_rng(1)).fen()
    except ValueError:
        return ""


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
    path = NETWORKS / f"{OUR_ENGINE}.safetensors"
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
    started = _is_plain_file(run / START)
    for step in thinned(checkpoint_steps(run), MOST_CHECKPOINTS):
        if started and not step:
            continue  # the same network
        path = run / "checkpoints" / f"{step:08d}" / "model.safetensors"
        files[f"@{step}"] = (_when_made(step), path)
    if started:
        files["@start"] = (_when_made(0), run / START)
    if not files:
        return []
    first = next(iter(files.values()))[1]
    kind, start = _kind(first), usual_start(first)  # all networks of a run are of one kind
    ratings = choice_ratings(run)
    return [
        Choice(
            f"run:{run.name}{part}",
            f"{run.name}: {title}" + ("" if start else f" ({ratings.get(part) or NOT_RATED})"),
            f"Run {run.name}",
            str(PlayerSpec(str(path if part else run), kind.page_options)),
            kind.levels,
            start,
            ratings.get(part),
        )
        for part, (title, path) in files.items()
    ]


def _when_made(step: int) -> str:
    if not step:
        return "before training"
    return f"after {step} iteration{'' if step == 1 else 's'}"


def choice_ratings(run: Path) -> dict[str, NetworkRating]:
    """Return the measured ratings of a run's networks, by the part of the id after its name."""
    found = {f"@{step}": rating for step, rating in run_ratings(run).items()}
    steps = checkpoint_steps(run)
    latest = newest_rating(run) or (found.get(f"@{steps[0]}") if steps else None)
    demo = read_demo(run)
    if latest is None and demo and demo.get("network") == network_checksum(str(run)):
        latest = evaluation_rating(_when(demo, "after"))
    first = evaluation_rating(_when(demo, "before"))
    return found | {part: r for part, r in (("", latest), ("@start", first)) if r is not None}


def read_demo(run: Path) -> dict[str, Any]:
    """Return what `rookery demo` measured of a run's first and last networks, {} if nothing."""
    try:
        found = json.loads((run / DEMO).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _when(demo: dict[str, Any], when: str) -> list[dict[str, Any]]:
    matches = demo.get("matches")
    rows = matches if isinstance(matches, list) else []
    return [row for row in rows if isinstance(row, dict) and row.get("when") == when]


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
