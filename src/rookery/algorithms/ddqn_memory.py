"""The replay memory of double DQN: positions, the leaves of their searches, targets, priorities.

    games --> positions [N, 32] + leaves [N, 32] --target network--> judged [N] --> targets [N]
                                                  --online network--> errors --> priorities [N]

core/datagen/transitions.h defines positions and leaves. Only the transitions are kept on disk, in
replay/; what the networks say about them is computed again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from rookery.base.scales import SCORE_SCALE, scores_of_values
from rookery.runs.positions import PositionFormat, Samples, fields
from rookery.runs.replay import Replay
from rookery.runs.state import State

DECIDED, LAST, ENDED, QUIET = 1, 2, 4, 8  # flags of a leaf, in its field `game`
MATE_SCORE = 20_000  # larger scores of decided leaves are mates
LARGEST_VALUE = 0.999  # limit of targets, so that their logits are finite
SHARD = 1 << 16  # rows of a file in replay/, two for each transition
SETTLED = 0.1  # largest difference of a leaf's value from that of its search
SMALLEST_PRIORITY = 0.01  # of an error in [0, 2], so that every position can be drawn

Values = NDArray[np.float32]
_NOTHING: Samples = np.zeros((0, 32), dtype=np.uint8)
Judge = Callable[[Samples], Values]  # values [N] in [-1, 1] for the side to move


def flags(leaves: Samples, flag: int) -> NDArray[np.bool_]:
    """Whether each leaf [N, 32] has a flag, [N]."""
    return np.asarray(fields(leaves)["game"] & flag, dtype=np.bool_)


def search_values(leaves: Samples) -> Values:
    """The searches' values [N] of their leaves, for the side to move there; 1 and -1 for mates."""
    scores = fields(leaves)["score"].astype(np.float32)
    values = np.tanh(scores / (2.0 * SCORE_SCALE))
    return np.where(np.abs(scores) > MATE_SCORE, np.sign(scores), values).astype(np.float32)


def settle(leaves: Samples, judge: Judge) -> float:
    """Decide leaves that do not have the value of their search; their share.

    `judge` is the network that searched. A principal variation may be cut short, mostly by the
    transposition table, and end in the middle of an exchange; the search's value then counts.
    """
    undecided = ~flags(leaves, DECIDED)
    unsettled = undecided & (np.abs(judge(leaves) - search_values(leaves)) > SETTLED)
    fields(leaves)["game"] |= np.where(unsettled, DECIDED, 0).astype(np.uint8)
    return float(unsettled.mean()) if len(leaves) else 0.0


def judge_leaves(positions: Samples, leaves: Samples, judge: Judge) -> Values:
    """Values [N] of leaves for the side to move in their positions; decided ones by the rules."""
    values = np.where(flags(leaves, DECIDED), search_values(leaves), judge(leaves))
    same = ((fields(leaves)["state"] ^ fields(positions)["state"]) & 1) == 0
    return np.where(same, values, -values).astype(np.float32)


def returns(
    positions: Samples, leaves: Samples, judged: Values, gamma: float, lambda_: float
) -> Values:
    """Targets [N]: lambda-returns of the values of the leaves, for the side to move.

        target(t) = (1 - lambda) judged(t) - lambda gamma target(t + 1)

    A game that ended gives its result. Before an exploratory move, and where a game was cut off,
    target(t) = judged(t), as in Watkins's Q(lambda).
    """
    last = np.flatnonzero(flags(leaves, LAST))
    targets = judged.copy()
    ended = flags(leaves, ENDED)
    result = ((fields(positions)["state"] >> 5) & 3).astype(np.float32) - 1.0
    targets[ended] = result[ended]
    lengths = np.diff(last, prepend=-1)
    order = np.argsort(-lengths, kind="stable")
    last, lengths = last[order], lengths[order]
    for back in range(1, int(lengths.max(initial=1))):
        place = last[: np.searchsorted(-lengths, -back)] - back  # of the chains this long
        following = lambda_ * gamma * targets[place + 1]
        targets[place] = (1.0 - lambda_) * judged[place] - following
    return targets


class Memory:
    """The newest transitions of a run, at most `size`.

    Only the number of transitions decides what a shard holds: a run has the same files however
    often it is saved. The checkpoint holds the transitions that are in no shard yet.
    """

    def __init__(
        self, folder: Path, size: int, keep_checkpoints: int, report: Callable[[str], None]
    ) -> None:
        """Use the run's replay folder."""
        self.size = size
        self.shards: Replay[Samples] = Replay(folder, PositionFormat(), keep_checkpoints, report)
        self.positions: Samples = _NOTHING
        self.leaves: Samples = _NOTHING
        self.judged = np.zeros(0, dtype=np.float32)  # by the target network, side to move
        self.targets = self.judged
        self.priorities = self.judged  # 0 where a position is not learnt from
        self._unwritten: list[Samples] = []

    def __len__(self) -> int:
        """Positions in the memory."""
        return len(self.positions)

    def add(self, transitions: Samples) -> slice:
        """Append transitions [2N, 32], drop the oldest; the places of the new ones."""
        self._unwritten.append(transitions)
        pairs = transitions.reshape(-1, 2, 32)
        self._append(pairs[-self.size :])
        if self._unwritten_rows() >= SHARD:
            self.shards.add(np.concatenate(self._unwritten))
            self._unwritten = []
        self.shards.drop_oldest(2 * len(self) - self._unwritten_rows())
        return slice(len(self) - min(len(pairs), self.size), len(self))

    def _unwritten_rows(self) -> int:
        return sum(map(len, self._unwritten))

    def _append(self, pairs: Samples) -> None:
        drop = max(0, len(self) + len(pairs) - self.size)
        self.positions = np.concatenate([self.positions[drop:], pairs[:, 0]])
        self.leaves = np.concatenate([self.leaves[drop:], pairs[:, 1]])
        unknown = np.zeros(len(pairs), dtype=np.float32)
        self.judged, self.targets, self.priorities = (
            np.concatenate([values[drop:], unknown])
            for values in (self.judged, self.targets, self.priorities)
        )

    def judge(self, places: slice, judge: Judge, gamma: float, lambda_: float) -> None:
        """Let the target network judge leaves, and compute the targets; whole games only."""
        positions, leaves = self.positions[places], self.leaves[places]
        self.judged[places] = judge_leaves(positions, leaves, judge)
        self.retarget(places, gamma, lambda_)

    def retarget(self, places: slice, gamma: float, lambda_: float) -> None:
        """Compute the targets of whole games from the judged values."""
        self.targets[places] = returns(
            self.positions[places], self.leaves[places], self.judged[places], gamma, lambda_
        )

    def prioritise(self, places: slice | NDArray[np.int64], judge: Judge, power: float) -> None:
        """Set priorities from the errors of the online network `judge`; power 0: all alike."""
        learnt = flags(self.leaves[places], QUIET)
        if power:
            errors = np.abs(self.targets[places] - judge(self.positions[places]))
            self.priorities[places] = np.where(learnt, (errors + SMALLEST_PRIORITY) ** power, 0.0)
        else:
            self.priorities[places] = learnt

    def draw(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Places [count] of positions to learn from, by priority."""
        sums = np.cumsum(self.priorities, dtype=np.float64)
        if not len(sums) or not sums[-1] > 0:
            return np.zeros(0, dtype=np.int64)
        drawn = np.searchsorted(sums, rng.random(count) * sums[-1], side="right")
        return np.asarray(np.minimum(drawn, len(sums) - 1), dtype=np.int64)

    def samples(self, places: NDArray[np.int64]) -> Samples:
        """Positions with their targets as scores, for the native learner."""
        chosen = self.positions[places]
        values = self.targets[places].clip(-LARGEST_VALUE, LARGEST_VALUE)
        fields(chosen)["score"] = np.rint(scores_of_values(values)).astype(np.int16)
        return chosen

    # --- Resuming ---

    def put(self, state: State) -> None:
        """Store the list of shards, the transitions that are in none, and the priorities."""
        state.values["memory"] = {"shards": self.shards.state(), "positions": len(self)}
        unwritten = np.concatenate([_NOTHING, *self._unwritten])
        arrays = {"unwritten": unwritten, "priorities": self.priorities}
        state.put_tensors("memory", {k: torch.from_numpy(v) for k, v in arrays.items()})

    def get(self, state: State) -> bool:
        """Read the transitions; nothing is judged yet. False if shards were lost.

        Then the priorities, which belong to the places of the transitions, are lost too.
        """
        stored, tensors = state.value("memory"), state.get_tensors("memory")
        unwritten = tensors["unwritten"].numpy().copy()
        self._unwritten = [unwritten] if len(unwritten) else []
        shards = self.shards.restore(stored["shards"]).values()
        pairs = np.concatenate([_NOTHING, *shards, unwritten]).reshape(-1, 2, 32)
        self._append(pairs[max(0, len(pairs) - int(stored["positions"])) :])
        if len(self) != int(stored["positions"]):
            return False
        self.priorities = tensors["priorities"].numpy().copy()
        return True
