"""Copies of networks for inference: batch norms folded into convolutions, optionally bfloat16.

Folding changes outputs only by rounding. `bfloat16` has 8 bits of precision, enough for a search,
and is twice as fast on CPUs with instructions for it (AVX-512 BF16, AMX).
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from rookery.nets import PolicyValueNetwork

Precision = Literal["float32", "bfloat16"]


class InferenceNetwork(nn.Module):
    """A copy of a `PolicyValueNetwork`; outputs are float32 in either precision."""

    def __init__(self, network: PolicyValueNetwork, precision: Precision = "float32") -> None:
        """Copy a network's current weights."""
        super().__init__()
        folded = fold(network)
        self.folded = folded.to(torch.bfloat16) if precision == "bfloat16" else folded
        self.training = False
        self.family = network.family
        self.observation = network.observation
        self.actions = network.actions
        self.sizes = network.sizes
        self.bounded = network.bounded

    def forward(self, observations: Tensor, legal: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [L] over the legal actions, and values [B]."""
        with torch.inference_mode():
            logits, values = self.folded(observations, legal, rows)
        return logits.float(), values.float()

    def dense(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [B, A] over all actions, and values [B]."""
        with torch.inference_mode():
            logits, values = self.folded.dense(observations)
        return logits.float(), values.float()

    def train(self, mode: bool = True) -> InferenceNetwork:
        """Stay in evaluation mode."""
        return self


def fold(network: Any) -> Any:
    """A copy in evaluation mode with each batch norm folded into the convolution before it."""
    folded = copy.deepcopy(network).eval()
    for module in folded.modules():
        if not isinstance(module, nn.Sequential) or len(module) < 2:
            continue
        first, second = module[0], module[1]
        if isinstance(first, nn.Conv2d) and isinstance(second, nn.BatchNorm2d):
            module[0] = fuse_conv_bn_eval(first, second)
            module[1] = nn.Identity()
    for parameter in folded.parameters():
        parameter.requires_grad_(False)
    return folded


def has_fast_bfloat16() -> bool:
    """Whether this CPU has bfloat16 instructions."""
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
    return "avx512_bf16" in flags or "amx_bf16" in flags
