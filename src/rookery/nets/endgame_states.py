"""Batch evaluation of all states of the endings of an `endgame` network."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rookery._core import NOT_WON, EndingStates
from rookery.nets.endgame import Endgame, Placements

Values = NDArray[np.uint8]  # [N] moves of the strong side to its win, or NOT_WON
BATCH = 16384  # states per call of the network


def state_rows(states: EndingStates, network: Endgame) -> Tensor:
    """Rows [N, F] that the network looks up for each state."""
    stored = torch.from_numpy(states.squares().astype(np.int64))  # strong king, pieces, weak king
    ending = torch.from_numpy(states.ending_of().astype(np.int64))
    squares = torch.zeros((len(states), network.layout.pieces + 2), dtype=torch.int64)
    squares[:, 0] = stored[:, 0]
    for index, name in enumerate(states.endings):
        here, last = ending == index, len(name) - 2
        squares[here, 1] = stored[here, last]
        squares[here, 2 : last + 1] = stored[here, 1:last]
    strong = torch.from_numpy(states.strong_to_move().astype(np.int64))
    return network.layout.features_of(Placements(ending, strong, squares))


def state_distances(network: Endgame, rows: Tensor) -> Values:
    """The predicted distance of each state, or NOT_WON."""
    with torch.inference_mode():
        parts = [network.distances(network.classes(part)) for part in torch.split(rows, BATCH)]
    found: Values = torch.cat(parts).numpy().astype(np.uint8)
    found[found > network.sizes.moves] = NOT_WON
    return found


def state_worth(network: Endgame, states: EndingStates) -> NDArray[np.float32]:
    """Value [N] of each state for the strong side, as in the network's Q values."""
    rows = state_rows(states, network)
    with torch.inference_mode():
        parts = [network.worth_of(network.classes(part)) for part in torch.split(rows, BATCH)]
    worth: NDArray[np.float32] = torch.cat(parts).numpy()
    return worth
