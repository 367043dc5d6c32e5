"""The one place that decides where torch computes.

Runs name a device by `run.device`, players by the environment variable ROOKERY_DEVICE. Native forms
of networks and the engine's learner always use the CPU. No GPU has been at hand in development:
tests check on the CPU that every tensor follows its network.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray

VARIABLE = "ROOKERY_DEVICE"
DeviceName = Literal["auto", "cpu", "cuda", "mps"]


def choose_device(name: str, setting: str = "run.device") -> torch.device:
    """The device of this name; `auto` is CUDA, else Apple's GPU, else the CPU."""
    usable: dict[str, Callable[[], bool]] = {
        "cuda": torch.cuda.is_available,
        "mps": torch.backends.mps.is_available,
        "cpu": lambda: True,
    }
    if name == "auto":
        name = next(kind for kind, is_there in usable.items() if is_there())
    if name not in usable:
        raise ValueError(f"{setting} is {name!r}; there are auto, {', '.join(usable)}")
    if not usable[name]():
        raise ValueError(f"{setting} is {name!r}, but torch finds no such device; use auto or cpu")
    return torch.device(name)


def player_device() -> torch.device:
    """Where players evaluate networks in torch."""
    return choose_device(os.environ.get(VARIABLE, "cpu"), VARIABLE)


def device_of(network: Any) -> torch.device:
    """Where a network's weights are; the CPU for one without."""
    first = next(iter(network.parameters()), None)
    return torch.device("cpu") if first is None else first.device


def put(array: NDArray[Any], device: torch.device) -> torch.Tensor:
    """An array as a tensor on a device; on the CPU they share their memory."""
    return torch.from_numpy(np.ascontiguousarray(array)).to(device)
