"""Packed training samples on disk: `replay/NUMBER.positions`, 32 bytes a position.

A file is a header of 64 bytes and the samples behind it:

    8 bytes   "rookpos" and a zero
    4 bytes   format version, little-endian as all numbers
    4 bytes   generation that played the games
    8 bytes   number of samples
    40 bytes  the first 20 bytes of the SHA-256 of the samples in hexadecimal

What a sample holds is told in core/packed_position.h and, for NumPy, by `SAMPLE`. The list of valid
shards is part of a trainer's state, so that a resumed run sees exactly the samples that its
checkpoint saw. A shard that is not on the list, or is damaged, is moved to `replay/quarantine/` and
counted. A shard that was dropped stays on the disk until no kept checkpoint names it.
"""

from __future__ import annotations

import os
import shutil
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import first_bad_sample
from rookery.training.state import Json
from rookery.training.storage import atomic_write, checksum

FORMAT = 1
MAGIC = b"rookpos\0"
SUFFIX = ".positions"
QUARANTINE = "quarantine"
SAMPLE_BYTES = 32
HEADER = np.dtype(
    [
        ("magic", "S8"),
        ("format", "<u4"),
        ("generation", "<u4"),
        ("count", "<u8"),
        ("digest", "S40"),
    ]
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
    """A file that is no sound shard of samples; the text names it and says why."""


def fields(samples: Samples) -> NDArray[Any]:
    """The same memory as a structured array [N] of `SAMPLE`."""
    return np.ascontiguousarray(samples).view(SAMPLE).reshape(len(samples))


def results(samples: Samples) -> NDArray[np.float32]:
    """Results [N] of the games for the side to move: 0, 0.5 or 1."""
    won = (fields(samples)["state"] >> 5) & 3
    return np.asarray(won / 2, dtype=np.float32)


def unpack_boards(
    samples: Samples,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Colours and types by square, [N, 64] each (-1: empty), and the side to move [N]."""
    table = fields(samples)
    colours = np.full((len(table), 64), -1, dtype=np.int64)
    types = np.full((len(table), 64), -1, dtype=np.int64)
    for index, sample in enumerate(table):
        bits = np.unpackbits(np.array([sample["occupied"]], dtype="<u8").view(np.uint8))
        squares = np.flatnonzero(bits.reshape(8, 8)[:, ::-1].ravel())
        nibbles = np.stack([sample["pieces"] & 15, sample["pieces"] >> 4], axis=1).ravel()
        codes = nibbles[: len(squares)].astype(np.int64)
        colours[index, squares], types[index, squares] = codes >> 3, codes & 7
    return colours, types, (table["state"] & 1).astype(np.int64)


# --- One file ---


def shard_bytes(samples: Samples, generation: int) -> bytes:
    """The content of a file with these samples."""
    body = np.ascontiguousarray(samples).tobytes()
    header = np.zeros(1, dtype=HEADER)
    header[0] = (MAGIC, FORMAT, generation, len(samples), checksum(body)[:40].encode())
    return header.tobytes() + body


def parse_shard(data: bytes, source: str) -> tuple[Samples, int]:
    """Samples and generation of a file's content, checked; `source` is named in errors."""
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
        raise ShardError(f"sample {bad} of {source} is no position")
    return samples, int(header["generation"])


def read_shard(path: Path) -> tuple[Samples, int]:
    """Samples and generation of a file, checked."""
    return parse_shard(path.read_bytes(), str(path))


# --- All files of a run ---


class PositionShards:
    """The shards of one run, oldest first.

    In `Trainer.state()`: `state.values["shards"] = shards.state()`; in `load_state`:
    `shards.restore(state.value("shards"))`, then `read` all `names()`.
    """

    def __init__(
        self,
        folder: Path,
        keep_checkpoints: int = 3,
        report: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Use `folder`, the run's replay/; nothing is read yet."""
        self.folder = folder
        self.quarantined = 0
        self._shards: dict[str, dict[str, int]] = {}  # name -> generation, count
        self._next = 0
        self._report = report
        # Shards dropped since each of the last checkpoints; one more than are kept.
        self._dropped: deque[list[str]] = deque([[]], maxlen=keep_checkpoints + 2)

    def names(self) -> list[str]:
        """All shards, oldest first."""
        return list(self._shards)

    def generation(self, name: str) -> int:
        """Who played the games of a shard."""
        return self._shards[name]["generation"]

    def add(self, samples: Samples, generation: int) -> str:
        """Store samples as a new shard and return its name."""
        name = f"{self._next:08d}{SUFFIX}"
        atomic_write(self.folder / name, shard_bytes(samples, generation))
        self._next += 1
        self._shards[name] = {"generation": generation, "count": len(samples)}
        return name

    def read(self, name: str) -> Samples:
        """The samples of a shard, checked."""
        return read_shard(self.folder / name)[0]

    def drop_before(self, generation: int) -> None:
        """Forget the shards of older generations."""
        for name in self.names():
            if self._shards[name]["generation"] < generation:
                del self._shards[name]
                self._dropped[-1].append(name)

    def state(self) -> Json:
        """The list of shards, for the checkpoint that is being written."""
        if len(self._dropped) == self._dropped.maxlen:
            for name in self._dropped[0]:  # no checkpoint that is kept names these any more
                (self.folder / name).unlink(missing_ok=True)
        self._dropped.append([])
        return {"shards": {name: dict(s) for name, s in self._shards.items()}, "next": self._next}

    def restore(self, state: Json) -> dict[str, Samples]:
        """Go back to a list of shards and read them; all others, and bad ones, are quarantined."""
        self._next = int(state["next"])
        listed = {name: dict(shard) for name, shard in state["shards"].items()}
        shutil.rmtree(self.folder / QUARANTINE, ignore_errors=True)
        self.quarantined = 0
        self._shards, sound = {}, {}
        for name, shard in listed.items():
            try:
                samples = self.read(name)
                if len(samples) != shard["count"]:
                    raise ShardError(f"{name} has {len(samples)} samples, not {shard['count']}")
            except (OSError, ShardError) as error:
                self._report(f"going on without a shard: {error}")
                continue
            self._shards[name], sound[name] = shard, samples
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            if path.name not in self._shards:
                (self.folder / QUARANTINE).mkdir(exist_ok=True)
                os.replace(path, self.folder / QUARANTINE / path.name)
                self.quarantined += 1
        return sound
