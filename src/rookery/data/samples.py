"""Training samples: positions with policy and value targets.

A `SampleBlock` holds columns of S samples; on disk it is a Parquet file, which any Arrow tool can
read, with a row per position:

    observation  fixed-size list of uint8 or float32     in the layout named by the metadata
    legal        list of int16                           legal actions
    policy       list of float32, as long                policy target; sums to 1
    result       float32   -1, 0, 1 for the side to move; in between if the game was truncated
    value        float32   [-1, 1], evaluation of the search or engine
    surprise     float32   KL divergence of the prior from the policy target, in nats
    plies_left   int32     to the end of the game
    ply          int32     since its start
    game         int64     number of the game; never split a game between training and test
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import SelfPlaySamples
from rookery.encodings import ACTIONS, OBSERVATIONS

KEY = b"rookery"
FORMAT = 1
_PLAIN = ("results", "values", "surprise", "plies_left", "plies", "games")
_COLUMNS = ("result", "value", "surprise", "plies_left", "ply", "game")
_DTYPES = (np.float32, np.float32, np.float32, np.int32, np.int32, np.int64)


class SampleError(ValueError):
    """A file of samples that cannot be used; the message names the file and the mismatch."""


@dataclass
class SampleBlock:
    """Columns of S samples with L legal actions in total."""

    observations: NDArray[Any]  # [S, *shape] uint8 or float32
    legal: NDArray[np.int16]  # [L]
    policy: NDArray[np.float32]  # [L]
    counts: NDArray[np.int64]  # [S] number of legal actions
    results: NDArray[np.float32]  # [S]
    values: NDArray[np.float32]  # [S]
    surprise: NDArray[np.float32]  # [S]
    plies_left: NDArray[np.int32]  # [S]
    plies: NDArray[np.int32]  # [S]
    games: NDArray[np.int64]  # [S]

    def __post_init__(self) -> None:
        """Compute the offsets of each sample's legal actions."""
        self.offsets = np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int64)

    def __len__(self) -> int:
        """Number of samples."""
        return len(self.counts)

    @classmethod
    def from_selfplay(cls, samples: SelfPlaySamples) -> SampleBlock:
        """The samples of finished games."""
        return cls(
            samples.observations,
            samples.legal.astype(np.int16),
            samples.policy,
            samples.counts,
            *(getattr(samples, name) for name in _PLAIN),
        )

    def columns(self) -> dict[str, NDArray[Any]]:
        """The constructor's arguments by name."""
        return {column.name: getattr(self, column.name) for column in fields(self)}

    def entries(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """Concatenated indices into `legal` and `policy` of some samples."""
        counts = self.counts[index]
        firsts = np.cumsum(counts) - counts
        return np.repeat(self.offsets[index] - firsts, counts) + np.arange(counts.sum())

    def take(self, index: NDArray[np.int64]) -> SampleBlock:
        """Some of the samples, in the order of `index`."""
        entries = self.entries(index)
        plain = (getattr(self, name)[index] for name in _PLAIN)
        return SampleBlock(
            self.observations[index],
            self.legal[entries],
            self.policy[entries],
            self.counts[index],
            *plain,
        )

    def table(self, observation: str, actions: str = "az4672") -> Any:
        """The block as a `pyarrow.Table` with metadata."""
        import pyarrow as pa

        flat = self.observations.reshape(len(self), -1)
        width = int(np.prod(OBSERVATIONS[observation].shape))
        offsets = pa.array(self.offsets.astype(np.int32))
        arrays = [
            pa.FixedSizeListArray.from_arrays(pa.array(flat.reshape(-1)), width),
            pa.ListArray.from_arrays(offsets, pa.array(self.legal)),
            pa.ListArray.from_arrays(offsets, pa.array(self.policy)),
            *(pa.array(getattr(self, name)) for name in _PLAIN),
        ]
        meaning = {
            "format": FORMAT,
            "observation": observation,
            "observation_version": OBSERVATIONS[observation].version,
            "actions": actions,
            "actions_version": ACTIONS[actions].version,
        }
        names = ["observation", "legal", "policy", *_COLUMNS]
        return pa.table(arrays, names=names).replace_schema_metadata({KEY: json.dumps(meaning)})

    @classmethod
    def from_table(cls, table: Any, observation: str, source: str = "samples") -> SampleBlock:
        """Read a table, refusing one with other metadata."""
        require_meaning(table.schema.metadata, observation, source)
        table = table.combine_chunks()
        shape = OBSERVATIONS[observation].shape
        count = table.num_rows

        def column(name: str) -> Any:
            chunks = table.column(name).chunks
            return chunks[0] if chunks else table.schema.field(name).type

        if count == 0:
            raise SampleError(f"{source} holds no samples")
        legal = column("legal")
        lengths = np.diff(legal.offsets.to_numpy())
        return cls(
            column("observation").flatten().to_numpy().reshape(count, *shape),
            legal.flatten().to_numpy().astype(np.int16),
            column("policy").flatten().to_numpy().astype(np.float32),
            lengths.astype(np.int64),
            *(
                column(name).to_numpy(zero_copy_only=False).astype(dtype)
                for name, dtype in zip(_COLUMNS, _DTYPES, strict=True)
            ),
        )


def require_meaning(metadata: dict[bytes, bytes] | None, observation: str, source: str) -> None:
    """Refuse samples of another layout or a newer format."""
    text = (metadata or {}).get(KEY)
    if text is None:
        raise SampleError(f"{source} was not written by Rookery: it lacks the metadata")
    meaning = json.loads(text)
    if int(meaning.get("format", 0)) > FORMAT:
        raise SampleError(
            f"{source} has the format {meaning['format']}; this version reads up to {FORMAT}"
        )
    have = (meaning.get("observation"), meaning.get("observation_version"))
    need = (observation, OBSERVATIONS[observation].version)
    if have != need:
        raise SampleError(
            f"{source} holds observations {have[0]} (version {have[1]}), but {need[0]} (version "
            f"{need[1]}) are needed"
        )


def concatenate(blocks: Sequence[SampleBlock]) -> SampleBlock:
    """Concatenate blocks."""
    if len(blocks) == 1:
        return blocks[0]
    parts = ("observations", "legal", "policy", "counts", *_PLAIN)
    return SampleBlock(*(np.concatenate([getattr(b, name) for b in blocks]) for name in parts))


def write_samples(path: Path, block: SampleBlock, observation: str) -> None:
    """Write a block as one Parquet file."""
    import pyarrow.parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(block.table(observation), path)


def read_samples(path: Path, observation: str) -> SampleBlock:
    """Read a Parquet file, or all files of a folder."""
    import pyarrow.parquet

    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not files or not files[0].is_file():
        raise SampleError(f"{path} is neither a Parquet file nor a folder with any")
    blocks = []
    for file in files:
        try:
            table = pyarrow.parquet.read_table(file)
        except (OSError, pyarrow.ArrowInvalid) as error:
            raise SampleError(f"{file} is not a readable Parquet file: {error}") from None
        blocks.append(SampleBlock.from_table(table, observation, str(file)))
    return concatenate(blocks)
