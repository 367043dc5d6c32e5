"""Exact endgames by fitted Q iteration over all states, for both sides.

Riedmiller, "Neural Fitted Q Iteration" (2005): compute a target for every state from the network's
values of its successors, fit the network to the targets, repeat. With

    n(s)     the distance to the win that the target network finds most probable (or "not won"),
             for every position s with either side to move; Q(s, a) is n of the position after a
    T(n)(s)  one ply of minimax: the strong side takes the smallest n plus one move, the weak side
             the greatest; the rules decide where the game is over

the target of s is T(...T(n))(s), `plies` times, and the loss is the cross-entropy between it and
the network's distribution. The only external knowledge is the legal moves and the end of the game.

When n = T(n) for every state, n is exact: a win in m moves has a successor that wins in m - 1, down
to a real end of the game, so no win is false; and by induction over m none is missed. The run thus
detects that it is done (`solved`) without any tablebase.
"""

from __future__ import annotations

import copy
import math
import time
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from rookery._core import NOT_WON, EndingStates
from rookery.algorithms.endgame_recipe import EndgameRecipe
from rookery.nets import ActionValueNetwork, make_network
from rookery.nets.endings.network import Endgame
from rookery.nets.endings.values import Values
from rookery.runs.state import State
from rookery.training.trainer import Context, MatchScore, Metrics, Trainer

# --- Evaluation against the exact solution, not used for learning ---


@dataclass(frozen=True)
class Grade:
    """Results of the greedy player from all states against a perfect opponent."""

    won_states: int  # with the strong side to move
    won: int  # ... that it wins
    moves: float  # mean length of these wins
    best_moves: float  # the same with perfect play
    drawn_states: int  # with the weak side to move
    held: int  # ... that it holds


def truth_of(states: EndingStates) -> Values:
    """The exact values, by repeated minimax from the ends of the games."""
    values = np.full(len(states), NOT_WON, dtype=np.uint8)
    while True:
        following = states.backup(values)
        if (following == values).all():
            return values
        values = following


def grade(states: EndingStates, values: Values, truth: Values) -> Grade:
    """Both sides playing greedily by `values`, each against a perfect opponent."""
    strong = states.strong_to_move() == 1
    attack, defence = states.play(values, True), states.play(values, False)
    won = strong & (truth != NOT_WON)
    converted = won & (attack != NOT_WON)
    drawn = ~strong & (truth == NOT_WON)
    return Grade(
        won_states=int(won.sum()),
        won=int(converted.sum()),
        moves=float(attack[converted].mean()) if converted.any() else 0.0,
        best_moves=float(truth[converted].mean()) if converted.any() else 0.0,
        drawn_states=int(drawn.sum()),
        held=int((drawn & (defence == NOT_WON)).sum()),
    )


# --- The loop ---


class EndgameTrainer(Trainer):
    """Evaluate, back up, fit; see `rookery.training.trainer.Trainer`."""

    def __init__(self, context: Context[EndgameRecipe]) -> None:
        """Enumerate the states; make the network, its target copy and the optimiser."""
        self.context = context
        sizes = context.recipe.network
        self.states = EndingStates(sizes.endings, sizes.goal)
        generator = context.torch_generator("weights")
        self.network: Endgame = make_network("endgame", "planes12", "az4672", sizes, generator)
        self.target: Endgame = copy.deepcopy(self.network)
        self.optimizer = torch.optim.Adam(
            self.network.parameters(), lr=context.recipe.fitting.learning_rate, fused=True
        )
        self._state_rows = self.network.layout.state_rows(self.states)
        self.rows = torch.from_numpy(self._state_rows)
        self.rng = context.generator("order")
        self._evaluate_states()
        self._truth: Values | None = None

    def _evaluate_states(self) -> None:
        """Compute the target network's values, and count those that one ply of minimax changes."""
        self.values = self.target.meaning.state_distances(self._state_rows, self.target.logits)
        self.wrong = int((self.states.backup(self.values) != self.values).sum())

    @property
    def solved(self) -> bool:
        """Whether every state agrees with its successors."""
        return self.wrong == 0

    def iterate(self) -> Metrics:
        """Compute the targets, fit the network, count the states that are still wrong."""
        settings, began = self.context.recipe.fitting, time.perf_counter()
        targets = self.values
        for _ in range(settings.plies):
            targets = self.states.backup(targets)
        # The learning rate falls with the ratio of wrong states to known wins.
        won = max(1, int((self.values != NOT_WON).sum()))
        scale = min(1.0, self.wrong / won / settings.knee)
        for group in self.optimizer.param_groups:
            group["lr"] = max(settings.learning_rate * scale, settings.final_learning_rate)
        loss, samples = self._fit(targets, targets != self.values)
        learnt = time.perf_counter()
        self._evaluate_states()
        if self.solved:
            self.context.log("every state agrees with its successors: the ending is solved")
        return Metrics(
            samples=samples,
            losses={"distance": loss},
            values={
                "states": float(len(self.states)),
                "wrong": float(self.wrong),
                "won": float((self.values != NOT_WON).mean()),
                "learning_rate": self.optimizer.param_groups[0]["lr"],
            },
            timing={"learn": learnt - began, "judge": time.perf_counter() - learnt},
        )

    def _fit(self, targets: Values, wrong: NDArray[np.bool_]) -> tuple[float, int]:
        """Learn from random states and all wrong ones, in random order; mean loss and count."""
        settings, count = self.context.recipe.fitting, len(self.states)
        some = self.rng.permutation(count)[: math.ceil(settings.share * count)]
        extra = np.tile(np.flatnonzero(wrong), settings.repeat)
        extra = self.rng.permutation(extra)[: int(settings.repeat_share * count)]
        order = self.rng.permutation(np.concatenate([some, extra]))
        longest = self.network.sizes.moves
        classes = torch.from_numpy(np.minimum(targets, longest + 1).astype(np.int64))
        total = 0.0
        for start in range(0, len(order), settings.minibatch):
            self.context.check_stop()
            index = torch.from_numpy(order[start : start + settings.minibatch])
            logits = self.network.classes(self.rows[index])
            loss = functional.cross_entropy(logits, classes[index])
            self.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimizer.step()
            with torch.no_grad():  # Polyak averaging
                weights, target = self.network.parameters(), self.target.parameters()
                torch._foreach_lerp_(list(target), list(weights), settings.target_rate)
            total += float(loss.detach()) * len(index)
        return total / len(order), len(order)

    def model(self) -> ActionValueNetwork:
        """The target network: averaged weights play better."""
        return self.target

    def evaluate(self, rng: np.random.Generator) -> list[MatchScore]:
        """The greedy player against a perfect opponent, from every state."""
        if self._truth is None:
            self._truth = truth_of(self.states)
        found = grade(self.states, self.values, self._truth)
        return [
            MatchScore(
                opponent="perfect",
                is_match=False,
                as_white=(found.won, 0, found.won_states - found.won),
                as_black=(0, found.held, found.drawn_states - found.held),
                values={
                    "win_rate": found.won / max(1, found.won_states),
                    "hold_rate": found.held / max(1, found.drawn_states),
                    "mean_moves": found.moves,
                    "best_moves": found.best_moves,
                },
            )
        ]

    def state(self) -> State:
        """Both networks, the optimiser, the random stream."""
        state = State()
        state.put_module("network", self.network)
        state.put_module("target", self.target)
        state.put_optimizer("optimizer", self.optimizer)
        state.put_generator("order", self.rng)
        return state

    def load_state(self, state: State) -> None:
        """Restore both networks, the optimiser and the random stream."""
        state.get_module("network", self.network)
        state.get_module("target", self.target)
        state.get_optimizer("optimizer", self.optimizer)
        state.get_generator("order", self.rng)
        self._evaluate_states()
