"""A fast network on Deep Pepper's 353 features: embeddings of piece slots, squares and moves.

`pepper353` lists each piece in a slot (kind, square, cheapest attacker and defender) and the
cheapest attackers of every square. All of these take few values, so they select rows: of a kind of
piece on a square, of a kind of piece with its attacker and defender, and of a square with its
attackers. Only the 17 global features and the 48 of mobility are inputs of a plain linear layer.
Two layers follow, then a value and a key.

A move's embedding is the sum of four: of the exchange (moving and captured piece with the attackers
of both squares), of its destination and its origin relative to the opponent's king, and of its
action. A logit is the dot product of key and move, so only legal moves are computed.

    observation [B, 353] --rows--> sum [B, W] --relu, two layers--> hidden [B, W]
    hidden --> value [B];   hidden --> key [B, K] . move rows [L, K] --> logits [L]

The features are Deep Pepper's (2018); the network is ours, in the manner of `squares`.
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
from rookery.nets.squares import OFFSETS, offset_of

SLOTS = (
    32  # of 5 features each, from FIRST_SLOT on: present, file / 7, rank / 7, attacker, defender
)
FIRST_SLOT, MOBILITY, CONTROL = 17, 177, 225  # first entries; those of the control maps come last
KINGS_SLOT = 16  # of the opponent's king
# Piece codes of one side's slots (P N B R Q K are 1 to 6; the opponent's are 6 more).
SIDE_CODES = [6, 5, 4, 4, 3, 3, 2, 2, *[1] * 8]
# Level of an attacker by ten times its value: none, pawn, minor piece, rook, queen, king.
LEVELS = 6
LEVEL_OF = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5]
STATES = LEVELS * LEVELS
# Rows of a position: kind on a square; kind with attacker and defender; square with the cheapest
# own and opponent's attackers; a slot without a piece.
PLACES, DANGERS, CONTROLS = 12 * 64, 12 * STATES, 64 * STATES
ABSENT = PLACES + DANGERS + CONTROLS
PLAIN = FIRST_SLOT + CONTROL - MOBILITY
# Rows of moves: piece (0: one without a slot, such as a second queen), the opponent's cheapest
# attacker of its origin, captured piece, cheapest attackers of the destination; piece and whether
# the destination is attacked x its offset; piece x offset of the origin; then one row per action.
EXCHANGES = 7 * LEVELS * 7 * STATES
ARRIVALS = 7 * 2 * OFFSETS
DEPARTURES = 7 * OFFSETS


class SlotsSizes(Section):
    """Sizes of the family `slots`."""

    width: int = Field(default=256, ge=1, le=8192)
    """Width of the three hidden layers."""
    key_width: int = Field(default=32, ge=1, le=8192)
    """Width of a move's embedding."""
    half_rows: bool = False
    """Embeddings in half precision, for files of half the size; not for training."""


class Slots(nn.Module):
    """Observations `pepper353`; a `rookery.nets.PolicyValueNetwork`, values in [-1, 1]."""

    family = "slots"
    Sizes = SlotsSizes
    bounded = True

    def __init__(self, observation: str, actions: str, sizes: SlotsSizes) -> None:
        """Make the layers; their weights are meaningless until `initialise`."""
        super().__init__()
        if observation != "pepper353":
            raise ValueError(f"the family 'slots' reads pepper353, not {observation!r}")
        self.observation = observation
        self.actions = actions
        self.sizes = sizes
        width = sizes.width
        precision = torch.float16 if sizes.half_rows else torch.float32
        self.places = nn.Embedding(ABSENT + 1, width, dtype=precision)
        self.plain = nn.Linear(PLAIN, width)
        self.second = nn.Linear(width, width)
        self.third = nn.Linear(width, width)
        self.key = nn.Linear(width, sizes.key_width)
        move_rows = EXCHANGES + ARRIVALS + DEPARTURES + ACTIONS[actions].count
        self.moves = nn.Embedding(move_rows, sizes.key_width, dtype=precision)
        self.value = nn.Linear(width, 1)
        origins, destinations = squares_of(ACTIONS[actions].count)
        codes = np.array([*SIDE_CODES, *(code + 6 for code in SIDE_CODES)])
        for name, array in (
            ("codes", codes),
            ("levels", np.array(LEVEL_OF)),
            ("origins", origins ^ 56),  # here a1 is square 0, in `squares` a8
            ("destinations", destinations ^ 56),
        ):
            self.register_buffer(name, torch.from_numpy(array), persistent=False)
        self.codes: Tensor  # [32]
        self.levels: Tensor  # [11]
        self.origins: Tensor  # [A], squares in the mover's view
        self.destinations: Tensor  # [A]

    def initialise(self, generator: torch.Generator | None = None) -> None:
        """Draw new weights; the first policy is close to uniform, the first value close to 0."""
        with torch.no_grad():
            # 128 rows and some 30 plain numbers are summed: together their variance is about 1.
            for layer, spread in (
                (self.places, 160**-0.5),
                (self.plain, 160**-0.5),
                (self.second, (2.0 / self.sizes.width) ** 0.5),
                (self.third, (2.0 / self.sizes.width) ** 0.5),
                (self.key, (1.0 / self.sizes.width) ** 0.5),
                (self.moves, 0.01),
                (self.value, 0.01),
            ):
                drawn = torch.empty(layer.weight.shape).normal_(0.0, spread, generator=generator)
                layer.weight.copy_(drawn)
            for linear in (self.plain, self.second, self.third, self.key, self.value):
                linear.bias.zero_()
            # A constant component of the key acts as a bias for each move.
            self.key.bias[0] = 1.0

    def forward(self, observations: Tensor, legal: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [L] over the legal actions, and values [B]."""
        board = Board(self, observations)
        hidden = self._layers(observations, board)[-1]
        key = self.key(hidden).index_select(0, rows)
        move = row_sum(self._whole(self.moves), self._move_rows(board, legal, rows))
        values: Tensor = self.value(hidden).squeeze(-1).tanh()
        return (key * move).sum(-1), values

    def activations(self, observations: Tensor) -> dict[str, Tensor]:
        """The three hidden layers [B, W]."""
        layers = self._layers(observations, Board(self, observations))
        return dict(zip(("first", "second", "third"), layers, strict=True))

    def dense(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [B, A] over all actions, and values [B]."""
        count, actions = observations.shape[0], self.origins.shape[0]
        device = observations.device
        rows = torch.arange(count, device=device).unsqueeze(1).expand(count, actions).reshape(-1)
        legal = torch.arange(actions, device=device).unsqueeze(0).expand(count, actions).reshape(-1)
        logits, values = self.forward(observations, legal, rows)
        return logits.reshape(count, actions), values

    def _layers(self, observations: Tensor, board: Board) -> tuple[Tensor, Tensor, Tensor]:
        placed = row_sum(self._whole(self.places), board.rows())
        plain = torch.cat([observations[:, :FIRST_SLOT], observations[:, MOBILITY:CONTROL]], 1)
        first = functional.relu(placed + self.plain(plain.to(placed.dtype)))
        second = functional.relu(self.second(first))
        return first, second, second + functional.relu(self.third(second))

    def _whole(self, rows: nn.Embedding) -> Tensor:
        """An embedding in the precision of the layers, in which its rows are summed."""
        return rows.weight.to(self.plain.weight.dtype)

    def _move_rows(self, board: Board, legal: Tensor, rows: Tensor) -> Tensor:
        """The four rows [L, 4] of each legal action."""
        origin, to = self.origins[legal], self.destinations[legal]
        source, target = rows * 64 + origin, rows * 64 + to
        codes = board.codes.reshape(-1)
        own, theirs = board.own.reshape(-1), board.theirs.reshape(-1)
        piece, taken = codes[source], codes[target]
        piece = torch.where(piece <= 6, piece, 0)
        taken = torch.where(taken > 6, taken - 6, 0)
        attacked = theirs[target]
        exchange = (piece * LEVELS + theirs[source]) * 7 + taken
        exchange = (exchange * LEVELS + own[target]) * LEVELS + attacked
        king = board.king.index_select(0, rows)
        arrival = (piece * 2 + (attacked > 0)) * OFFSETS + offset_of(king, to)
        departure = piece * OFFSETS + offset_of(king, origin)
        action = EXCHANGES + ARRIVALS + DEPARTURES + legal
        parts = [exchange, EXCHANGES + arrival, EXCHANGES + ARRIVALS + departure, action]
        return torch.stack(parts, 1)


class Board:
    """The squares of B positions, read from their features."""

    def __init__(self, network: Slots, observations: Tensor) -> None:
        """Decode slots and control maps."""
        count = observations.shape[0]
        slots = observations[:, FIRST_SLOT:MOBILITY].reshape(count, SLOTS, 5)
        self.kinds = network.codes - 1  # [32]
        self.present = slots[:, :, 0] > 0  # [B, 32]
        files, ranks = (slots[:, :, 1:3] * 7).round().long().unbind(-1)
        self.squares = ranks * 8 + files  # [B, 32]
        self.king = self.squares[:, KINGS_SLOT]  # [B]
        # Square 64 takes the slots without a piece.
        board = torch.zeros(count, 65, dtype=torch.int64, device=observations.device)
        places = torch.where(self.present, self.squares, 64)
        self.codes = board.scatter(1, places, network.codes.expand(count, -1))[:, :64].contiguous()
        levels = network.levels[(slots[:, :, 3:] * 10).round().long()]
        self.dangers = levels[:, :, 0] * LEVELS + levels[:, :, 1]  # [B, 32]
        control = network.levels[(observations[:, CONTROL:] * 10).round().long()]
        self.own, self.theirs = control[:, :64].contiguous(), control[:, 64:].contiguous()

    def rows(self) -> Tensor:
        """Rows [B, 128] of the positions."""
        place = torch.where(self.present, self.kinds * 64 + self.squares, ABSENT)
        danger = torch.where(self.present, PLACES + self.kinds * STATES + self.dangers, ABSENT)
        numbers = torch.arange(64, device=self.own.device)
        squares = PLACES + DANGERS + numbers * STATES
        return torch.cat([place, danger, squares + self.own * LEVELS + self.theirs], 1)


def halved(network: Slots) -> Slots:
    """The same network with its embeddings in half precision."""
    sizes = network.sizes.model_copy(update={"half_rows": True})
    small = Slots(network.observation, network.actions, sizes)
    weights = network.state_dict()
    for name in ("places.weight", "moves.weight"):
        weights[name] = weights[name].half()
    small.load_state_dict(weights)
    return small.eval()
