"""Serialisation without pickle, for messages between processes and machines."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

_ARRAY = {"dtype", "shape"}


def pack(content: Any) -> bytes:
    """Nested JSON values, dataclasses and NumPy arrays as bytes.

    Eight bytes with the length of the JSON text, the text, and the arrays in order.
    """
    arrays: list[bytes] = []

    def plain(value: Any) -> dict[str, Any]:
        if is_dataclass(value):
            return {field.name: getattr(value, field.name) for field in fields(value)}
        arrays.append(value.tobytes())
        return {"dtype": value.dtype.str, "shape": value.shape}

    text = json.dumps(content, default=plain).encode()
    return b"".join([len(text).to_bytes(8, "little"), text, *arrays])


def unpack(data: bytes) -> Any:
    """The inverse of `pack`, with dictionaries for dataclasses."""
    start = 8 + int.from_bytes(data[:8], "little")
    place = start

    def array(found: dict[str, Any]) -> Any:
        nonlocal place
        if found.keys() != _ARRAY:
            return found
        shape = tuple(found["shape"])
        read = np.frombuffer(data, found["dtype"], int(np.prod(shape)), place).reshape(shape)
        place += read.nbytes
        return read.copy()  # aligned, and writable

    return json.loads(data[8:start], object_hook=array)
