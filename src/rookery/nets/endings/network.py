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

from typing import Literal

import torch
from pydantic import Field, field_validator
from torch import Tensor, nn
from torch.nn import functional

from rookery.base.section import Section
from rookery.nets.endings.layout import Boards, Ints, is_ending, moves_of_actions, tables_of
from rookery.nets.endings.values import EndgameValues, Floats

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
        return tables_of(self.endings, self.goal)


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
        self.meaning = EndgameValues(sizes.endings, sizes.goal, sizes.moves)
        self.layout = self.meaning.layout
        precision = torch.float16 if sizes.half_rows else torch.float32
        self.rows = nn.EmbeddingBag(self.layout.rows, sizes.width, mode="sum", dtype=precision)
        self.bias = nn.Parameter(torch.zeros(sizes.width))
        self.second = nn.Linear(sizes.width, sizes.hidden)
        self.output = nn.Linear(sizes.hidden, sizes.moves + 2)

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
        planes, actions, places = (t.detach().cpu().numpy() for t in (observations, legal, rows))
        q_values, values = self.meaning.action_values(planes, actions, places, self.logits)
        return torch.from_numpy(q_values), torch.from_numpy(values)

    def dense(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Q values [B, A] of all actions, legal or not, and values [B]."""
        boards = Boards.read(observations.cpu().numpy())
        count, actions = observations.shape[0], len(moves_of_actions()[0])
        rows = torch.arange(count).repeat_interleave(actions).numpy()
        legal = torch.arange(actions).repeat(count).numpy()
        q_values = self.meaning.q_values(boards, legal, rows, self.logits).reshape(count, actions)
        values = self.meaning.values(boards, self.logits)
        return torch.from_numpy(q_values), torch.from_numpy(values)

    def classes(self, rows: Tensor) -> Tensor:
        """Class logits [N, C] from rows [N, F] (`Layout.features_of`)."""
        logits: Tensor = self.output(self._layers(rows)[-1])
        return logits

    def activations(self, observations: Tensor) -> dict[str, Tensor]:
        """The two hidden layers, [B, W] and [B, H], of positions before any action."""
        placements = self.layout.placements(Boards.read(observations.cpu().numpy()))
        rows = torch.from_numpy(self.layout.features_of(placements))
        layers = self._layers(rows.to(self.bias.device))
        return dict(zip(("first", "second"), layers, strict=True))

    def _layers(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        if self.sizes.half_rows:  # summed in full precision, or rounding would add up
            looked_up = self.rows.weight[rows].float().sum(1)
        else:
            looked_up = self.rows(rows)
        first = functional.relu(looked_up + self.bias)
        return first, functional.relu(self.second(first))

    def logits(self, rows: Ints) -> Floats:
        """The same from and to arrays, without gradients."""
        with torch.inference_mode():
            found: Floats = self.classes(torch.from_numpy(rows).to(self.bias.device)).cpu().numpy()
        return found


def halved(network: Endgame) -> Endgame:
    """The same network with its rows in half precision."""
    sizes = network.sizes.model_copy(update={"half_rows": True})
    small = Endgame(network.observation, network.actions, sizes)
    weights = network.state_dict()
    weights["rows.weight"] = weights["rows.weight"].half()
    small.load_state_dict(weights)
    return small.eval()
