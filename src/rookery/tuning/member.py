"""A round of one member: a run folder as bytes goes to a node, trains there, and comes back.

A checkpoint resumes exactly, so where a round is trained makes no difference.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rookery.base.messages import pack, unpack
from rookery.cluster.jobs import Done, Job
from rookery.runs.checkpoint import Checkpoints, folder_name
from rookery.runs.reader import RECIPE, RunReader, number
from rookery.training.view import PlainView, Snapshot

WORK = "rookery.tuning.member:train"
# What a run needs to go on, and what a report shows.
PARTS = (RECIPE, "metrics.jsonl", "ratings.json", "model.safetensors", "checkpoints", "replay")


class SilentView(PlainView):
    """Shows nothing: many members train at once."""

    def message(self, text: str) -> None:
        """Nothing."""

    def update(self, snapshot: Snapshot) -> None:
        """Nothing."""


def pack_run(folder: Path) -> dict[str, Any]:
    """The files of a run by their paths, with its newest checkpoint only."""
    steps = Checkpoints(folder / "checkpoints").steps()
    newest = folder / "checkpoints" / folder_name(steps[-1]) if steps else None
    files = [path for part in PARTS for path in _files(folder / part)]
    kept = [
        path
        for path in files
        if "checkpoints" not in path.relative_to(folder).parts or path.parent == newest
    ]
    return {
        str(path.relative_to(folder)): np.frombuffer(path.read_bytes(), np.uint8) for path in kept
    }


def unpack_run(files: Mapping[str, Any], folder: Path) -> None:
    """Write what `pack_run` read."""
    for name, data in files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ValueError(f"{name!r} is outside the run folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.tobytes())


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(each for each in path.rglob("*") if each.is_file())
    return [path] if path.is_file() else []


def job(
    label: str, recipe: str, settings: Mapping[str, Any], until: int, folder: Path | None
) -> Job:
    """A round: `recipe` is TOML, `settings` replace its keys; `folder` is the run so far."""
    content = {
        "recipe": recipe,
        "settings": dict(settings),
        "until": until,
        "files": None if folder is None else pack_run(folder),
    }
    return Job(label, WORK, pack(content), exact=False)


def train(shared: tuple[bytes, ...], content: bytes) -> Done:
    """Train until an iteration, as a work function of the cluster.

    The result has `files` of the run, and `seconds` of processor time that this took.
    """
    from rookery.training.clocks import processor_seconds
    from rookery.training.folder import RunFolder
    from rookery.training.loop import run_session
    from rookery.training.recipe import load_recipe

    began = processor_seconds()
    message = unpack(content)
    place = Path(tempfile.mkdtemp(prefix="rookery-member-"))
    try:
        (place / "member.toml").write_text(message["recipe"])
        recipe = load_recipe(str(place / "member.toml"), message["settings"])
        path = place / "run"
        if message["files"] is None:
            run = RunFolder.create(path, recipe)
        else:
            unpack_run(message["files"], path)
            run = RunFolder.open(path)
        until = message["until"]
        run_session(run, recipe, SilentView(), accept_changes=True, until=until)
        return pack({"files": pack_run(path), "seconds": processor_seconds() - began}), 0
    finally:
        shutil.rmtree(place, ignore_errors=True)


def objective(folder: Path, name: str) -> float:
    """What the population maximises, of a member's newest records; -inf if there is none.

    `score`: mean score of the newest evaluation over its opponents. Otherwise a key of
    metrics.jsonl such as `values.total_elo`, or `-losses.value` to minimise.
    """
    reader = RunReader(folder)
    if name == "score":
        rows = reader.evaluations()
        newest = [row for row in rows if row.get("round") == rows[-1].get("round")]
        scores = [score for row in newest if (score := number(row.get("score"))) is not None]
        return float(np.mean(scores)) if scores else float("-inf")
    sign, (group, _, key) = (-1 if name[0] == "-" else 1), name.lstrip("-").partition(".")
    for row in reversed(reader.metrics()):
        value = number(row.get(group, {}).get(key)) if isinstance(row.get(group), dict) else None
        if value is not None:
            return sign * value
    return float("-inf")
