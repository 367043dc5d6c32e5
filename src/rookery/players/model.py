"""Which kind of player plays a network: as its algorithm registers, or else its family."""

from __future__ import annotations

from rookery.nets.evaluator import read_model
from rookery.nets.model_file import ModelInfo, info_of
from rookery.nets.registry import FAMILIES
from rookery.players.registry import KINDS, PlayerKind
from rookery.runs.algorithms import ALGORITHMS


def network_kind(source: str) -> PlayerKind:
    """The kind for a model file, an .onnx file, a run folder or a shipped network."""
    if source.endswith(".onnx"):
        return KINDS["policy"]  # what else it says of itself only ONNX Runtime can read
    origin, data = read_model(source)
    return kind_of(info_of(data, origin))


def kind_of(info: ModelInfo) -> PlayerKind:
    """The kind for the network of a model file."""
    algorithm = ALGORITHMS.get(str(info.recipe.get("algorithm", "")))
    name = algorithm.player if algorithm is not None else ""
    return KINDS.find(name or FAMILIES.find(info.family).player)
