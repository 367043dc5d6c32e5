"""Writing single samples: collected in memory, written as Parquet shards."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rookery._core import Game
from rookery.data.samples import SampleBlock, write_samples
from rookery.encodings import OBSERVATIONS

SHARD = 50_000  # samples per file


class SampleWriter:
    """Writes `FOLDER/NUMBER.parquet`; call `close` at the end."""

    def __init__(
        self, folder: Path, observation: str, shard: int = SHARD, after: tuple[int, int] = (0, 0)
    ) -> None:
        """Write into a folder without samples, or after its first files.

        `after` is their number, and that of their samples; files beyond them are removed.
        """
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"{folder} is a file; name a folder with --out")
        if after[0]:
            for beyond in [path for path in folder.glob("*.parquet") if int(path.stem) >= after[0]]:
                beyond.unlink()
        elif any(folder.glob("*.parquet")):
            raise ValueError(f"{folder} has samples already; name another folder with --out")
        self.folder = folder
        self.observation = observation
        self.written = after[1]
        self._shard = shard
        self._number = after[0]
        dtypes = OBSERVATIONS[observation].dtypes
        self._dtype = np.dtype("uint8" if "uint8" in dtypes else "float32")
        self._clear()

    @property
    def shards(self) -> int:
        """Number of files written."""
        return self._number

    def _clear(self) -> None:
        self._rows: list[Any] = []
        self._legal: list[Any] = []
        self._policy: list[Any] = []
        self._plain: list[tuple[float, float, int, int, int]] = []

    def add(
        self,
        position: Game,
        policy: Mapping[str, float],
        result: float,
        value: float,
        plies_left: int,
        game: int,
    ) -> None:
        """Add a position.

        Args:
            position: An unfinished game.
            policy: Policy target: weights of moves (UCI), normalised to a sum of 1.
            result: Of the game, [-1, 1] for the side to move.
            value: An engine's evaluation, [-1, 1] for the side to move; or the result again.
            plies_left: To the end of the game.
            game: Its number.
        """
        legal = np.asarray(position.legal_actions("az4672"), np.int16)
        weights = np.zeros(len(legal), np.float32)
        places = {int(action): place for place, action in enumerate(legal)}
        for move, weight in policy.items():
            weights[places[position.action_of(move, "az4672")]] += weight
        self._rows.append(position.encode(self.observation).astype(self._dtype))
        self._legal.append(legal)
        self._policy.append(weights / weights.sum())
        self._plain.append((result, value, plies_left, position.ply, game))
        if len(self._rows) >= self._shard:
            self.flush()

    def flush(self) -> None:
        """Write the samples collected so far as a file."""
        if not self._rows:
            return
        results, values, left, plies, games = zip(*self._plain, strict=True)
        count = len(self._rows)
        block = SampleBlock(
            np.stack(self._rows),
            np.concatenate(self._legal),
            np.concatenate(self._policy),
            np.array([len(legal) for legal in self._legal], np.int64),
            np.array(results, np.float32),
            np.array(values, np.float32),
            np.ones(count, np.float32),
            np.array(left, np.int32),
            np.array(plies, np.int32),
            np.array(games, np.int64),
        )
        write_samples(self.folder / f"{self._number:06d}.parquet", block, self.observation)
        self._number += 1
        self.written += count
        self._clear()

    def close(self) -> int:
        """Write the remaining samples; returns the total number written."""
        self.flush()
        return self.written
