"""Model files: `.safetensors` files with self-describing metadata.

The metadata has one entry, "rookery", a JSON object (`ModelInfo`): format version, network family
and sizes, observation and action layouts with their versions, the recipe, training totals and
measured ratings. Reading it needs neither torch nor safetensors. Loading validates everything
against this version of Rookery before any weight is used, and never runs code from the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rookery._core import STANDARD_BOARD, find_board
from rookery.encodings import (
    ACTIONS,
    NO_ACTIONS,
    OBSERVATIONS,
    SPARSE_OBSERVATIONS,
    layout_version,
    require_version,
)
from rookery.nets.registry import FAMILIES, NetworkFamily

if TYPE_CHECKING:
    import torch

    from rookery.nets import Network

FORMAT = 1
KEY = "rookery"
LARGEST_HEADER = 4 << 20  # bytes; ours are below 100 kB
_PICKLES = (b"\x80", b"PK\x03\x04", b"PK\x05\x06")  # pickle protocol 2 and above, zip of torch.save


class ModelFileError(ValueError):
    """A model file that cannot be used; the message names the file and the mismatch."""


@dataclass(frozen=True)
class ModelInfo:
    """The metadata of a model file."""

    family: str
    sizes: Mapping[str, Any]
    observation: str
    observation_version: int
    actions: str
    actions_version: int
    recipe: Mapping[str, Any] = field(default_factory=dict)  # resolved
    totals: Mapping[str, float] = field(default_factory=dict)  # iterations, samples, games, seconds
    ratings: Sequence[Mapping[str, Any]] = ()  # as in ratings.json
    board: str = STANDARD_BOARD  # what it was trained on; left out of the file if standard
    format: int = FORMAT


def describe(
    network: Network,
    recipe: Mapping[str, Any] | None = None,
    totals: Mapping[str, float] | None = None,
    ratings: Sequence[Mapping[str, Any]] = (),
) -> ModelInfo:
    """The metadata to store with a network."""
    return ModelInfo(
        family=network.family,
        sizes=network.sizes.model_dump(mode="json"),
        observation=network.observation,
        observation_version=layout_version(network.observation),
        actions=network.actions,
        actions_version=layout_version(network.actions),
        recipe=recipe or {},
        totals=totals or {},
        ratings=ratings,
        board=board_of(network),
    )


def board_of(network: object) -> str:
    """The board that a network or an evaluator was made for; standard if it does not say."""
    board: str = getattr(network, "board", STANDARD_BOARD)
    return board


def model_bytes(network: Network, info: ModelInfo) -> bytes:
    """The content of a model file."""
    import safetensors.torch

    tensors = {k: v.detach().cpu().clone().contiguous() for k, v in network.state_dict().items()}
    _refuse_non_finite(tensors, "the network to save")
    return safetensors.torch.save(tensors, {KEY: info_text(info)})


def save_model(path: Path, network: Network, info: ModelInfo | None = None) -> None:
    """Write a model file atomically."""
    from rookery.base.storage import atomic_write

    atomic_write(path, model_bytes(network, info or describe(network)))


def read_info(path: Path) -> ModelInfo:
    """The metadata of a model file; reads only its header."""
    with path.open("rb") as file:
        start = file.read(8)
        length = _header_length(start, path.stat().st_size, str(path))
        return _header_info(_header(file.read(length), str(path)), str(path))


def info_of(data: bytes, source: str) -> ModelInfo:
    """The metadata of a model file's content; errors name the file `source`."""
    return _header_info(parse_header(data, source)[0], source)


def family_of(info: ModelInfo, source: str) -> NetworkFamily:
    """The family of a model file; a ModelFileError names the file `source`."""
    try:
        return FAMILIES.find(info.family)
    except ValueError as error:
        raise ModelFileError(f"{source}: {error}") from None


def load_model(path: Path) -> tuple[Any, ModelInfo]:
    """The network of a model file, in evaluation mode, and its metadata."""
    return parse_model(path.read_bytes(), str(path))


def parse_model(data: bytes, source: str) -> tuple[Any, ModelInfo]:
    """The same from a model file's content; errors name the file `source`."""
    import safetensors.torch
    import torch
    from safetensors import SafetensorError

    from rookery.nets import make_network

    info = info_of(data, source)
    require_layouts(info, source)
    try:
        # Sizes are bounded by their type, so that a file cannot exhaust the memory. The initial
        # weights use a separate generator: torch's own is part of a run's state.
        network = make_network(
            info.family, info.observation, info.actions, dict(info.sizes), torch.Generator()
        )
    except ValueError as error:
        raise ModelFileError(f"{source}: {error}") from None
    try:
        tensors = safetensors.torch.load(data)
    except (SafetensorError, ValueError, KeyError) as error:
        raise ModelFileError(f"{source} is damaged: {error}") from None
    _refuse_misfits(tensors, network.state_dict(), source)
    _refuse_non_finite(tensors, source)
    network.load_state_dict(tensors)
    network.board = info.board
    return network.eval(), info


def parse_header(data: bytes, source: str) -> tuple[dict[str, Any], int]:
    """The header of a safetensors file's content, and the offset of the tensors."""
    length = _header_length(data[:8], len(data), source)
    return _header(data[8 : 8 + length], source), 8 + length


def _header_length(start: bytes, size: int, source: str) -> int:
    length = int.from_bytes(start, "little")
    if len(start) == 8 and 2 <= length <= min(LARGEST_HEADER, size - 8):
        return length
    if start.startswith(_PICKLES):
        raise ModelFileError(
            f"{source} is a pickle or a torch.save archive, which could run code when read; "
            "Rookery reads only .safetensors files"
        )
    raise ModelFileError(f"{source} is not a safetensors file, or is cut off")


def _header(data: bytes, source: str) -> dict[str, Any]:
    try:
        header = json.loads(data)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise ModelFileError(f"{source} is not a safetensors file: its header is not JSON")
    return header


def _header_info(header: Mapping[str, Any], source: str) -> ModelInfo:
    metadata = header.get("__metadata__")
    if not isinstance(metadata, dict) or not isinstance(metadata.get(KEY), str):
        raise ModelFileError(f"{source} is not a model file of Rookery: it lacks the metadata")
    return parse_info(metadata[KEY], source)


def info_text(info: ModelInfo) -> str:
    """The metadata as the JSON text that files hold."""
    content = asdict(info)
    if info.board == STANDARD_BOARD:
        del content["board"]  # so that earlier versions of Rookery read it
    return json.dumps(content, allow_nan=False, sort_keys=True)


def parse_info(text: str, source: str) -> ModelInfo:
    """Parse and validate the metadata text; errors name the file `source`."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{source}: the metadata is not valid JSON ({error})") from None
    if not isinstance(content, dict):
        raise ModelFileError(f"{source}: the metadata is not a JSON object")
    found = content.get("format", FORMAT)
    if found != FORMAT:
        raise ModelFileError(
            f"{source} has format {found!r}, this version of Rookery reads {FORMAT}; use the "
            "version that wrote it"
        )
    _refuse_entries(content, source)
    info = ModelInfo(**content)
    texts = (info.family, info.observation, info.actions, info.board)
    tables = (info.sizes, info.recipe, info.totals)
    if not all(isinstance(text, str) for text in texts) or not (
        all(isinstance(table, dict) for table in tables) and isinstance(info.ratings, list | tuple)
    ):
        raise ModelFileError(f"{source}: the metadata has entries of the wrong type")
    try:
        find_board(info.board)
    except ValueError as error:
        raise ModelFileError(f"{source}: {error}") from None
    return info


def _refuse_entries(content: Mapping[str, Any], source: str) -> None:
    """Refuse metadata with missing or unknown entries."""
    known = {entry.name: entry for entry in fields(ModelInfo)}
    needed = [
        name
        for name, entry in known.items()
        if name == "format" or (entry.default is MISSING and entry.default_factory is MISSING)
    ]
    if missing := [name for name in needed if name not in content]:
        raise ModelFileError(f"{source}: the metadata lacks {', '.join(missing)}")
    if unknown := [name for name in content if name not in known]:
        raise ModelFileError(
            f"{source}: the metadata has unknown entries ({', '.join(unknown)[:100]}); use the "
            "version of Rookery that wrote it"
        )


def require_layouts(info: ModelInfo, source: str) -> None:
    """Refuse a model whose layouts differ from those of this version of Rookery."""
    try:
        require_version(info.observation, info.observation_version)
        require_version(info.actions, info.actions_version)
        if info.observation not in {**OBSERVATIONS, **SPARSE_OBSERVATIONS} or (
            info.actions not in {*ACTIONS, NO_ACTIONS}
        ):
            raise ValueError(
                f"{info.observation!r} is not an observation layout, or {info.actions!r} is not an "
                "action layout"
            )
    except ValueError as error:
        raise ModelFileError(f"{source}: {error}") from None


def _refuse_misfits(
    tensors: Mapping[str, torch.Tensor], expected: Mapping[str, torch.Tensor], source: str
) -> None:
    for name in {**expected, **tensors}:
        if name not in tensors:
            raise ModelFileError(f"{source} lacks the tensor {name!r} of its network")
        if name not in expected:
            raise ModelFileError(f"{source} has a tensor {name!r} that its network lacks")
        ours, theirs = expected[name], tensors[name]
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            raise ModelFileError(
                f"{source}: tensor {name!r} is {theirs.dtype} {list(theirs.shape)} in the file, "
                f"but {ours.dtype} {list(ours.shape)} in the network that it describes"
            )


def _refuse_non_finite(tensors: Mapping[str, torch.Tensor], source: str) -> None:
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
            raise ModelFileError(f"{source}: tensor {name!r} has a NaN or an infinity")
