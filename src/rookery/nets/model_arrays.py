"""The tensors of a model file as NumPy arrays, without torch or safetensors.

A file is validated as strictly as in `model_file`: header, layouts, shapes, types, finite weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from rookery.nets.model_file import (
    ModelFileError,
    ModelInfo,
    info_of,
    parse_header,
    require_layouts,
)

Weights = Mapping[str, NDArray[np.float32]]
# Of the family `nnue`, in the order of the core's arguments.
NNUE_TENSORS = ("feature_weights", "feature_bias", "output_weights", "output_bias")
_TYPES: dict[str, np.dtype[Any]] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2")}


def parse_arrays(data: bytes, source: str) -> tuple[dict[str, NDArray[np.float32]], ModelInfo]:
    """The tensors by name as float32, and the metadata; a ModelFileError names `source`."""
    info = info_of(data, source)
    require_layouts(info, source)
    types = ("F32", "F16") if info.sizes.get("half_rows") else ("F32",)
    return read_arrays(data, source, types), info


def read_arrays(
    data: bytes, source: str, types: tuple[str, ...] = ("F32",)
) -> dict[str, NDArray[np.float32]]:
    """The tensors alone, of a network whatever its layouts."""
    header, begin = parse_header(data, source)
    content = memoryview(data)[begin:]
    return {
        name: _array(name, entry, content, types, source)
        for name, entry in header.items()
        if name != "__metadata__"
    }


def _array(
    name: str, entry: Any, content: memoryview, types: tuple[str, ...], source: str
) -> NDArray[np.float32]:
    kind, begin, end, shape = _place(name, entry, types, source)
    if end > len(content):
        raise ModelFileError(
            f"{source} is cut off: tensor {name!r} ends at byte {end} of {len(content)}"
        )
    if end - begin != kind.itemsize * math.prod(shape):
        raise ModelFileError(f"{source}: tensor {name!r} of shape {shape} has {end - begin} bytes")
    array = np.frombuffer(content[begin:end], dtype=kind).reshape(shape).astype(np.float32)
    if not np.isfinite(array).all():
        raise ModelFileError(f"{source}: tensor {name!r} has a NaN or an infinity")
    return array


def _place(
    name: str, entry: Any, types: tuple[str, ...], source: str
) -> tuple[np.dtype[Any], int, int, list[int]]:
    """Type of a tensor, its start and end in the content, and its shape."""
    kind = entry.get("dtype") if isinstance(entry, Mapping) else entry
    if not isinstance(entry, Mapping) or kind not in types:
        expected = " or ".join(types)
        raise ModelFileError(f"{source}: tensor {name!r} is {kind!r}, but {expected} is expected")
    shape, offsets = entry.get("shape"), entry.get("data_offsets")
    if not (_naturals(shape) and _naturals(offsets) and len(offsets) == 2):
        raise ModelFileError(f"{source}: tensor {name!r} has an invalid header entry: {entry}")
    return _TYPES[kind], offsets[0], max(offsets), shape


def require_shapes(weights: Weights, expected: Mapping[str, tuple[object, ...]]) -> None:
    """Refuse weights that are not exactly these; the error does not name the file."""
    for name in {**expected, **weights}:
        if name not in weights:
            raise ModelFileError(f"lacks the tensor {name!r} of its network")
        if name not in expected:
            raise ModelFileError(f"has a tensor {name!r} that its network lacks")
        if weights[name].shape != expected[name]:
            raise ModelFileError(
                f"tensor {name!r} is {list(weights[name].shape)} in the file, but "
                f"{list(expected[name])} in the network that it describes"
            )


def _naturals(value: object) -> TypeGuard[list[int]]:
    """Whether this is a list of non-negative integers."""
    return isinstance(value, list) and all(type(n) is int and n >= 0 for n in value)
