"""Checkpoints: `checkpoints/STEP/` with a manifest of checksums.

    checkpoints/00000120/
      state.safetensors   weights, optimiser, torch's random streams, games: all tensors
      state.json          NumPy's random streams, schedules, counters of the trainer
      model.safetensors   the network as a model file, for playing
      manifest.json       size and SHA-256 of each file, the run's counters, its own SHA-256

A checkpoint is created atomically, by a rename. One that fails its checksums is never loaded; the
one before it is used instead. Milestones too old to resume from keep only the model.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rookery.base.storage import atomic_folder, atomic_write, checksum, remove_folder, sync_folder
from rookery.runs.state import State, StateError

FORMAT = 1
MANIFEST = "manifest.json"
STATE = "state.safetensors"
VALUES = "state.json"
MODEL = "model.safetensors"


class CheckpointError(ValueError):
    """A checkpoint that cannot be used; the text says why."""


class FutureFormatError(ValueError):
    """A checkpoint of a newer Rookery; never treated as damage."""


@dataclass
class Counters:
    """How far a run has got."""

    iterations: int = 0
    samples: int = 0
    games: int = 0
    seconds: float = 0.0  # of training, by a monotonic clock
    evaluated: int = 0  # equal parts of the run that were completed and evaluated
    rounds: int = 0  # evaluations, each against one or more opponents
    metrics_bytes: int = 0  # length of metrics.jsonl at this point
    timing_bytes: int = 0
    milestones: int = 0  # of `run.milestones` that were reached


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint with a valid manifest."""

    path: Path
    counters: Counters
    recipe: dict[str, Any]  # resolved, as it was when the checkpoint was written
    milestone: bool
    files: Mapping[str, tuple[int, str]]  # name -> size, SHA-256

    @property
    def step(self) -> int:
        """Iterations finished."""
        return self.counters.iterations

    @property
    def resumable(self) -> bool:
        """Whether the trainer's state is still there, not only the model."""
        return STATE in self.files

    def read(self, name: str) -> bytes:
        """The content of one file, after verifying its checksum."""
        try:
            data = (self.path / name).read_bytes()
        except OSError as error:
            raise CheckpointError(f"{name} cannot be read ({error.strerror})") from None
        size, digest = self.files[name]
        if len(data) != size:
            raise CheckpointError(f"{name} has {len(data)} bytes instead of {size}")
        if checksum(data) != digest:
            raise CheckpointError(f"the checksum of {name} differs")
        return data

    def load_state(self) -> State:
        """The trainer's state, after verifying its checksums."""
        import safetensors.torch

        values = self.read(VALUES)
        return State(safetensors.torch.load(self.read(STATE)), json.loads(values))


def folder_name(step: int) -> str:
    """Name of a checkpoint's folder; names sort in the order of steps."""
    return f"{step:08d}"


class Checkpoints:
    """The checkpoints of one run, oldest first."""

    def __init__(self, folder: Path, report: Callable[[str], None] = lambda text: None) -> None:
        """Manage `folder`; `report` is called with a message for each damaged checkpoint."""
        self.folder = folder
        self._report = report

    def steps(self) -> list[int]:
        """Steps that have a folder, damaged or not, ascending."""
        try:
            names = [entry.name for entry in self.folder.iterdir()]
        except FileNotFoundError:
            return []
        return sorted(int(name) for name in names if name.isdigit())

    def save(
        self,
        state: State,
        model: bytes,
        counters: Counters,
        recipe: Mapping[str, Any],
        milestone: bool = False,
    ) -> Checkpoint:
        """Write a checkpoint; a state with NaN or infinities is refused."""
        import safetensors.torch

        bad = state.non_finite()
        if bad is not None:
            raise StateError(f"the tensor {bad!r} has a NaN or an infinity")
        contents = {
            STATE: safetensors.torch.save(state.tensors),
            VALUES: json.dumps(state.values, allow_nan=False, indent=1).encode(),
            MODEL: model,
        }
        files = {name: (len(data), checksum(data)) for name, data in contents.items()}
        path = self.folder / folder_name(counters.iterations)
        checkpoint = Checkpoint(path, Counters(**asdict(counters)), dict(recipe), milestone, files)
        atomic_folder(path, {**contents, MANIFEST: _manifest(checkpoint)})
        return checkpoint

    def amend(self, step: int, counters: Counters, milestone: bool) -> None:
        """Replace the counters of a checkpoint after its evaluation."""
        new = replace(self.read(step), counters=counters, milestone=milestone)
        atomic_write(new.path / MANIFEST, _manifest(new))

    def read(self, step: int) -> Checkpoint:
        """A checkpoint by its step; verifies its manifest but not its files."""
        path = self.folder / folder_name(step)
        try:
            data = (path / MANIFEST).read_bytes()
        except OSError as error:
            raise CheckpointError(f"{MANIFEST} cannot be read ({error.strerror})") from None
        return _parse(path, data)

    def newest(self) -> tuple[Checkpoint, State] | None:
        """The newest intact checkpoint with its state, or None if there is no checkpoint.

        Damaged checkpoints are reported and renamed.

        Raises:
            CheckpointError: if all checkpoints are damaged.
        """
        damaged = []
        for step in reversed(self.steps()):
            try:
                checkpoint = self.read(step)
                if not checkpoint.resumable:
                    continue
                checkpoint.read(MODEL)
                state = checkpoint.load_state()
            except CheckpointError as error:
                self._report(f"checkpoint {folder_name(step)} is damaged: {error}")
                damaged.append(step)
                continue
            for bad in damaged:
                self._set_aside(bad)
            if damaged:
                self._report(f"resuming from checkpoint {checkpoint.path.name} instead")
            return checkpoint, state
        if damaged:
            raise CheckpointError(
                f"all checkpoints in {self.folder} are damaged; there is nothing to resume from, "
                "start again with 'rookery train'"
            )
        return None

    def newest_model(self) -> tuple[Path, bytes] | None:
        """Path and content of the newest intact model; changes nothing."""
        for step in reversed(self.steps()):
            try:
                checkpoint = self.read(step)
                return checkpoint.path / MODEL, checkpoint.read(MODEL)
            except CheckpointError as error:
                self._report(f"checkpoint {folder_name(step)} is damaged: {error}")
        return None

    def thin(self, keep: int) -> None:
        """Keep the newest `keep` checkpoints and the models of older milestones only."""
        resumable = []
        for step in self.steps():
            try:
                checkpoint = self.read(step)
            except CheckpointError:
                continue
            if checkpoint.resumable:
                resumable.append(checkpoint)
        for checkpoint in resumable[:-keep]:
            if checkpoint.milestone:
                self._strip(checkpoint)
            else:
                remove_folder(checkpoint.path)

    def _strip(self, checkpoint: Checkpoint) -> None:
        """Remove all but the model: first from the manifest, then from the disk."""
        smaller = replace(checkpoint, files={MODEL: checkpoint.files[MODEL]})
        atomic_write(checkpoint.path / MANIFEST, _manifest(smaller))
        for name in (STATE, VALUES):
            (checkpoint.path / name).unlink(missing_ok=True)

    def _set_aside(self, step: int) -> None:
        """Rename a damaged checkpoint so that its step can be written again."""
        path = self.folder / folder_name(step)
        aside = path.with_name(f"{path.name}.damaged")
        if aside.exists():
            shutil.rmtree(aside)
        os.rename(path, aside)
        sync_folder(self.folder)


def _manifest(checkpoint: Checkpoint) -> bytes:
    content = {
        "format": FORMAT,
        "counters": asdict(checkpoint.counters),
        "milestone": checkpoint.milestone,
        "files": {
            name: {"bytes": size, "sha256": digest}
            for name, (size, digest) in checkpoint.files.items()
        },
        "recipe": checkpoint.recipe,
    }
    content["sha256"] = checksum(_canonical(content))
    return (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()


def _canonical(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _parse(path: Path, data: bytes) -> Checkpoint:
    try:
        content = json.loads(data)
        digest = content.pop("sha256")
        if checksum(_canonical(content)) != digest:
            raise CheckpointError(f"the checksum of {MANIFEST} differs")
    except (ValueError, AttributeError, KeyError, RecursionError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"{MANIFEST} cannot be understood") from None
    # The checksum matches, so unknown content means a newer format, not damage.
    if content.get("format") != FORMAT:
        raise FutureFormatError(
            f"{path / MANIFEST} has format {content.get('format')!r}, this version of Rookery "
            f"reads {FORMAT}; use the version that wrote it"
        )
    return Checkpoint(
        path,
        Counters(**content["counters"]),
        content["recipe"],
        content["milestone"],
        {name: (entry["bytes"], entry["sha256"]) for name, entry in content["files"].items()},
    )
