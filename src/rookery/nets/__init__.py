"""Networks, one file per family; this module only knows their names.

Every network turns observations into logits over the *legal* actions and a value per position:

    logits, values = network(observations, legal, rows)

    observations [B, *shape]  of the layout `network.observation`
    legal        [L] int64    legal actions of all positions, one behind the other
    rows         [L] int64    the position in [0, B) that each of them belongs to, ascending
    logits       [L]          unnormalised; normalise with `rookery.nets.ragged`
    values       [B]          for the side to move; in [-1, 1] if `network.bounded`

An action that is not listed costs nothing and cannot get any probability.
"""

from __future__ import annotations

import difflib
import importlib
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import torch

    from rookery.base.section import Section

# Family -> module with NETWORK (the class) and SIZES (its typed sizes).
_MODULES = {
    "giraffe": "rookery.nets.giraffe",
    "mlp": "rookery.nets.mlp",
    "nnue": "rookery.nets.nnue",
    "resnet": "rookery.nets.resnet",
    "squares": "rookery.nets.squares",
    "endgame": "rookery.nets.endgame",
    "pyramid": "rookery.papers.kanis2016.pyramid",
}


@runtime_checkable
class Network(Protocol):
    """What all families have in common; they are torch modules as well."""

    family: str
    observation: str  # layout names of rookery.encodings
    actions: str
    sizes: Section  # typed by the family; with the above all that rebuilding needs
    bounded: bool  # whether values are in [-1, 1]; otherwise they are in units of reward

    def __call__(
        self, observations: torch.Tensor, legal: torch.Tensor, rows: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits [L] over the legal actions, and values [B]."""
        ...

    def dense(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits [B, A] over all actions, legal or not, and values [B]; for export and tests."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """Weights and buffers by name."""
        ...


def family_names() -> list[str]:
    """All families."""
    return sorted(_MODULES)


def make_network(
    family: str,
    observation: str,
    actions: str,
    sizes: dict[str, Any] | Section | None = None,
    generator: torch.Generator | None = None,
) -> Any:
    """Make a network of a family with new weights.

    Args:
        family: One of `family_names()`.
        observation: Layout of its input.
        actions: Layout of its policy.
        sizes: Sizes that differ from the family's defaults.
        generator: Source of the first weights; torch's own if None.
    """
    if family not in _MODULES:
        near = difflib.get_close_matches(family, _MODULES, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(family_names())}"
        raise ValueError(f"unknown network family {family!r}; {hint}")
    module = importlib.import_module(_MODULES[family])
    if sizes is None or isinstance(sizes, dict):
        sizes = parse_sizes(module.SIZES, sizes or {}, family)
    network = module.NETWORK(observation, actions, sizes)
    network.initialise(generator)
    return network


def parse_sizes(model: Any, sizes: dict[str, Any], family: str) -> Any:
    """Check sizes that come from a file."""
    import json

    from pydantic import ValidationError

    try:
        return model.model_validate_json(json.dumps(sizes))
    except ValidationError as error:
        detail = error.errors()[0]
        key = ".".join(str(part) for part in detail["loc"])
        raise ValueError(
            f"size {key!r} of a network of family {family!r}: {detail['msg']}"
        ) from None
