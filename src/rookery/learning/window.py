"""The replay window: the newest samples, from which a learner draws minibatches.

Blocks are also written to the run's replay/ (`rookery.runs.replay`), from which a resumed run
restores the same samples.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rookery.data.samples import SampleBlock, concatenate
from rookery.runs.replay import Parquet, Replay
from rookery.runs.state import Json


class SampleWindow:
    """Blocks of samples, oldest first."""

    def __init__(
        self, folder: Path, observation: str, keep_checkpoints: int, report: Any = None
    ) -> None:
        """Keep shards in `folder`."""
        self.observation = observation
        self.blocks: list[SampleBlock] = []
        self.replay = Replay(folder, Parquet(), keep_checkpoints, report or (lambda text: None))

    def __len__(self) -> int:
        """Number of samples."""
        return sum(len(block) for block in self.blocks)

    def add(self, block: SampleBlock, most: int) -> None:
        """Add a block; drop the oldest ones as long as the others hold `most` samples."""
        self.replay.add(block.table(self.observation))
        self.blocks.append(block)
        self.replay.drop_oldest(most)
        self.blocks = self.blocks[len(self.blocks) - len(self.replay.names()) :]

    def state(self) -> Json:
        """The list of shards."""
        return self.replay.state()

    def restore(self, state: Json) -> None:
        """Read the shards of a checkpoint."""
        self.blocks = [
            SampleBlock.from_table(table, self.observation, name)
            for name, table in self.replay.restore(state).items()
        ]


class Sampler:
    """Draws minibatches with KataGo's policy surprise weighting.

    `surprise_share` of the draws is proportional to the KL divergence between the policies before
    and after the search, the rest is uniform.
    """

    def __init__(self, blocks: list[SampleBlock], surprise_share: float) -> None:
        """Weight all samples of the blocks."""
        self._blocks = blocks
        self._firsts = np.concatenate([[0], np.cumsum([len(block) for block in blocks])])
        surprise = np.concatenate([block.surprise for block in blocks]).astype(np.float64)
        mean = surprise.mean()
        weights = np.full(len(surprise), 1.0)
        if surprise_share and mean > 0:
            weights = (1 - surprise_share) + surprise_share * surprise / mean
        self._cumulative = np.cumsum(weights)

    def draw(self, count: int, rng: np.random.Generator) -> SampleBlock:
        """A minibatch of `count` samples, with replacement."""
        targets = rng.random(count) * self._cumulative[-1]
        rows = np.searchsorted(self._cumulative, targets, side="right")
        rows = np.sort(rows.clip(max=len(self._cumulative) - 1))
        which = np.searchsorted(self._firsts, rows, side="right") - 1
        return concatenate(
            [
                self._blocks[number].take(rows[which == number] - self._firsts[number])
                for number in np.unique(which)
            ]
        )
