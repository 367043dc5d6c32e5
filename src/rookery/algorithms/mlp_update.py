"""PPO's step for the family `mlp`, with its gradients written out.

The network of paper 000 is small enough that autograd's bookkeeping, and Adam's work on actions
that no position has, cost more than the products. Here

- the gradients of `rookery.algorithms.ppo.losses` are formulas (tested against autograd),
- only the 1,858 (1,859 with the draw claim) actions that exist on a board are learnt: the rows of
  the others never get a gradient, so Adam would leave them as they are,
- all weights lie behind each other in one vector, so that Adam is one call,
- samples are put into the order of a pass once, and minibatches are slices.

Weights, optimiser and results are the same as with autograd, but for rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rookery.encodings import ACTIONS, DIRECTIONS, KNIGHT_JUMPS, PLANES_PER_ORIGIN
from rookery.nets import ragged
from rookery.nets.mlp import Mlp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rookery.algorithms.ppo import Batch

ADAM_EPSILON = 1e-5
ALIGNMENT = 16  # floats of a cache line, where every matrix begins
QUEEN_PLANES, KNIGHT_PLANES = 56, 8
STEPS = {"N": (1, 0), "E": (0, 1), "S": (-1, 0), "W": (0, -1)}


@dataclass(frozen=True)
class Weights:
    """What the terms of the objective are multiplied by, and where they are cut off."""

    clip: float
    value: float
    value_clip: float  # 0: never
    entropy: float
    kl: float
    gradient_norm: float  # 0: never scaled down


def existing_actions(name: str) -> NDArray[np.int64]:
    """The actions of `az4672` or `az4673` that some move on an 8x8 board has, ascending."""
    found = []
    for origin in range(64):
        rank, file = divmod(origin, 8)
        for plane in range(PLANES_PER_ORIGIN):
            to_rank, to_file = _target(rank, file, plane)
            if 0 <= to_rank < 8 and 0 <= to_file < 8:
                found.append(origin * PLANES_PER_ORIGIN + plane)
    return np.array(found + list(range(64 * PLANES_PER_ORIGIN, ACTIONS[name].count)))


def _target(rank: int, file: int, plane: int) -> tuple[int, int]:
    """Where a plane leads to, maybe off the board; an under-promotion only from the 7th rank."""
    if plane < QUEEN_PLANES:
        steps = [STEPS[letter] for letter in DIRECTIONS[plane // 7]]
        distance = plane % 7 + 1
        return (
            rank + distance * sum(step[0] for step in steps),
            file + distance * sum(step[1] for step in steps),
        )
    if plane < QUEEN_PLANES + KNIGHT_PLANES:
        jump = KNIGHT_JUMPS[plane - QUEEN_PLANES]
        return rank + jump[0], file + jump[1]
    return (7 if rank == 6 else -1), file + (plane - QUEEN_PLANES - KNIGHT_PLANES) % 3 - 1


@dataclass
class Minibatch:
    """Some samples, B of them with L legal actions in all."""

    observations: Tensor  # [B, inputs]
    legal: Tensor  # int64 [L], numbers of existing actions
    rows: Tensor  # int64 [L]
    offsets: Tensor  # int64 [B + 1]
    chosen: Tensor  # int64 [B], places in the list
    old: Tensor  # [L], log probabilities of the policy that acted
    advantages: Tensor  # [B]
    returns: Tensor  # [B]


class MlpUpdate:
    """Weights and optimiser of an `Mlp` while it learns; `publish` hands them to the network."""

    def __init__(self, network: Mlp, learning_rate: float) -> None:
        """Take the network's weights over."""
        self.network = network
        self.actions = torch.from_numpy(existing_actions(network.actions))
        self.number_of = torch.full((ACTIONS[network.actions].count,), -1)  # of an action, or -1
        self.number_of[self.actions] = torch.arange(len(self.actions))
        # Two vectors: the policy's last matrix, whose gradient comes as a tensor of its own, and
        # everything else.
        shapes = [self._part(tensor).shape for tensor in network.parameters()]
        self.matrix = 2 * len(network.sizes.hidden)  # place of that matrix among the parameters
        self.last = torch.nn.Parameter(torch.zeros(shapes[self.matrix]))
        rest = [shape for place, shape in enumerate(shapes) if place != self.matrix]
        sizes = [-(-shape.numel() // ALIGNMENT) * ALIGNMENT for shape in rest]
        self.others = torch.nn.Parameter(torch.zeros(sum(sizes)))
        self.others.grad = torch.zeros(sum(sizes))
        self.weights = _views(self.others.detach(), rest, sizes)
        self.weights.insert(self.matrix, self.last.detach())
        self.gradients = _views(self.others.grad, rest, sizes)
        self.gradients.insert(self.matrix, torch.empty(0))  # made anew in every step
        self.optimizer = torch.optim.Adam(
            [self.last, self.others], lr=learning_rate, eps=ADAM_EPSILON, fused=True
        )
        self.take()

    def _part(self, tensor: Tensor) -> Tensor:
        """The rows of existing actions, of a tensor that has a row per action; else all of it."""
        policy = self.network.policy
        if tensor is policy.weight or tensor is policy.bias:
            return tensor.detach()[self.actions]
        return tensor.detach()

    def take(self) -> None:
        """Copy the network's weights."""
        for mine, tensor in zip(self.weights, self.network.parameters(), strict=True):
            mine.copy_(self._part(tensor))

    def publish(self) -> None:
        """Copy the weights back."""
        policy = self.network.policy
        for mine, tensor in zip(self.weights, self.network.parameters(), strict=True):
            if tensor is policy.weight or tensor is policy.bias:
                tensor.detach()[self.actions] = mine
            else:
                tensor.detach().copy_(mine)

    # --- A pass ---

    def learn(
        self, batch: Batch, order: NDArray[np.int64], size: int, weights: Weights
    ) -> tuple[Tensor, int]:
        """Step through a batch in an order, `size` samples at a time.

        Returns:
            Sums of the steps' means of policy loss, value loss, entropy, KL [4]; their number.
        """
        sums, steps = torch.zeros(4, dtype=torch.float64), 0
        with torch.no_grad():
            for part in self._minibatches(batch, order, size):
                sums += self._step(part, weights)
                steps += 1
        return sums, steps

    def _minibatches(
        self, batch: Batch, order: NDArray[np.int64], size: int
    ) -> Iterator[Minibatch]:
        counts = batch.offsets[order + 1] - batch.offsets[order]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        entries = np.repeat(batch.offsets[order] - offsets[:-1], counts) + np.arange(offsets[-1])
        rows = torch.from_numpy(np.repeat(np.arange(len(order)), counts))
        index, listed = torch.from_numpy(order), torch.from_numpy(entries)
        observations = self.network.inputs(batch.observations[index])
        legal, old = self.number_of[batch.legal[listed]], batch.log_probabilities[listed]
        if len(legal) and int(legal.min()) < 0:
            raise ValueError("a legal action of the batch exists on no board")
        advantages, returns = batch.advantages[index], batch.returns[index]
        chosen = torch.from_numpy(offsets[:-1] + batch.places[order])
        places = torch.from_numpy(offsets)
        for start in range(0, len(order), size):
            stop = min(start + size, len(order))
            first, last = int(offsets[start]), int(offsets[stop])
            yield Minibatch(
                observations=observations[start:stop],
                legal=legal[first:last],
                rows=rows[first:last] - start,
                offsets=places[start : stop + 1] - first,
                chosen=chosen[start:stop] - first,
                old=old[first:last],
                advantages=advantages[start:stop],
                returns=returns[start:stop],
            )

    # --- A step ---

    def _step(self, part: Minibatch, weights: Weights) -> Tensor:
        """Gradients of all terms, then Adam; the terms [4]."""
        split = self.matrix + 2
        policy, value = self.weights[:split], self.weights[split:]
        # Forward.
        policy_layers = self._trunk(part.observations, policy)
        value_layers = self._trunk(part.observations, value)
        logits = ragged.sampled_product(policy_layers[-1], policy[-2], part.legal, part.offsets)
        logits += policy[-1].index_select(0, part.legal)
        values = torch.addmv(value[-1], value_layers[-1], value[-2][0])
        if self.network.bounded:
            values.tanh_()
        # Terms, and their gradients by logits and values.
        terms, by_logits, by_values = objective(part, logits, values, weights)
        if self.network.bounded:
            by_values *= 1.0 - values * values
        # Backward.
        policy_gradients, value_gradients = self.gradients[:split], self.gradients[split:]
        by_hidden, self.last.grad = ragged.product_gradients(
            by_logits, policy_layers[-1], policy[-2], part.legal, part.rows, part.offsets
        )
        policy_gradients[-1].zero_().index_add_(0, part.legal, by_logits)
        self._trunk_gradients(by_hidden, policy_layers, policy, policy_gradients)
        torch.mv(value_layers[-1].t(), by_values, out=value_gradients[-2][0])
        torch.sum(by_values, 0, keepdim=True, out=value_gradients[-1])
        by_hidden = torch.outer(by_values, value[-2][0])
        self._trunk_gradients(by_hidden, value_layers, value, value_gradients)
        # Adam.
        if weights.gradient_norm:
            torch.nn.utils.clip_grad_norm_([self.last, self.others], weights.gradient_norm)
        self.optimizer.step()
        return terms

    def _trunk(self, inputs: Tensor, weights: list[Tensor]) -> list[Tensor]:
        """The inputs and all hidden layers."""
        tanh = self.network.sizes.activation == "tanh"
        layers = [inputs]
        for weight, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
            hidden = torch.addmm(bias, layers[-1], weight.t())
            layers.append(_tanh_(hidden) if tanh else hidden.relu_())
        return layers

    def _trunk_gradients(
        self, gradient: Tensor, layers: list[Tensor], weights: list[Tensor], out: list[Tensor]
    ) -> None:
        """Walk back from the last hidden layer, whose gradient is given."""
        tanh = self.network.sizes.activation == "tanh"
        for number, (below, layer) in reversed(list(enumerate(pairwise(layers)))):
            if tanh:
                gradient = torch.ops.aten.tanh_backward(gradient, layer)
            else:
                gradient = gradient * (layer > 0)
            torch.mm(gradient.t(), below, out=out[2 * number])
            torch.sum(gradient, 0, out=out[2 * number + 1])
            if number:
                gradient = gradient @ weights[2 * number]


def _tanh_(values: Tensor) -> Tensor:
    """The hyperbolic tangent in place; torch's sigmoid is six times faster than its tanh."""
    return values.mul_(2.0).sigmoid_().mul_(2.0).sub_(1.0)


def _views(vector: Tensor, shapes: list[torch.Size], sizes: list[int]) -> list[Tensor]:
    """Parts of a vector as tensors; each takes up `sizes` of its entries."""
    parts = torch.split(vector, sizes)
    return [part[: shape.numel()].view(shape) for part, shape in zip(parts, shapes, strict=True)]


def objective(
    part: Minibatch, logits: Tensor, values: Tensor, weights: Weights
) -> tuple[Tensor, Tensor, Tensor]:
    """Terms of the objective [4], and the gradients of their weighted sum.

    With p the new policy, q the old one, a the chosen action, and everything a mean over B samples:

        d log p_a / d logit_j = [j = a] - p_j          d ratio / d log p_a = ratio
        d entropy / d logit_j = -p_j (log p_j + entropy)    d KL(q, p) / d logit_j = p_j - q_j

    Returns:
        Policy loss, value loss, entropy, KL; the gradient by the logits [L]; by the values [B].
    """
    rows, count = part.rows, len(values)
    new = ragged.log_softmax(logits, rows, count)
    probabilities, old_probabilities = new.exp(), part.old.exp()
    ratio = (new[part.chosen] - part.old[part.chosen]).exp()
    clipped = ratio.clamp(1 - weights.clip, 1 + weights.clip) * part.advantages
    gain = ratio * part.advantages
    surplus = probabilities * new.clamp(min=-1e30)
    entropy = -ragged.segment_sum(surplus, rows, count)
    divergence = old_probabilities * (part.old.clamp(min=-1e30) - new.clamp(min=-1e30))
    error = values - part.returns
    squared = error * error
    # Beyond the clip the objective is flat, unless the ratio went the wrong way.
    push = torch.where(gain <= clipped, gain, 0.0)
    by_logits = probabilities * push.index_select(0, rows)
    by_logits.index_add_(0, part.chosen, push, alpha=-1.0)
    if weights.entropy:
        by_logits += weights.entropy * (surplus + probabilities * entropy.index_select(0, rows))
    if weights.kl:
        by_logits += weights.kl * (probabilities - old_probabilities)
    by_values = (2.0 * weights.value / count) * error
    if weights.value_clip:
        by_values *= squared <= weights.value_clip
        squared = squared.clamp(max=weights.value_clip)
    terms = torch.stack(
        [
            -torch.minimum(gain, clipped).sum(),
            squared.sum(),
            entropy.sum(),
            divergence.sum(),
        ]
    )
    return terms / count, by_logits / count, by_values
