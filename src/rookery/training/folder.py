"""The run folder `runs/NAME/`, which holds everything about one run.

recipe.toml         the complete recipe
metrics.jsonl       a row per iteration and per evaluation, determined by the seed
timing.jsonl        a row per iteration, determined by the clock
tensorboard/        both as TensorBoard events
checkpoints/STEP/   see checkpoint.py
replay/             samples of algorithms that keep them
games/*.pgn         sample games
ratings.json        all evaluations
model.safetensors   the network as of the last evaluation or the end, with its ratings
log.txt             messages with their times
live.json           games being played now, see live.py
cluster.json        nodes that play them, see nodes.py
lock                held by the training process
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rookery.base.storage import (
    PLAIN_FILE,
    atomic_folder,
    atomic_write,
    explain,
    remove_leftovers,
    write_all,
)
from rookery.runs.checkpoint import Checkpoints, folder_name
from rookery.runs.reader import LOG, RATINGS, RECIPE, RunReader, read_ratings, write_ratings
from rookery.training.recipe import Recipe, dump_recipe, resolve

PARTS = ("checkpoints", "replay", "games", "tensorboard")


class RunError(ValueError):
    """A run folder cannot be used; the message names it and the remedy."""


class RunFolder:
    """One run on disk."""

    def __init__(self, path: Path) -> None:
        """Refer to a folder, without touching it."""
        self.path = path
        self.reader = RunReader(path)
        self.checkpoints = Checkpoints(path / "checkpoints", self.log)
        self.messages: list[str] = []  # of this session, as in log.txt
        self.listener: Callable[[str], None] = lambda text: None  # called with each message

    @classmethod
    def create(cls, path: Path, recipe: Recipe) -> RunFolder:
        """Make a new run folder with its recipe, atomically."""
        if path.is_symlink():
            raise RunError(f"{path} is a symbolic link; give the folder itself, or another --run")
        if (path / RECIPE).exists():
            raise RunError(
                f"{path} holds a run already; continue it with 'rookery resume {path}', or choose "
                "another --run"
            )
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise RunError(f"{path} exists and is not a run; choose another --run")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            atomic_folder(path, {RECIPE: dump_recipe(recipe).encode()})
        except OSError as error:
            raise RunError(f"cannot make the run folder {path}: {explain(error)}") from None
        return cls(path)

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Open an existing run folder."""
        if path.is_symlink():
            raise RunError(f"{path} is a symbolic link; give the folder that it points to")
        if not (path / RECIPE).is_file():
            raise RunError(f"{path} is not a run folder: it has no {RECIPE}")
        return cls(path)

    def recipe(self, changes: dict[str, Any] | None = None) -> Recipe:
        """The stored recipe, validated, with changes."""
        content = self.reader.recipe()
        name = content.get("name")
        return resolve(name if isinstance(name, str) else self.path.name, content, changes or {})

    def write_recipe(self, recipe: Recipe) -> None:
        """Replace the recipe."""
        atomic_write(self.path / RECIPE, dump_recipe(recipe))

    def prepare(self) -> None:
        """Make subfolders and remove temporary files of a killed process; the lock must be held."""
        for name in PARTS:
            part = self.path / name
            if part.is_symlink():
                raise RunError(f"{part} is a symbolic link; remove it")
            part.mkdir(exist_ok=True)
        checkpoints = self.path / "checkpoints"
        steps = [checkpoints / folder_name(step) for step in self.checkpoints.steps()]
        for folder in (self.path, checkpoints, *steps, self.path / "games", self.path / "replay"):
            remove_leftovers(folder)

    def log(self, text: str) -> None:
        """Add a line to log.txt and tell the listener."""
        self.messages.append(text)
        self.listener(text)
        line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n".encode("utf-8", "replace")
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | PLAIN_FILE
        # If the log cannot be written, neither can checkpoints, and those raise the error.
        with contextlib.suppress(OSError):
            descriptor = os.open(self.path / LOG, flags, 0o644)
            try:
                write_all(descriptor, line, self.path / LOG)
            finally:
                os.close(descriptor)

    def ratings(self) -> list[dict[str, Any]]:
        """All evaluations so far, oldest first."""
        try:
            read_ratings(self.path)
        except ValueError:
            self.log(f"{RATINGS} cannot be understood; starting a new one")
        return self.reader.evaluations()

    def write_ratings(self, ratings: Sequence[dict[str, Any]]) -> None:
        """Replace the evaluations; other entries, by 'rookery rate', are kept."""
        try:
            others = read_ratings(self.path)
        except ValueError:
            others = {}
        write_ratings(self.path, {**others, "evaluations": list(ratings)})

    def save_games(self, name: str, games: Sequence[str]) -> None:
        """Store games (PGN) in games/NAME.pgn."""
        atomic_write(self.path / "games" / f"{name}.pgn", "\n\n".join(map(str.strip, games)) + "\n")


def newest_run(parent: Path) -> Path:
    """The run in `parent` with the latest log entry."""
    runs = [path.parent for path in parent.glob(f"*/{RECIPE}") if not path.parent.is_symlink()]
    if not runs:
        raise RunError(f"there is no run in {parent}/; name the run folder")

    def last_work(run: Path) -> float:
        log = run / LOG
        return (log if log.exists() else run).stat().st_mtime

    return max(runs, key=last_work)


def free_run_path(parent: Path, name: str) -> Path:
    """`parent/name`, or the first free one of `name-2`, `name-3`, ..."""
    path, number = parent / name, 2
    while path.exists() or path.is_symlink():
        path, number = parent / f"{name}-{number}", number + 1
    return path
