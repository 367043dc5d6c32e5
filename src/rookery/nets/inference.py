"""Copies of networks that only answer: batch norms folded into convolutions, half the bits.

Folding changes answers by rounding only. `bfloat16` has 8 bits of precision, which a search does
not notice, and is twice as fast on processors that multiply it (AVX-512 BF16, AMX).
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

Precision = Literal["float32", "bfloat16"]


class InferenceNetwork:
    """A network's answers, always in float32; see `rookery.nets.Network`."""

    training = False

    def __init__(self, network: Any, precision: Precision = "float32") -> None:
        """Copy a network's present weights."""
        folded = fold(network)
        if precision == "bfloat16":
            folded = folded.to(torch.bfloat16)
        self._network = folded
        self.family: str = network.family
        self.observation: str = network.observation
        self.actions: str = network.actions
        self.sizes = network.sizes
        self.bounded: bool = network.bounded

    def __call__(self, observations: Tensor, legal: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [L] over the legal actions, and values [B]."""
        with torch.inference_mode():
            logits, values = self._network(observations, legal, rows)
        return logits.float(), values.float()

    def eval(self) -> InferenceNetwork:
        """It never trains."""
        return self

    def train(self, mode: bool = True) -> InferenceNetwork:
        """It never trains, whatever is asked."""
        return self


def fold(network: Any) -> Any:
    """A copy for answering, in which every batch norm is part of the convolution before it."""
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
    """Whether this processor multiplies bfloat16 by itself."""
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
    return "avx512_bf16" in flags or "amx_bf16" in flags
