"""A fast network for CPUs: embeddings of squares and moves instead of convolutions over planes.

Every entry of a `tactical70` observation is a small number: the piece on a square and its
attackers, castling rights, clocks. A position is the sum of three kinds of embeddings: of a piece
on a square, of the attack state of a square, and of a piece in an attack state on any square (a
hanging queen is a hanging queen). Two layers follow, then a value and a key.

A move's embedding is the sum of four: of its action, of the capturing and captured piece with their
attack states, and of its destination and its origin relative to the opponent's king. What is learnt
about a capture on one square therefore applies to all. A logit is the dot product of key and move.

    observation [B, 70] --rows--> sum [B, W] --relu, two layers--> hidden [B, W]
    hidden --> value [B];   hidden --> key [B, K] . move rows [L, K] --> logits [L]
"""

from __future__ import annotations

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from rookery.base.section import Section
from rookery.encodings import ACTIONS
from rookery.nets.move_squares import squares_of
from rookery.nets.ragged import row_sum

PIECES, STATES = 13, 12  # piece codes of a square; own attackers (0, 1, more) x opponent's (4)
CODES = PIECES * STATES
CLOCK = 67  # the half-move clock's place; ten plies share a row
OPPONENT_KING = 12  # its piece code
# Rows of the entries after the squares: own and opponent's castling, en passant file, clock in
# tens, repetitions, check.
OTHERS = [4, 4, 9, 11, 3, 2]
OFFSETS = 15 * 15  # (ranks, files) from the opponent's king to a square, each -7 to 7
# Rows of moves: taking piece and state x taken piece (or none) and state; piece and own attackers
# of the destination x its offset; piece x offset of the origin; then one row per action.
EXCHANGES = 6 * STATES * 7 * STATES
ARRIVALS = 6 * 3 * OFFSETS
DEPARTURES = 6 * OFFSETS


class SquaresSizes(Section):
    """Sizes of the family `squares`."""

    width: int = Field(default=256, ge=1, le=8192)
    """Width of the three hidden layers."""
    key_width: int = Field(default=32, ge=1, le=8192)
    """Width of a move's embedding."""


class Squares(nn.Module):
    """Observations `tactical70`; a `rookery.nets.PolicyValueNetwork`, values in [-1, 1]."""

    family = "squares"
    move_embeddings = "moves"  # the layer of the rows of moves
    Sizes = SquaresSizes
    bounded = True

    def __init__(self, observation: str, actions: str, sizes: SquaresSizes) -> None:
        """Make the layers; their weights are meaningless until `initialise`."""
        super().__init__()
        if observation != "tactical70":
            raise ValueError(f"the family 'squares' reads tactical70, not {observation!r}")
        self.observation = observation
        self.actions = actions
        self.sizes = sizes
        width = sizes.width
        self.places = nn.Embedding(64 * (PIECES + STATES) + sum(OTHERS), width)
        self.codes = nn.Linear(CODES, width)
        self.second = nn.Linear(width, width)
        self.third = nn.Linear(width, width)
        self.key = nn.Linear(width, sizes.key_width)
        self.moves = nn.Embedding(
            EXCHANGES + ARRIVALS + DEPARTURES + ACTIONS[actions].count, sizes.key_width
        )
        self.value = nn.Linear(width, 1)
        # First row of each entry: pieces by square, attack states by square, the others.
        firsts = [
            *(PIECES * np.arange(64)),
            *(64 * PIECES + STATES * np.arange(64)),
            *(64 * (PIECES + STATES) + np.cumsum([0, *OTHERS[:-1]])),
        ]
        origins, destinations = squares_of(ACTIONS[actions].count)
        for name, array in (
            ("first_rows", np.array(firsts)),
            ("origins", origins),
            ("destinations", destinations),
        ):
            self.register_buffer(name, torch.from_numpy(array), persistent=False)
        self.first_rows: Tensor  # [134]
        self.origins: Tensor  # [A], indices into the observation
        self.destinations: Tensor  # [A]

    def initialise(self, generator: torch.Generator | None = None) -> None:
        """Draw new weights; the first policy is close to uniform, the first value close to 0."""
        with torch.no_grad():
            # 128 + 6 rows and 64 codes are summed: together they have a variance of about 1.
            for rows in (self.places, self.codes):
                rows.weight.normal_(0.0, 200**-0.5, generator=generator)
            self.codes.bias.zero_()
            for layer, gain in ((self.second, 2.0), (self.third, 2.0), (self.key, 1.0)):
                layer.weight.normal_(0.0, (gain / layer.in_features) ** 0.5, generator=generator)
                layer.bias.zero_()
            for output in (self.moves, self.value):
                output.weight.normal_(0.0, 0.01, generator=generator)
            self.value.bias.zero_()
            # A constant component of the key acts as a bias for each move.
            self.key.bias[0] = 1.0

    def forward(self, observations: Tensor, legal: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [L] over the legal actions, and values [B]."""
        entries = observations.long()
        hidden = self._layers(entries)[-1]
        key = self.key(hidden).index_select(0, rows)
        move = row_sum(self.moves.weight, self._move_rows(entries, legal, rows))
        return (key * move).sum(-1), self._values(hidden)

    def activations(self, observations: Tensor) -> dict[str, Tensor]:
        """The three hidden layers [B, W]."""
        layers = self._layers(observations.long())
        return dict(zip(("first", "second", "third"), layers, strict=True))

    def dense(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [B, A] over all actions, and values [B]."""
        count, actions = observations.shape[0], self.origins.shape[0]
        device = observations.device
        rows = torch.arange(count, device=device).unsqueeze(1).expand(count, actions).reshape(-1)
        legal = torch.arange(actions, device=device).unsqueeze(0).expand(count, actions).reshape(-1)
        logits, values = self.forward(observations, legal, rows)
        return logits.reshape(count, actions), values

    def _layers(self, entries: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        codes = entries[:, :64]
        clock = torch.div(entries[:, CLOCK : CLOCK + 1], 10, rounding_mode="floor")
        index = torch.cat(
            [
                codes % PIECES,
                torch.div(codes, PIECES, rounding_mode="floor"),
                entries[:, 64:CLOCK],
                clock,
                entries[:, CLOCK + 1 :],
            ],
            1,
        )
        placed = row_sum(self.places.weight, index + self.first_rows)
        counts = placed.new_zeros(codes.shape[0], CODES).scatter_add(
            1, codes, torch.ones_like(codes, dtype=placed.dtype)
        )
        first = functional.relu(placed + self.codes(counts))
        second = functional.relu(self.second(first))
        return first, second, second + functional.relu(self.third(second))

    def _move_rows(self, entries: Tensor, legal: Tensor, rows: Tensor) -> Tensor:
        """The four rows [L, 4] of each legal action."""
        origin, destination = self.origins[legal], self.destinations[legal]
        squares = entries.shape[1]
        flat = entries.reshape(-1)
        source = flat.index_select(0, rows * squares + origin)
        target = flat.index_select(0, rows * squares + destination)
        piece = (source % PIECES - 1).clamp(0, 5)
        source_state = torch.div(source, PIECES, rounding_mode="floor")
        target_state = torch.div(target, PIECES, rounding_mode="floor")
        taken = (target % PIECES - 6).clamp(0, 6)
        exchange = ((piece * STATES + source_state) * 7 + taken) * STATES + target_state
        is_king = (entries[:, :64] % PIECES == OPPONENT_KING).to(torch.int32)
        king = is_king.argmax(1).index_select(0, rows)
        arrival = (piece * 3 + target_state % 3) * OFFSETS + offset_of(king, destination)
        departure = piece * OFFSETS + offset_of(king, origin)
        return torch.stack(
            [
                exchange,
                EXCHANGES + arrival,
                EXCHANGES + ARRIVALS + departure,
                EXCHANGES + ARRIVALS + DEPARTURES + legal,
            ],
            1,
        )

    def _values(self, hidden: Tensor) -> Tensor:
        values: Tensor = self.value(hidden).squeeze(-1).tanh()
        return values


def offset_of(king: Tensor, square: Tensor) -> Tensor:
    """Index in [0, 225) of the offset (ranks, files) of a square from the king."""
    ranks = torch.div(square, 8, rounding_mode="floor") - torch.div(king, 8, rounding_mode="floor")
    return (ranks + 7) * 15 + square % 8 - king % 8 + 7
