"""Leaves of games that are not over: they wait for the result.

A segment of 12 plies rarely reaches the end of its game. With a `result_share` its leaves are kept
until the game ends some segments later, and then learn

    target = (1 - share) * TD(lambda) within the segment + share * result

Whatever separates a leaf from the result (a random move, a cut-off, an abandoned game) releases it
with its TD(lambda) target alone.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from rookery.algorithms.tdleaf_networks import Samples, Values
from rookery.selfplay.leaves import LeafHarvest


class OpenGames:
    """Positions with targets for White, and the number of the segment that their game is in."""

    def __init__(self, share: float) -> None:
        """Begin with none.

        Args:
            share: Of the result in the targets, which may change; 0: nothing waits.
        """
        self.share = share
        self.positions: Samples = np.zeros((0, 32), dtype=np.uint8)
        self.goals: Values = np.zeros(0)
        self.segments: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def __len__(self) -> int:
        """Positions that wait."""
        return len(self.positions)

    def add(
        self, played: LeafHarvest, positions: Samples, goals: Values, places: NDArray[np.int64]
    ) -> tuple[Samples, Values]:
        """The positions whose games are over or broken off, and their targets for White.

        Args:
            played: The new segments, N of T plies; each continues the one of its number before.
            positions: New positions, [M, 32].
            goals: Their targets, for White, [M].
            places: The ply each is from, an index below N * T, [M].
        """
        if self.share == 0:
            return positions, goals
        # 1. Parts of segments: each ends with a game or a break, the last may be open.
        stops = ~np.isnan(played.ends) | (played.unrelated != 0)
        parts = np.cumsum(stops, axis=1) - stops
        last = stops.sum(axis=1)
        results = np.full((len(stops), stops.shape[1] + 1), np.nan)  # by part, for White
        results[np.nonzero(stops)[0], parts[stops]] = played.ends[stops]
        # 2. Old positions are in part 0, if their game was continued.
        released = played.continued[self.segments] == 0
        segment = np.concatenate([self.segments, places // stops.shape[1]])
        part = np.concatenate([np.zeros_like(self.segments), parts.ravel()[places]])
        result = results[segment, part]
        result[: len(released)][released] = np.nan
        waits = part == last[segment]
        waits[: len(released)][released] = False
        # 3. Those that are over learn the result, the others are kept.
        positions = np.concatenate([self.positions, positions])
        goals = np.concatenate([self.goals, goals])
        self.positions, self.goals = positions[waits], goals[waits]
        self.segments = segment[waits]
        mixed = np.where(np.isnan(result), goals, goals + self.share * (result - goals))
        return positions[~waits], mixed[~waits]

    def tensors(self) -> dict[str, torch.Tensor]:
        """All of it, for a checkpoint."""
        arrays = {"positions": self.positions, "goals": self.goals, "segments": self.segments}
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    def load(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Restore `tensors()`."""
        self.positions = tensors["positions"].numpy().copy()
        self.goals = tensors["goals"].numpy().copy()
        self.segments = tensors["segments"].numpy().copy()
