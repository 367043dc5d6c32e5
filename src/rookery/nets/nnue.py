r"""The network of the alpha-beta engine: sparse, shallow and incrementally updated.

    position --768 features, mover's view-----> sum of rows [H] --clamp to [0, 1], square--\
             --768 features, opponent's view--> sum of rows [H] --clamp to [0, 1], square--> raw

The features are the layout `nnue768` of `rookery.encodings`, as `Game.nnue_features` lists them: a
piece on a square as one side sees it, ranks flipped for Black, files mirrored while the viewer's
own king stands on files e-h. The last layer has a row of weights for each bucket of piece counts.
sigmoid(raw) is the expected score of the side to move, in [0, 1]; 400 * raw is the score that
searches show as centipawns.

The engine uses an integer version in C++ (core/nnue/network.h), trained in C++
(core/nnue/learner.h). This torch version is the reference for testing both, and validates model
files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from rookery._core import Game, sample_fens
from rookery.base.section import Section
from rookery.encodings import NO_ACTIONS
from rookery.nets.model_arrays import NNUE_TENSORS

FEATURES = 768
MAX_PIECES = 32
PADDING = FEATURES  # index of an all-zero row
WEIGHT_LIMIT = 1.98  # of feature and output weights, so that quantised sums cannot overflow


class NnueSizes(Section):
    """Sizes of the family `nnue`."""

    hidden: int = Field(default=128, ge=16, le=1024, multiple_of=16)
    """Width of each side's sum of rows."""
    buckets: int = Field(default=8, ge=1, le=32)
    """Rows of output weights, chosen by the number of pieces."""


class Nnue(nn.Module):
    """Observations `nnue768`; a `rookery.nets.ValueNetwork`."""

    family = "nnue"
    Sizes = NnueSizes
    bounded = True

    def __init__(self, observation: str, actions: str, sizes: NnueSizes) -> None:
        """Make the tensors; their weights are zero until `initialise`."""
        super().__init__()
        if observation != "nnue768" or actions != NO_ACTIONS:
            raise ValueError(
                f"the family 'nnue' reads nnue768 and has no actions ('none'), not "
                f"{observation!r} and {actions!r}"
            )
        self.observation = observation
        self.actions = actions
        self.sizes = sizes
        hidden, buckets = sizes.hidden, sizes.buckets
        self.feature_weights = nn.Parameter(torch.zeros(FEATURES, hidden))
        self.feature_bias = nn.Parameter(torch.zeros(hidden))
        self.output_weights = nn.Parameter(torch.zeros(buckets, 2 * hidden))  # mover's half first
        self.output_bias = nn.Parameter(torch.zeros(buckets))

    def initialise(self, generator: torch.Generator | None = None) -> None:
        """Draw new weights; sums of rows start in the middle of the activation's range."""
        with torch.no_grad():
            # The sum of about 24 rows has a standard deviation of 0.25.
            self.feature_weights.normal_(0.0, 0.05, generator=generator)
            self.feature_bias.fill_(0.25)
            bound = (1.0 / (2 * self.sizes.hidden)) ** 0.5
            self.output_weights.uniform_(-bound, bound, generator=generator)
            self.output_bias.zero_()

    def raw(self, mover: Tensor, opponent: Tensor, counts: Tensor) -> Tensor:
        """Raw outputs [B] of both views' features, int64 [B, 32] padded with `PADDING`.

        `counts`, int64 [B], are the numbers of pieces on the board.
        """
        buckets = (counts - 2) * self.sizes.buckets // 32
        products = self._hidden(mover, opponent) * self.output_weights[buckets]
        return products.sum(dim=1) + self.output_bias[buckets]

    def _hidden(self, mover: Tensor, opponent: Tensor) -> Tensor:
        """Activations [B, 2 * hidden], the mover's half first."""
        table = functional.pad(self.feature_weights, (0, 0, 0, 1))  # one more row, of zeros
        halves = []
        for view in (mover, opponent):
            total = functional.embedding_bag(view, table, mode="sum", padding_idx=PADDING)
            halves.append((total + self.feature_bias).clamp(0.0, 1.0).square())
        return torch.cat(halves, dim=1)

    def activations(self, observations: Tensor) -> dict[str, Tensor]:
        """The only hidden layer [B, 2 * hidden] of observations [B, 65]."""
        rows = observations.long()
        return {"hidden": self._hidden(rows[:, :MAX_PIECES], rows[:, MAX_PIECES:-1])}

    def values(self, observations: Tensor) -> Tensor:
        """Values [B] in [-1, 1] of observations [B, 65] as `sparse_rows` makes them."""
        rows_of_weights = observations.long()
        mover, opponent = rows_of_weights[:, :MAX_PIECES], rows_of_weights[:, MAX_PIECES:-1]
        raw = self.raw(mover, opponent, rows_of_weights[:, -1])
        return 2.0 * torch.sigmoid(raw) - 1.0


def sparse_rows(samples: NDArray[np.uint8]) -> Tensor:
    """Observations int64 [N, 65] of packed samples [N, 32]: features of both views, then counts.

    For tests and small batches; the learner has its own version (core/nnue/learner.cpp).
    """
    return game_rows([Game(fen) for fen in sample_fens(samples)])


def game_rows(games: Sequence[Game]) -> Tensor:
    """The same of games."""
    result = np.full((len(games), 2 * MAX_PIECES + 1), PADDING, dtype=np.int64)
    for row, game in zip(result, games, strict=True):
        mover, opponent = game.nnue_features()
        row[: len(mover)] = mover
        row[MAX_PIECES : MAX_PIECES + len(opponent)] = opponent
        row[-1] = len(mover)
    return torch.from_numpy(result)


def tensors_of(network: Any) -> tuple[NDArray[np.float32], ...]:
    """The four tensors as arguments of the native network."""
    state = network.state_dict()
    return tuple(
        np.ascontiguousarray(state[name].numpy(), dtype=np.float32) for name in NNUE_TENSORS
    )
