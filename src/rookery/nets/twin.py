r"""Two networks in one file: a policy that looks up squares and moves, and a value of its own.

    observation [B, 70] --the family `squares`--> logits [L]
                        --the family `nnue`-----> values [B]

What predicts a move (attacked squares, kings nearby) is not what predicts a result (pieces and
pawns, and where they stand). Apart, the value is a shallow sparse network, cheap enough to be
evaluated several times per leaf: native searches let captures end before they judge
(core/nets/quiet_value.h, `quiescence`), so the network learns from quiet positions and is asked
about quiet positions.

This torch version gives the value of the position itself, without quiescence.
"""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor, nn

from rookery.encodings import NO_ACTIONS
from rookery.nets.nnue import PADDING, WEIGHT_LIMIT, Nnue, NnueSizes
from rookery.nets.squares import PIECES, Squares, SquaresSizes

OWN_KING, OPPONENT_KING = 6, 12  # piece codes
CHECK = 69  # the entry of the observation that is 1 in check


class TwinSizes(SquaresSizes):
    """Sizes of the family `twin`; width and key width are the policy's."""

    hidden: int = Field(default=128, ge=16, le=1024, multiple_of=16)
    """Width of each side's sum of rows in the value network."""
    buckets: int = Field(default=8, ge=1, le=32)
    """Its rows of output weights, chosen by the number of pieces."""
    quiescence: bool = True
    """Whether native searches let captures end before they judge a position."""


class Twin(nn.Module):
    """Observations `tactical70`; a `rookery.nets.PolicyValueNetwork`, values in [-1, 1]."""

    family = "twin"
    move_embeddings = "policy.moves"  # the layer of the rows of moves
    Sizes = TwinSizes
    bounded = True

    def __init__(self, observation: str, actions: str, sizes: TwinSizes) -> None:
        """Make the layers; their weights are meaningless until `initialise`."""
        super().__init__()
        if observation != "tactical70":
            raise ValueError(f"the family 'twin' reads tactical70, not {observation!r}")
        self.observation = observation
        self.actions = actions
        self.sizes = sizes
        policy = SquaresSizes(width=sizes.width, key_width=sizes.key_width)
        self.policy = Squares(observation, actions, policy)
        self.judge = Nnue(
            "nnue768", NO_ACTIONS, NnueSizes(hidden=sizes.hidden, buckets=sizes.buckets)
        )

    def initialise(self, generator: torch.Generator | None = None) -> None:
        """Draw new weights; the first policy is close to uniform, the first value close to 0."""
        self.policy.initialise(generator)
        self.judge.initialise(generator)
        with torch.no_grad():
            self.judge.output_weights.mul_(0.1)

    def forward(self, observations: Tensor, legal: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [L] over the legal actions, and values [B]."""
        return self.policy(observations, legal, rows)[0], self.static_values(observations)

    def heads(
        self, observations: Tensor, legal: Tensor, rows: Tensor
    ) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        """Logits, values, and the value that the policy's own body would give.

        That one is only learnt so that the body knows what matters to a result.
        """
        logits, second = self.policy(observations, legal, rows)
        return logits, self.static_values(observations), {"second_value": second}

    def dense(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [B, A] over all actions, and values [B]."""
        return self.policy.dense(observations)[0], self.static_values(observations)

    def static_values(self, observations: Tensor) -> Tensor:
        """Values [B] of the positions themselves, for the side to move."""
        pieces = observations[:, :64].long() % PIECES  # a8 is the first entry, 0 is empty
        squares = torch.arange(64, device=pieces.device) ^ 56  # the mover plays up the board
        views = []
        for king, flip, own_first in ((OWN_KING, 0, True), (OPPONENT_KING, 56, False)):
            file = (pieces == king).int().argmax(1, keepdim=True) % 8
            seen = squares ^ flip ^ torch.where(file >= 4, 7, 0)
            kind = pieces - 1 if own_first else (pieces + 5) % 12
            views.append(torch.where(pieces > 0, 64 * kind + seen, PADDING))
        raw = self.judge.raw(views[0], views[1], (pieces > 0).sum(1))
        return 2.0 * torch.sigmoid(raw) - 1.0

    def value_weights(
        self, observations: Tensor, legal: Tensor, rows: Tensor, policy: Tensor
    ) -> Tensor:
        """How much each position's value counts, [B] in [0, 1]: less where captures are due.

        `policy` [L] is the search's. In check, or where it wants to capture, the value of the
        position itself does not matter to searches with quiescence.
        """
        target = observations[rows, self.policy.destinations[legal]] % PIECES
        capture = policy * (target > OWN_KING)
        noisy = torch.zeros(len(observations), device=policy.device).index_add(0, rows, capture)
        return (1.0 - noisy).clamp(min=0.0) * (observations[:, CHECK] == 0)

    def constrain(self) -> None:
        """Keep the value's weights in the range of the integers that searches use."""
        with torch.no_grad():
            self.judge.feature_weights.clamp_(-WEIGHT_LIMIT, WEIGHT_LIMIT)
            self.judge.output_weights.clamp_(-WEIGHT_LIMIT, WEIGHT_LIMIT)

    def activations(self, observations: Tensor) -> dict[str, Tensor]:
        """The policy's three hidden layers [B, W]."""
        return self.policy.activations(observations)
