"""The networks to probe: one or a run's checkpoints, and untrained ones of the same shapes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from rookery.nets import HiddenLayers, make_network
from rookery.nets.evaluator import read_model
from rookery.nets.model_file import ModelFileError, ModelInfo, info_of, parse_model
from rookery.players.spec import SpecError, parse_spec
from rookery.probes.activations import require_layers
from rookery.runs.checkpoint import Checkpoints
from rookery.runs.reader import RunReader, number


@dataclass(frozen=True)
class Subject:
    """A network; `step` and `seconds` of training are known for the checkpoints of a run."""

    name: str
    network: HiddenLayers
    step: int | None = None
    seconds: float | None = None


def network_file(player: str) -> tuple[str, bytes]:
    """Origin and content of the model file behind a player."""
    name = parse_spec(player).name
    try:
        return read_model(name)
    except ModelFileError as error:
        raise SpecError(f"player {player!r} has no network to probe: {error}") from None


def load_subject(source: str, data: bytes, name: str, step: int | None = None) -> Subject:
    """The network of a model file's content."""
    torch.set_num_threads(1)
    network, _ = parse_model(data, source)
    return Subject(name, require_layers(network, source), step)


def find_subjects(player: str, checkpoints: int) -> tuple[list[Subject], ModelInfo]:
    """The networks of a player or run, oldest first, and the description of the last.

    With `checkpoints` above 1 a run gives at most so many, evenly spaced, the first and the last
    included.
    """
    origin, data = network_file(player)
    info = info_of(data, origin)
    run = Path(parse_spec(player).name)
    stored = Checkpoints(run / "checkpoints").steps() if checkpoints > 1 and run.is_dir() else []
    if len(stored) < 2:
        if checkpoints > 1:
            raise ValueError(f"{player} is no run folder with checkpoints; leave --checkpoints out")
        return [load_subject(origin, data, Path(origin).name)], info
    seconds = {row.get("iteration"): number(row.get("seconds")) for row in RunReader(run).timing()}
    subjects = []
    for step in spaced(stored, checkpoints):
        path = run / "checkpoints" / f"{step:08d}" / "model.safetensors"
        network, _ = parse_model(path.read_bytes(), str(path))
        name = f"after {step} iterations"
        layers = require_layers(network, str(path))
        subjects.append(Subject(name, layers, step, 0.0 if step == 0 else seconds.get(step)))
    return subjects, info


def spaced(items: list[int], most: int) -> list[int]:
    """At most `most` of the items, evenly spaced, with the first and the last."""
    if len(items) <= most:
        return items
    return [items[round(place * (len(items) - 1) / (most - 1))] for place in range(most)]


def untrained(network: Any, seed: int) -> Subject:
    """A network of the same shape with random weights: the control."""
    generator = torch.Generator().manual_seed(seed)
    fresh = make_network(
        network.family, network.observation, network.actions, network.sizes, generator
    )
    return Subject("untrained", fresh.eval())


def endings_of(info: ModelInfo) -> list[str]:
    """The endings that a network plays; empty if it plays whole games."""
    found = info.sizes.get("endings")
    if isinstance(found, list | tuple):
        return [str(name) for name in found]
    return ["KPvK"] if info.observation == "kpk3" else []
