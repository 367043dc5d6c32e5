"""A network of the family `endgame`, asked about all states of its endings at once."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rookery._core import NOT_WON, EndingStates
from rookery.nets.endgame import Endgame, Placements

Values = NDArray[np.uint8]  # [N] moves of the strong side to its win, or NOT_WON
JUDGED = 16384  # states that the network looks at in one call


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
    """The distance that the network finds most probable for each state."""
    found = np.empty(len(rows), dtype=np.uint8)
    with torch.inference_mode():
        for start in range(0, len(rows), JUDGED):
            part = slice(start, start + JUDGED)
            found[part] = network.distances(network.classes(rows[part])).numpy()
    found[found > network.sizes.moves] = NOT_WON
    return found


def state_worth(network: Endgame, states: EndingStates) -> NDArray[np.float32]:
    """What each state is worth to the strong side, as the network's Q values say it, [N]."""
    rows = state_rows(states, network)
    parts = []
    with torch.inference_mode():
        for start in range(0, len(rows), JUDGED):
            logits = network.classes(rows[start : start + JUDGED])
            parts.append(network.worth_of(logits).numpy())
    return np.concatenate(parts)
