"""The state that lets a trainer resume exactly as if it had never stopped.

A `State` holds only tensors (stored as safetensors) and plain values (stored as JSON), so that
reading one can never run code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch

# str, int, float, bool, None, and lists and dicts of these.
Json = Any


class StateError(ValueError):
    """A state that does not fit the trainer loading it."""


def seed_of(seed: int, *names: str | int) -> int:
    """A 63-bit seed derived for one purpose; different names give independent streams."""
    text = "\0".join([str(seed), *map(str, names)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


@dataclass
class State:
    """Tensors and values by name; each `put_...` has its `get_...`."""

    tensors: dict[str, torch.Tensor] = field(default_factory=dict)
    values: dict[str, Json] = field(default_factory=dict)

    def put_module(self, name: str, module: torch.nn.Module) -> None:
        """Store a network's weights and buffers."""
        self.put_tensors(name, module.state_dict())

    def get_module(self, name: str, module: torch.nn.Module) -> None:
        """Load the weights and buffers into a network of the same sizes."""
        try:
            module.load_state_dict(self.get_tensors(name))
        except RuntimeError as error:
            # torch lists all mismatches after a headline.
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            more = f" (and {len(lines) - 2} more)" if len(lines) > 2 else ""
            raise StateError(
                f"the weights of {name!r} do not fit: {lines[min(1, len(lines) - 1)]}{more}"
            ) from error

    def put_tensors(self, name: str, tensors: Mapping[str, torch.Tensor]) -> None:
        """Store copies of several tensors under one name."""
        for key, tensor in tensors.items():
            self.tensors[f"{name}.{key}"] = tensor.detach().cpu().clone().contiguous()

    def get_tensors(self, name: str) -> dict[str, torch.Tensor]:
        """The tensors stored under a name."""
        found = self._prefixed(name)
        if not found:
            raise StateError(f"the checkpoint holds no {name!r}")
        return found

    def _prefixed(self, name: str) -> dict[str, torch.Tensor]:
        prefix = f"{name}."
        return {k[len(prefix) :]: v for k, v in self.tensors.items() if k.startswith(prefix)}

    def put_optimizer(self, name: str, optimizer: torch.optim.Optimizer) -> None:
        """Store an optimiser's moments, step counts and parameter groups."""
        import torch

        content = optimizer.state_dict()
        plain: dict[str, dict[str, Json]] = {}
        for index, entries in content["state"].items():
            plain[str(index)] = {}
            for key, entry in entries.items():
                if isinstance(entry, torch.Tensor):
                    self.put_tensors(name, {f"{index}.{key}": entry})
                else:
                    plain[str(index)][key] = entry
        self.values[name] = {"groups": content["param_groups"], "plain": plain}

    def get_optimizer(self, name: str, optimizer: torch.optim.Optimizer) -> None:
        """Load the stored state into an optimiser over the same parameters."""
        stored = self.value(name)
        state: dict[int, dict[str, Any]] = {
            int(index): dict(entries) for index, entries in stored["plain"].items()
        }
        for key, tensor in self._prefixed(name).items():
            index, entry = key.split(".", 1)
            state[int(index)][entry] = tensor
        groups = [
            {k: tuple(v) if k == "betas" else v for k, v in group.items()}
            for group in stored["groups"]
        ]
        try:
            optimizer.load_state_dict({"state": state, "param_groups": groups})
        except ValueError as error:
            raise StateError(f"the optimiser {name!r} does not fit: {error}") from error
        # torch itself compares only the number of parameters.
        for parameter, entries in optimizer.state.items():
            for key, entry in entries.items():
                if getattr(entry, "ndim", 0) and entry.shape != parameter.shape:
                    raise StateError(
                        f"the optimiser {name!r} does not fit: {key} has the shape "
                        f"{list(entry.shape)} for weights of {list(parameter.shape)}"
                    )

    def put_generator(self, name: str, generator: np.random.Generator | torch.Generator) -> None:
        """Store the state of a random generator."""
        if isinstance(generator, np.random.Generator):
            self.values[name] = _plain(generator.bit_generator.state)
        else:
            self.tensors[name] = generator.get_state().clone()

    def get_generator(self, name: str, generator: np.random.Generator | torch.Generator) -> None:
        """Restore the state of a random generator."""
        if isinstance(generator, np.random.Generator):
            generator.bit_generator.state = _arrays(self.value(name))
        else:
            generator.set_state(self.tensor(name))

    def put_bytes(self, name: str, data: bytes) -> None:
        """Store bytes, such as `VectorGames.get_state()`."""
        import torch

        self.tensors[name] = torch.from_numpy(np.frombuffer(data, dtype=np.uint8).copy())

    def get_bytes(self, name: str) -> bytes:
        """The stored bytes."""
        return bytes(self.tensor(name).numpy())

    def tensor(self, name: str) -> torch.Tensor:
        """One tensor; a StateError if it is missing."""
        if name not in self.tensors:
            raise StateError(f"the checkpoint holds no tensor {name!r}")
        return self.tensors[name]

    def value(self, name: str) -> Json:
        """One value; a StateError if it is missing."""
        if name not in self.values:
            raise StateError(f"the checkpoint holds no value {name!r}")
        return self.values[name]

    def non_finite(self) -> str | None:
        """Name of the first tensor with a NaN or an infinity; None if all are finite."""
        for name, tensor in self.tensors.items():
            if tensor.is_floating_point() and not bool(tensor.isfinite().all()):
                return name
        return None


def _plain(value: Any) -> Json:
    """The state of a NumPy bit generator with arrays and NumPy scalars as JSON values."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return {"dtype": str(value.dtype), "array": value.tolist()}
    return value.item() if isinstance(value, np.generic) else value


def _arrays(value: Json) -> Any:
    """The inverse of `_plain`."""
    if isinstance(value, dict):
        if value.keys() == {"dtype", "array"}:
            return np.array(value["array"], dtype=value["dtype"])
        return {key: _arrays(item) for key, item in value.items()}
    return value
