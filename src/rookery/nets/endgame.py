"""Action values of small endings: the number of moves to the strong side's win after each action.

The network maps a position and an action to a distribution over distances: the strong side wins in
0, 1, ... `moves` more moves of its own, or not at all (a categorical Q network; Bellemare et al.
2017, with distances instead of returns). An action is represented by the piece placement after it.
This is not a search: each action is evaluated once, without replies or later positions.

    planes12, action --> squares after the action, mirrored into one half (or eighth) of the board
    each piece's square and each pair of squares --rows--> sum [W] --relu, layer, relu--> [H]
    --> logits of the classes 0 ... moves, not won [C]

Each ending and side to move has its own rows; the layers after them are shared. Material that
cannot win (a lone king, a single bishop or knight) is not won by rule.

Q values are in [-1, 1], for the side to move: 1 - n / (2 (moves + 1)) for a win in n moves, 0 for a
draw, negative for the weak side.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field, field_validator
from torch import Tensor, nn
from torch.nn import functional

from rookery.base.section import Section
from rookery.encodings import PLANE_STEPS

PIECES = "QRBNP"  # order of the pieces other than kings
PLANES = [4, 3, 2, 1, 0]  # their planes in planes12
KING_PLANE = 5
MEAN_SHARE = 1e-3  # weight of the distribution's mean, which breaks ties between equal distances
# A win counts only if it is e^2 times as probable as no win. Without this margin false wins
# reinforce each other, since a greedy side seeks the most promising error, and take long to fade.
CAUTION = 2.0
NOT_WON_BIAS = 3.0  # a new network predicts no wins, so that wins spread from real ones


class EndgameSizes(Section):
    """Sizes of the family `endgame`."""

    endings: list[str] = Field(default=["KPvK"], min_length=1, max_length=16)
    """Endings that it plays, including those they lead to."""
    goal: Literal["promotion", "mate"] = "mate"
    """What ends the game: mate, or in KPvK a promotion to a piece that stays."""
    width: int = Field(default=64, ge=1, le=1024)
    """Width of the embedding rows."""
    hidden: int = Field(default=64, ge=1, le=1024)
    """Width of the hidden layer."""
    moves: int = Field(default=31, ge=1, le=250)
    """The longest win it can represent, in moves of the strong side."""
    half_rows: bool = False
    """Rows in half precision, for files of half the size; not for training."""

    @field_validator("endings")
    @classmethod
    def _known(cls, endings: list[str]) -> list[str]:
        for name in endings:
            if not is_ending(name):
                raise ValueError(f"{name!r} is not an ending such as KPvK, KQvK or KBNvK")
        return endings

    def tables(self) -> list[str]:
        """All endings with rows; with the goal promotion also those after a promotion."""
        return [*self.endings, "KQvK", "KRvK"] if self.goal == "promotion" else self.endings


def is_ending(name: str) -> bool:
    """Whether this is one or two pieces with their king against a bare king."""
    strong = name.removeprefix("K").removesuffix("vK")
    return len(name) == len(strong) + 3 and strong in _STRONG


_STRONG = {*PIECES, *(a + b for i, a in enumerate(PIECES) for b in PIECES[i:])}


class Placements(NamedTuple):
    """N positions as the network sees them."""

    ending: Tensor  # int64 [N], index into the tables; -1: neither side can win
    strong_to_move: Tensor  # int64 [N], 0 or 1
    squares: Tensor  # int64 [N, P]: strong king, weak king, other pieces; 0 beyond the last


class Endgame(nn.Module):
    """Observations `planes12`, actions `az4672`; a `rookery.nets.ActionValueNetwork`."""

    family = "endgame"
    Sizes = EndgameSizes
    bounded = True

    def __init__(self, observation: str, actions: str, sizes: EndgameSizes) -> None:
        """Make the layers; their weights are meaningless until `initialise`."""
        super().__init__()
        if observation != "planes12" or actions != "az4672":
            raise ValueError(
                f"the family 'endgame' reads planes12 and answers for az4672, not {observation!r} "
                f"and {actions!r}"
            )
        self.observation = observation
        self.actions = actions
        self.sizes = sizes
        self.layout = Layout(sizes.tables(), settled=sizes.goal == "promotion")
        precision = torch.float16 if sizes.half_rows else torch.float32
        self.rows = nn.EmbeddingBag(self.layout.rows, sizes.width, mode="sum", dtype=precision)
        self.bias = nn.Parameter(torch.zeros(sizes.width))
        self.second = nn.Linear(sizes.width, sizes.hidden)
        self.output = nn.Linear(sizes.hidden, sizes.moves + 2)
        steps = torch.arange(sizes.moves + 2) / (2 * (sizes.moves + 1))
        worth = torch.where(steps < 0.5, 1 - steps, 0.0)  # value of each class, strong side's view
        self.register_buffer("worth", worth, persistent=False)
        self.worth: Tensor

    def initialise(self, generator: torch.Generator | None = None) -> None:
        """Draw new weights; at first every position is predicted not won."""
        with torch.no_grad():
            # The sum of the few rows has a standard deviation of about one half.
            spread = 0.5 * self.layout.features**-0.5
            drawn = torch.empty(self.rows.weight.shape).normal_(0.0, spread, generator=generator)
            self.rows.weight.copy_(drawn)
            self.bias.zero_()
            for layer in (self.second, self.output):
                bound = layer.in_features**-0.5
                layer.weight.uniform_(-bound, bound, generator=generator)
                layer.bias.zero_()
            self.output.bias[-1] = NOT_WON_BIAS

    def action_values(
        self, observations: Tensor, legal: Tensor, rows: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Q values [L] of the legal actions, and values [B]: the expected result."""
        boards = Boards.read(observations)
        ending = self.layout.placements(boards).ending
        if bool((ending < 0).any()):
            known = ", ".join(self.sizes.tables())
            raise ValueError(f"a position has other material than this network's: {known}")
        return self._q_values(boards, legal, rows), self._values(boards)

    def dense(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Q values [B, A] of all actions, legal or not, and values [B]."""
        boards = Boards.read(observations)
        count, actions = observations.shape[0], len(_moves()[0])
        rows = torch.arange(count).repeat_interleave(actions)
        legal = torch.arange(actions).repeat(count)
        q_values = self._q_values(boards, legal, rows).reshape(count, actions)
        return q_values, self._values(boards)

    def classes(self, rows: Tensor) -> Tensor:
        """Class logits [N, C] from rows [N, F] (`Layout.features_of`)."""
        logits: Tensor = self.output(self._layers(rows)[-1])
        return logits

    def activations(self, observations: Tensor) -> dict[str, Tensor]:
        """The two hidden layers, [B, W] and [B, H], of positions before any action."""
        placements = self.layout.placements(Boards.read(observations))
        layers = self._layers(self.layout.features_of(placements))
        return dict(zip(("first", "second"), layers, strict=True))

    def _layers(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        if self.sizes.half_rows:  # summed in full precision, or rounding would add up
            looked_up = self.rows.weight[rows].float().sum(1)
        else:
            looked_up = self.rows(rows)
        first = functional.relu(looked_up + self.bias)
        return first, functional.relu(self.second(first))

    def distances(self, logits: Tensor) -> Tensor:
        """The most probable class [N] of logits [N, C]; a win only with the margin CAUTION."""
        cautious = logits[:, :-1].max(-1)
        return torch.where(
            cautious.values > logits[:, -1] + CAUTION, cautious.indices, logits.shape[1] - 1
        )

    def worth_of(self, logits: Tensor) -> Tensor:
        """Values in [0, 1] for the strong side from class logits [N, C]."""
        means = logits.softmax(-1) @ self.worth
        return (self.worth[self.distances(logits)] + MEAN_SHARE * means) / (1 + MEAN_SHARE)

    def _q_values(self, boards: Boards, legal: Tensor, rows: Tensor) -> Tensor:
        after = boards.after(legal, rows)
        logits, won = self._evaluate(after)
        best = self.worth_of(logits) * won
        # After an action the other side is to move.
        return torch.where(after.strong_to_move == 0, best, -best)

    def _values(self, boards: Boards) -> Tensor:
        logits, won = self._evaluate(boards)
        expected = (1 - logits.softmax(-1)[:, -1]) * won
        return torch.where(boards.strong_to_move == 1, expected, -expected)

    def _evaluate(self, boards: Boards) -> tuple[Tensor, Tensor]:
        """Class logits [N, C], and 0.0 where neither side can win, else 1.0 [N]."""
        placements = self.layout.placements(boards)
        alive = (placements.ending >= 0).to(self.bias.dtype)
        return self.classes(self.layout.features_of(placements)), alive


def halved(network: Endgame) -> Endgame:
    """The same network with its rows in half precision."""
    sizes = network.sizes.model_copy(update={"half_rows": True})
    small = Endgame(network.observation, network.actions, sizes)
    weights = network.state_dict()
    weights["rows.weight"] = weights["rows.weight"].half()
    small.load_state_dict(weights)
    return small.eval()


class Boards(NamedTuple):
    """N positions as the strong side sees them."""

    strong_to_move: Tensor  # int64 [N]
    king: Tensor  # int64 [N], square of the strong king
    weak: Tensor  # int64 [N], square of the weak king
    pieces: Tensor  # bool [N, 5, 64]: where the strong side has Q R B N P

    @staticmethod
    def read(observations: Tensor) -> Boards:
        """Read `planes12` [N, 12, 8, 8]; the strong side has more than a king."""
        planes = observations.reshape(-1, 2, 6, 64) > 0.5  # own, the opponent's
        own_pieces = planes[:, 0, :KING_PLANE].flatten(1).any(1)
        strong_to_move = own_pieces.long()
        # The observation is the mover's: a weak mover sees the strong side's board upside down.
        flipped = planes.reshape(-1, 2, 6, 8, 8).flip(3).reshape(-1, 2, 6, 64)
        choose = own_pieces[:, None, None]
        strong = torch.where(choose, planes[:, 0], flipped[:, 1])
        weak = torch.where(choose, planes[:, 1], flipped[:, 0])
        return Boards(
            strong_to_move,
            strong[:, KING_PLANE].int().argmax(-1),
            weak[:, KING_PLANE].int().argmax(-1),
            strong[:, PLANES],
        )

    def after(self, actions: Tensor, rows: Tensor) -> Boards:
        """The boards [L] after actions [L] in positions `rows` [L]."""
        origin, target, promotion = (torch.from_numpy(table)[actions] for table in _moves())
        mover = self.strong_to_move[rows]
        flip = torch.where(mover == 1, 0, 56)
        origin, target = origin ^ flip, target ^ flip
        every = torch.arange(64)
        from_here = (every == origin[:, None])[:, None]  # [L, 1, 64]
        to_here = (every == target[:, None])[:, None]
        pieces = self.pieces[rows]
        strong = (mover == 1)[:, None, None]
        moved = (pieces & from_here).any(-1)  # [L, 5], the kind of the piece that moves
        # A pawn that reaches the last rank becomes the action's piece, a queen by default.
        promotes = moved[:, 4] & (target >= 56)
        became = torch.arange(5) == promotion[:, None]
        moved = torch.where(promotes[:, None], became, moved)
        stronger = (pieces & ~from_here) | (moved[:, :, None] & to_here)
        king, weak = self.king[rows], self.weak[rows]
        return Boards(
            1 - mover,
            torch.where((mover == 1) & (king == origin), target, king),
            torch.where((mover == 0) & (weak == origin), target, weak),
            torch.where(strong, stronger, pieces & ~to_here),
        )


class Layout:
    """The mapping from placements to rows of the embedding table.

    Each ending and side to move has one row per square of each piece, then one per pair of squares
    of each pair of pieces. Only squares that a piece can have after mirroring are counted.
    """

    def __init__(self, endings: list[str], settled: bool = False) -> None:
        """Count the rows of these endings; `settled`: those without pawns end the game."""
        self.endings = endings
        self.settled = settled
        self.pieces = max(len(name) - 3 for name in endings)  # beside the kings, at most
        count = self.pieces + 2
        pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
        self.features = count + len(pairs)
        self.first = torch.tensor([*range(count), *(i for i, _ in pairs)])
        self.second = torch.tensor([*range(count), *(j for _, j in pairs)])
        self.is_pair = torch.tensor([0] * count + [1] * len(pairs))
        numbers, sizes = zip(*(_numbering(name, count) for name in endings), strict=True)
        self.numbers = torch.from_numpy(np.stack(numbers))  # [E, count, 64]
        self.counts = torch.tensor(
            [[name[1:-2].count(piece) for piece in PIECES] for name in endings]
        )
        self.has_pawn = self.counts[:, 4] > 0
        self.offsets, self.strides, self.rows = self._offsets(sizes)

    def _offsets(self, sizes: tuple[list[int], ...]) -> tuple[Tensor, Tensor, int]:
        offsets = torch.zeros((len(self.endings), 2, self.features), dtype=torch.int64)
        strides = torch.zeros((len(self.endings), self.features), dtype=torch.int64)
        rows = 0
        for ending, lengths in enumerate(sizes):
            # After a promotion that ends the game only the weak side can be to move.
            sides = 1 if self.settled and not self.has_pawn[ending] else 2
            for feature in range(self.features):
                one, two = lengths[self.first[feature]], lengths[self.second[feature]]
                pair = bool(self.is_pair[feature])
                strides[ending, feature] = two if pair else 1
                for side in range(sides):
                    offsets[ending, side, feature] = rows
                    rows += one * two if pair else one
        return offsets, strides, rows

    def placements(self, boards: Boards) -> Placements:
        """Find the ending and the squares, mirrored into the canonical part of the board.

        The mirroring is that of `core/endings/ending_states.cpp`; tests compare the two.
        """
        counts = boards.pieces.sum(-1)  # [N, 5]
        same = (counts[:, None] == self.counts).all(-1)  # [N, E]
        ending = torch.where(same.any(-1), same.int().argmax(-1), -1)
        # Sort the pieces by kind and square: the largest keys first.
        places = torch.arange(5 * 64)
        keys = torch.where(boards.pieces.flatten(1), 5 * 64 - places, 0)
        found = keys.topk(self.pieces, dim=1).values
        index = torch.where(found > 0, 5 * 64 - found, 5 * 64)  # beyond the last piece: 320
        kinds, squares = index // 64, index % 64
        pawn = self.has_pawn[ending]
        first_pawn = torch.where(kinds == 4, squares, 64).min(1).values % 64
        anchor = torch.where(pawn, first_pawn, boards.king)
        mirror = torch.where((anchor & 7) > 3, 7, 0)
        mirror = mirror ^ torch.where(~pawn & ((anchor >> 3) > 3), 56, 0)
        anchor = anchor ^ mirror
        transpose = (~pawn & ((anchor >> 3) > (anchor & 7)))[:, None]
        both = torch.stack([boards.king, boards.weak], 1)
        moved = torch.cat([both, squares], 1) ^ mirror[:, None]
        moved = torch.where(transpose, (moved & 7) << 3 | moved >> 3, moved)
        # Mirroring may have changed the order of equal pieces.
        order = (kinds * 64 + moved[:, 2:]).sort(1).values
        rest = torch.where(order < 5 * 64, order % 64, 0)
        return Placements(ending, boards.strong_to_move, torch.cat([moved[:, :2], rest], 1))

    def features_of(self, placements: Placements) -> Tensor:
        """Rows [N, F] of placements; those without an ending get rows of the first."""
        ending = placements.ending.clamp(min=0)
        pieces = torch.arange(placements.squares.shape[1])
        numbers = self.numbers[ending[:, None], pieces, placements.squares]  # [N, count]
        offsets = self.offsets[ending, placements.strong_to_move]
        one, two = numbers[:, self.first], numbers[:, self.second]
        return offsets + one * self.strides[ending] + two * self.is_pair


def _numbering(name: str, count: int) -> tuple[NDArray[np.int64], list[int]]:
    """Index [count, 64] of each square among those a piece can have, and their number."""
    pieces = name[1:-2]
    first_pawn = pieces.find("P")
    numbers = np.zeros((count, 64), dtype=np.int64)
    sizes = []
    for slot in range(count):
        kind = "Kk"[slot] if slot < 2 else pieces[slot - 2 : slot - 1]
        allowed = [square for square in range(64) if kind]
        if kind == "P":
            allowed = [s for s in allowed if 8 <= s < 56]
            if slot - 2 == first_pawn and pieces.count("P") == 1:
                allowed = [s for s in allowed if s % 8 < 4]
        elif kind == "K" and first_pawn < 0:
            allowed = [s for s in allowed if s % 8 < 4 and s // 8 <= s % 8]
        numbers[slot, allowed] = np.arange(len(allowed))
        sizes.append(max(1, len(allowed)))
    return numbers, sizes


@cache
def _moves() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Origin, target and promotion (index in PIECES) of every action of az4672, [4672] each.

    A target off the board, which no legal action has, becomes the origin.
    """
    promotions = [0] * (len(PLANE_STEPS) - 9) + [PIECES.index(piece) for piece in "NNNBBBRRR"]
    moves = []
    for origin in range(64):
        for (ranks, files), promotion in zip(PLANE_STEPS, promotions, strict=True):
            rank, file = origin // 8 + ranks, origin % 8 + files
            inside = 0 <= rank < 8 and 0 <= file < 8
            moves.append((origin, 8 * rank + file if inside else origin, promotion))
    origins, targets, promoted = np.array(moves, dtype=np.int64).T.copy()
    return origins, targets, promoted
