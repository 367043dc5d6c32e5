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


def parse_arrays(data: bytes, source: str) -> tuple[dict[str, NDArray[np.float32]], ModelInfo]:
    """The float32 tensors by name, and the metadata; a ModelFileError names `source`."""
    header, begin = parse_header(data, source)
    info = info_of(data, source)
    require_layouts(info, source)
    content = memoryview(data)[begin:]
    arrays = {
        name: _array(name, entry, content, source)
        for name, entry in header.items()
        if name != "__metadata__"
    }
    return arrays, info


def _array(name: str, entry: Any, content: memoryview, source: str) -> NDArray[np.float32]:
    begin, end, shape = _place(name, entry, source)
    if end > len(content):
        raise ModelFileError(
            f"{source} is cut off: tensor {name!r} ends at byte {end} of {len(content)}"
        )
    if end - begin != 4 * math.prod(shape):
        raise ModelFileError(f"{source}: tensor {name!r} of shape {shape} has {end - begin} bytes")
    array = np.frombuffer(content[begin:end], dtype="<f4").reshape(shape).astype(np.float32)
    if not np.isfinite(array).all():
        raise ModelFileError(f"{source}: tensor {name!r} has a NaN or an infinity")
    return array


def _place(name: str, entry: Any, source: str) -> tuple[int, int, list[int]]:
    """Start and end of a tensor in the content, and its shape."""
    if not isinstance(entry, Mapping) or entry.get("dtype") != "F32":
        kind = entry.get("dtype") if isinstance(entry, Mapping) else entry
        raise ModelFileError(f"{source}: tensor {name!r} is {kind!r}, but F32 is expected")
    shape, offsets = entry.get("shape"), entry.get("data_offsets")
    if not (_naturals(shape) and _naturals(offsets) and len(offsets) == 2):
        raise ModelFileError(f"{source}: tensor {name!r} has an invalid header entry: {entry}")
    return offsets[0], max(offsets), shape


def _naturals(value: object) -> TypeGuard[list[int]]:
    """Whether this is a list of non-negative integers."""
    return isinstance(value, list) and all(type(n) is int and n >= 0 for n in value)
