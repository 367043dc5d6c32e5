"""A value network with six weights: what each kind of piece is worth."""

import torch
from pydantic import Field
from torch import Tensor, nn

from rookery.base.section import Section


class PointsSizes(Section):
    """Sizes of the family `points`."""

    spread: float = Field(default=0.01, gt=0)
    """Standard deviation of the first weights."""


class Points(nn.Module):
    """Observations `vector66`; a `rookery.nets.ValueNetwork`."""

    family = "points"
    Sizes = PointsSizes
    bounded = True  # values are in [-1, 1]

    def __init__(self, observation: str, actions: str, sizes: PointsSizes) -> None:
        super().__init__()
        if (observation, actions) != ("vector66", "none"):
            raise ValueError(f"the family 'points' reads vector66, not {observation!r}")
        self.observation, self.actions, self.sizes = observation, actions, sizes
        self.worth = nn.Parameter(torch.zeros(6))  # pawn, knight, bishop, rook, queen, king

    def initialise(self, generator: torch.Generator | None = None) -> None:
        with torch.no_grad():
            self.worth.normal_(0.0, self.sizes.spread, generator=generator)

    def values(self, observations: Tensor) -> Tensor:
        """Values [B] for the side to move; a square holds 0, 1-6 (own) or 7-12 (opponent's)."""
        table = torch.cat([self.worth.new_zeros(1), self.worth, -self.worth])
        return table[observations[:, :64].long()].sum(1).tanh()
