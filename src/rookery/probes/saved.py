"""Probes in a file, for the page that shows what a network sees in a position.

A `.safetensors` file holds the best probe of each concept: weights [F, C] and biases [C] of each
layer. Its metadata names the concepts with their scores, and the network by its checksum: probes
say nothing about another one.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from rookery._core import Game
from rookery.base.storage import atomic_write, checksum
from rookery.nets import HiddenLayers
from rookery.nets.model_file import parse_header
from rookery.probes.activations import activations_of, observe
from rookery.probes.concepts import CONCEPTS
from rookery.probes.fit import Probe
from rookery.probes.study import Study

FORMAT = 1
KEY = "rookery-probes"


class ProbeFileError(ValueError):
    """A file of probes that cannot be used."""


@dataclass(frozen=True)
class Entry:
    """One concept of a file."""

    name: str
    words: str
    layer: str
    score: float
    untrained: float


@dataclass(frozen=True)
class SavedProbes:
    """The probes of one network."""

    network: str  # checksum of the model file
    entries: dict[str, list[Entry]]  # by layer, in the order of the columns
    probes: dict[str, Probe]  # by layer

    def read(self, network: HiddenLayers, game: Game) -> list[dict[str, Any]]:
        """The concepts that the network represents in a position, with their probabilities."""
        found = activations_of(network, observe([game], network.observation))
        rows = []
        for layer, entries in self.entries.items():
            logits = self.probes[layer].logits(found[layer])[0]
            for entry, logit in zip(entries, logits, strict=True):
                sure = 1.0 / (1.0 + float(np.exp(-np.clip(logit, -30, 30))))
                rows.append({**asdict(entry), "probability": sure})
        return sorted(rows, key=lambda row: -row["score"])


def save_probes(study: Study, model: bytes, path: Path) -> int:
    """Write the best probes of a study's last network; returns the bytes written."""
    from safetensors.numpy import save

    last = study.findings[-1].checkpoint
    layers: dict[str, list[Entry]] = {}
    columns: dict[str, list[int]] = {}
    found: dict[str, Probe] = {}
    for name, (layer, probe, column) in study.probes.items():
        row = study.best(name, last)
        entry = Entry(name, CONCEPTS[name].words, layer, row.score, row.untrained)
        layers.setdefault(layer, []).append(entry)
        columns.setdefault(layer, []).append(column)
        found[layer] = probe
    tensors = {}
    for layer, probe in found.items():
        tensors[f"{layer}.weights"] = np.ascontiguousarray(probe.weights[:, columns[layer]])
        tensors[f"{layer}.bias"] = np.ascontiguousarray(probe.bias[columns[layer]])
    entries = {layer: [asdict(entry) for entry in rows] for layer, rows in layers.items()}
    text = json.dumps({"format": FORMAT, "network": checksum(model), "layers": entries})
    data = save(tensors, {KEY: text})
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, data)
    return len(data)


def load_probes(path: Path) -> SavedProbes:
    """Read such a file."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    data = path.read_bytes()
    try:
        header, _ = parse_header(data, str(path))
        content = json.loads(header["__metadata__"][KEY])
        tensors = load(data)
        entries = {
            layer: [Entry(**row) for row in rows] for layer, rows in content["layers"].items()
        }
        probes = {
            layer: Probe(tensors[f"{layer}.weights"], tensors[f"{layer}.bias"]) for layer in entries
        }
        network = str(content["network"])
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise ProbeFileError(f"{path} is not a file of probes: {error}") from None
    if content.get("format") != FORMAT:
        raise ProbeFileError(f"{path} has format {content.get('format')!r}, not {FORMAT}")
    return SavedProbes(network, entries, probes)


def probe_file(source: str) -> Path:
    """Where the probes of a model file, run folder or shipped network are kept."""
    path = Path(source)
    if path.is_dir():
        return path / "probes.safetensors"
    if path.is_file():
        return path.with_suffix(".probes.safetensors")
    return Path(str(resources.files("rookery") / "networks" / "probes" / f"{source}.safetensors"))


def probes_of(source: str, model: bytes) -> SavedProbes | None:
    """The saved probes of a network, None if there are none for these weights."""
    path = probe_file(source)
    if not path.is_file():
        return None
    found = load_probes(path)
    return found if found.network == checksum(model) else None
