"""What the prediction server and its self-play processes say to each other.

A stream socket carries messages (length and content, `multiprocessing.connection`); a piece of
shared memory carries observations, which are large and would otherwise be copied through the
kernel. Nothing is pickled. The first byte of a message is its kind:

    server -> process    COMMAND   JSON: what to do; some are followed by BYTES
                         ANSWERS   logits [L] and values [B] of a group's leaves, float32
    process -> server    LEAVES    counts [B] and legal actions [L] of a group's leaves, int32;
                                   the observations are in the shared memory
                         DONE      the group has played enough
                         BYTES     a saved state, samples (.npz), or JSON
                         FAILURE   text: why the process gives up

A process plays its games in `GROUPS` groups that take turns: while the server judges the leaves of
one, the trees of the other are searched. All processes' leaves of a group lie one behind the other
in the shared memory, so that the server judges them as one batch without moving them:

    group 0: [process 0: N leaves][process 1: N leaves] ...   group 1: [process 0: ...] ...
"""

from __future__ import annotations

import io
import json
import mmap
import os
import tempfile
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery.encodings import OBSERVATIONS

GROUPS = 2
COMMAND, ANSWERS, LEAVES, DONE, BYTES, FAILURE = b"C", b"A", b"L", b"D", b"B", b"F"


def send(connection: Connection, kind: bytes, *parts: Any) -> None:
    """Send a message; parts are bytes or contiguous arrays, one behind the other."""
    connection.send_bytes(b"".join([kind, *(memoryview(part).cast("B") for part in parts)]))


def send_json(connection: Connection, kind: bytes, content: Any) -> None:
    """Send plain data."""
    send(connection, kind, json.dumps(content).encode())


def pack_arrays(arrays: dict[str, NDArray[Any]]) -> bytes:
    """Arrays by name as bytes."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack_arrays(data: bytes) -> dict[str, NDArray[Any]]:
    """The same back."""
    with np.load(io.BytesIO(data), allow_pickle=False) as content:
        return dict(content)


def make_shared_memory(size: int) -> int:
    """Descriptor of memory without a name: it is gone when the last process that has it ends."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("rookery-leaves")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, size)
    return descriptor


def leaf_bytes(observation: str) -> int:
    """Size of one observation in the shared memory."""
    layout = OBSERVATIONS[observation]
    return int(np.prod(layout.shape)) * leaf_type(observation).itemsize


def leaf_type(observation: str) -> np.dtype[Any]:
    """What `SelfPlay` writes: bytes where the layout allows them."""
    return np.dtype("uint8" if "uint8" in OBSERVATIONS[observation].dtypes else "float32")


def shared_leaves(
    descriptor: int, observation: str, processes: int, games: int
) -> list[NDArray[Any]]:
    """For each group the leaves of all processes, [processes * games, *shape], shared."""
    memory = mmap.mmap(descriptor, GROUPS * processes * games * leaf_bytes(observation))
    shape = (GROUPS, processes * games, *OBSERVATIONS[observation].shape)
    return list(np.frombuffer(memory, leaf_type(observation)).reshape(shape))
