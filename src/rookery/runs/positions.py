"""Packed training samples on disk: `replay/NUMBER.positions`, 32 bytes a position.

A file is a header of 64 bytes followed by the samples:

    8 bytes   "rookpos" and a zero
    4 bytes   format version, little-endian as all numbers
    4 bytes   generation that played the games
    8 bytes   number of samples
    40 bytes  the first 20 bytes of the SHA-256 of the samples in hexadecimal

core/nnue/packed_position.h defines a sample; `SAMPLE` is the same for NumPy. The shards of a run
are a `rookery.runs.replay.Replay` with `PositionFormat`, labelled by generation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import first_bad_sample
from rookery.base.storage import checksum

FORMAT = 1
MAGIC = b"rookpos\0"
SAMPLE_BYTES = 32
HEADER = np.dtype(
    [("magic", "S8"), ("format", "<u4"), ("generation", "<u4"), ("count", "<u8"), ("digest", "S40")]
)
SAMPLE = np.dtype(
    [
        ("occupied", "<u8"),
        ("pieces", "u1", 16),  # a nibble per occupied square: 8 * colour + type
        ("score", "<i2"),  # for the side to move, 400 per unit of raw output
        ("state", "u1"),  # side, castling rights << 1, result << 5
        ("en_passant", "u1"),
        ("halfmove_clock", "u1"),
        ("game", "u1"),  # number of the game modulo 256
        ("fullmove_number", "<u2"),
    ]
)

Samples = NDArray[np.uint8]  # [N, 32]


class ShardError(ValueError):
    """A damaged shard of samples; the text names the file and says why."""


def fields(samples: Samples) -> NDArray[Any]:
    """A view of the samples as a structured array [N] of `SAMPLE`."""
    return np.ascontiguousarray(samples).view(SAMPLE).reshape(len(samples))


def results(samples: Samples) -> NDArray[np.float32]:
    """Results [N] of the games for the side to move: 0, 0.5 or 1."""
    won = (fields(samples)["state"] >> 5) & 3
    return np.asarray(won / 2, dtype=np.float32)


def shard_bytes(samples: Samples, generation: int) -> bytes:
    """The content of a shard with these samples."""
    body = np.ascontiguousarray(samples).tobytes()
    header = np.zeros(1, dtype=HEADER)
    header[0] = (MAGIC, FORMAT, generation, len(samples), checksum(body)[:40].encode())
    return header.tobytes() + body


def parse_shard(data: bytes, source: str) -> tuple[Samples, int]:
    """Validate a shard; return its samples and generation. Errors name the file `source`."""
    if len(data) < HEADER.itemsize or data[:8] != MAGIC:
        raise ShardError(f"{source} is not a file of positions, or is cut off")
    header = np.frombuffer(data[: HEADER.itemsize], dtype=HEADER)[0]
    if header["format"] != FORMAT:
        raise ShardError(
            f"{source} has format {header['format']}, this version of Rookery reads {FORMAT}; use "
            "the version that wrote it"
        )
    body = data[HEADER.itemsize :]
    if len(body) != int(header["count"]) * SAMPLE_BYTES:
        raise ShardError(f"{source} has {len(body)} bytes of samples, not {header['count']} x 32")
    if checksum(body)[:40].encode() != header["digest"]:
        raise ShardError(f"the checksum of {source} differs")
    samples = np.frombuffer(body, dtype=np.uint8).reshape(-1, SAMPLE_BYTES)
    bad = first_bad_sample(samples)
    if bad < len(samples):
        raise ShardError(f"sample {bad} of {source} is not a position")
    return samples, int(header["generation"])


class PositionFormat:
    """The shard format of a `Replay` whose labels are generations."""

    suffix = ".positions"

    def pack(self, item: Samples, label: int) -> bytes:
        """Serialise samples."""
        return shard_bytes(item, label)

    def unpack(self, data: bytes, source: str) -> Samples:
        """Validate and deserialise samples."""
        return parse_shard(data, source)[0]

    def rows(self, item: Samples) -> int:
        """Number of samples."""
        return len(item)
