"""Operations on ragged lists of legal actions, without padding.

The legal actions of B positions are concatenated into one list of length L. `offsets` [B + 1] are
the indices where each position's actions begin and end (as in `VectorGames.legal_offsets`), `rows`
[L] is the position of each entry. Every position has at least one legal action.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

# Sampled dense-dense products need MKL's sparse library.
SAMPLED_PRODUCTS: bool = torch.backends.mkl.is_available()  # type: ignore[no-untyped-call]

# Entries gathered at a time without it: 4096 rows of 256 floats are 4 MB and stay in the cache.
CHUNK = 4096


def rows_of(offsets: Tensor) -> Tensor:
    """The position of each legal action, int64 [L]; refuses a position without any."""
    lengths = offsets.diff()
    if lengths.numel() and int(lengths.min()) < 1:
        raise ValueError(f"position {int(lengths.argmin())} of the batch has no legal action")
    return torch.repeat_interleave(torch.arange(lengths.numel(), device=lengths.device), lengths)


def log_softmax(logits: Tensor, rows: Tensor, count: int) -> Tensor:
    """Log probabilities [L], normalised within each of the `count` positions."""
    # Subtract each position's largest logit first, so that exp cannot overflow.
    largest = logits.new_full((count,), -torch.inf)
    largest.scatter_reduce_(0, rows, logits.detach(), "amax")
    shifted = logits - largest.index_select(0, rows)
    total = segment_sum(shifted.exp(), rows, count)
    return shifted - total.log().index_select(0, rows)


def segment_sum(values: Tensor, rows: Tensor, count: int) -> Tensor:
    """Sum [count] of the values [L] of each position."""
    return values.new_zeros(count).index_add(0, rows, values)


def entropy(log_probabilities: Tensor, rows: Tensor, count: int) -> Tensor:
    """Entropy [count] in nats of each position's distribution over its legal actions."""
    # A probability that underflows to zero contributes nothing: 0 * log 0 = 0.
    terms = log_probabilities.exp() * log_probabilities.clamp(min=-1e30)
    return -segment_sum(terms, rows, count)


def kl_divergence(old: Tensor, new: Tensor, rows: Tensor, count: int) -> Tensor:
    """KL divergence [count] of each position's new distribution from its old one, in nats."""
    terms = old.exp() * (old.clamp(min=-1e30) - new.clamp(min=-1e30))
    return segment_sum(terms, rows, count)


def sample(log_probabilities: Tensor, offsets: Tensor, generator: torch.Generator) -> Tensor:
    """Draw one legal action per position: its index [B] in the flat list."""
    uniform = torch.rand(offsets.numel() - 1, generator=generator, dtype=torch.float64)
    places = sample_places(log_probabilities.detach().numpy(), offsets.numpy(), uniform.numpy())
    return torch.from_numpy(places)


def sample_places(
    log_probabilities: NDArray[Any], offsets: NDArray[np.int64], uniform: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Indices [B] into the flat list, by inverse transform sampling at `uniform` [B] in [0, 1)."""
    probabilities = np.exp(log_probabilities.astype(np.float64))
    cumulative = np.concatenate([[0.0], np.cumsum(probabilities)])
    start, stop = cumulative[offsets[:-1]], cumulative[offsets[1:]]
    target = start + uniform * (stop - start)
    places = np.searchsorted(cumulative, target, side="right") - 1
    # Rounding must never select another position's action.
    clipped: NDArray[np.int64] = np.clip(places, offsets[:-1], offsets[1:] - 1).astype(np.int64)
    return clipped


def random_places(
    offsets: NDArray[np.int64], which: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.int64]:
    """A uniformly random index into the flat list for each position selected by `which` [B]."""
    return rng.integers(offsets[:-1][which], offsets[1:][which])


def best_places(logits: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Index [B] into the flat list of each position's largest logit (the first of equals)."""
    largest = np.repeat(np.maximum.reduceat(logits, offsets[:-1]), np.diff(offsets))
    candidates = np.flatnonzero(logits == largest)
    first = np.searchsorted(candidates, offsets[:-1])
    return candidates[first].astype(np.int64)


class _LegalProduct(torch.autograd.Function):
    """Rows of `hidden @ weight.T + bias` at the legal actions only."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, bias: Tensor, *index: Tensor) -> Tensor:
        legal, rows = index
        offsets = torch.searchsorted(rows, torch.arange(hidden.shape[0] + 1))
        ctx.save_for_backward(hidden, weight, legal, rows, offsets)
        logits = sampled_product(hidden, weight, legal, offsets)
        logits += bias.index_select(0, legal)
        return logits

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        gradient = gradients[0].contiguous()
        hidden, weight, legal, rows, offsets = ctx.saved_tensors
        to_hidden, to_weight = product_gradients(gradient, hidden, weight, legal, rows, offsets)
        to_bias = weight.new_zeros(weight.shape[0]).index_add_(0, legal, gradient)
        return to_hidden, to_weight, to_bias, None, None


def sampled_product(hidden: Tensor, weight: Tensor, legal: Tensor, offsets: Tensor) -> Tensor:
    """Dot products [L] of each legal action's row of `weight` and its position's row of `hidden`.

    `sampled_addmm` computes the entries of a sparse matrix [B, A], one per legal action, of the
    dense product, several times faster than gathering rows.
    """
    if not SAMPLED_PRODUCTS:
        return _gathered_product(hidden, weight, legal, offsets)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "Sparse CSR tensor support is in beta"
        entries = torch.sparse_csr_tensor(
            offsets,
            legal,
            hidden.new_zeros(legal.numel()),
            (hidden.shape[0], weight.shape[0]),
            check_invariants=False,
        )
    sampled: Tensor = torch.sparse.sampled_addmm(entries, hidden, weight.t(), beta=0.0).values()
    return sampled


def _gathered_product(hidden: Tensor, weight: Tensor, legal: Tensor, offsets: Tensor) -> Tensor:
    """The same without MKL."""
    rows = torch.repeat_interleave(torch.arange(hidden.shape[0]), offsets[1:] - offsets[:-1])
    logits = hidden.new_empty(legal.numel())
    for start in range(0, legal.numel(), CHUNK):
        part = slice(start, start + CHUNK)
        product = weight.index_select(0, legal[part])
        product *= hidden.index_select(0, rows[part])
        logits[part] = product.sum(-1)
    return logits


def product_gradients(
    gradient: Tensor, hidden: Tensor, weight: Tensor, legal: Tensor, rows: Tensor, offsets: Tensor
) -> tuple[Tensor, Tensor]:
    """Gradients of `hidden` and `weight` from the gradient [L] of the products.

    Both are sums of weighted rows, which `embedding_bag` computes without materialising the rows:
    one bag per position and, with the entries sorted by action, one bag per action.
    """
    to_hidden = functional.embedding_bag(
        legal, weight, offsets[:-1], mode="sum", per_sample_weights=gradient
    )
    order = torch.from_numpy(np.argsort(legal.numpy().astype(np.uint16), kind="stable"))
    counts = torch.bincount(legal, minlength=weight.shape[0])
    to_weight = functional.embedding_bag(
        rows.index_select(0, order), hidden, counts.cumsum(0) - counts, mode="sum",
        per_sample_weights=gradient.index_select(0, order),
    )  # fmt: skip
    return to_hidden, to_weight


def legal_product(
    hidden: Tensor, weight: Tensor, bias: Tensor, legal: Tensor, rows: Tensor
) -> Tensor:
    """Logits [L] at the legal actions only, of a linear layer with `weight` [A, H] and `bias` [A].

    `hidden` is its input [B, H]; `legal` and `rows` are int64 [L].
    """
    if hidden.device.type != "cpu":  # what follows is made for CPUs
        return gathered_logits(hidden, weight, bias, legal, rows)
    apply: Callable[..., Tensor] = _LegalProduct.apply
    hidden = hidden.to(weight.dtype)  # mixed precision ends before the logits
    return apply(hidden, weight, bias, legal, rows)


def gathered_logits(
    hidden: Tensor, weight: Tensor, bias: Tensor, legal: Tensor, rows: Tensor
) -> Tensor:
    """The same by plain operations, for any device."""
    gathered = weight.index_select(0, legal) * hidden.index_select(0, rows)
    return gathered.sum(-1) + bias.index_select(0, legal)


class _RowSum(torch.autograd.Function):
    """`embedding_bag` with a backward pass without sorting: three times faster on few cores."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, index: Tensor) -> Tensor:
        ctx.save_for_backward(index)
        ctx.rows = weight.shape[0]
        return functional.embedding_bag(index, weight, mode="sum")

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        gradient = gradients[0].contiguous()
        (index,) = ctx.saved_tensors
        to_weight = gradient.new_zeros(ctx.rows, gradient.shape[1])
        for column in index.t().contiguous():
            to_weight.index_add_(0, column, gradient)
        return to_weight, None


def row_sum(weight: Tensor, index: Tensor) -> Tensor:
    """Sums [B, W] of the rows of `weight` [R, W] selected by `index` int64 [B, E]."""
    if torch.onnx.is_in_onnx_export() or weight.device.type != "cpu":
        return functional.embedding_bag(index, weight, mode="sum")
    apply: Callable[..., Tensor] = _RowSum.apply
    return apply(weight, index)
