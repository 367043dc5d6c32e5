"""Networks, one file per family, and the three protocols that they implement.

The input is a batch of B positions with L legal actions in total:

    observations [B, *shape]  of the layout `network.observation`
    legal        [L] int64    legal actions of all positions, concatenated
    rows         [L] int64    position in [0, B) of each legal action, ascending

The output is from the point of view of the side to move:

    PolicyValueNetwork   logits [L], values [B]     network(observations, legal, rows)
    ActionValueNetwork   Q values [L], values [B]   network.action_values(observations, legal, rows)
    ValueNetwork         values [B]                 network.values(observations)

Illegal actions cost nothing and get no probability. `rookery.nets.registry` lists the families and
their protocols.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from rookery.base.registry import load
from rookery.nets.registry import FAMILIES

if TYPE_CHECKING:
    import torch

    from rookery.base.section import Section


class Network(Protocol):
    """Common to all families: what is needed to store and rebuild a network."""

    family: str
    observation: str  # layout names of rookery.encodings
    actions: str
    bounded: bool  # whether values are in [-1, 1]; otherwise they are in units of reward

    @property
    def sizes(self) -> Section:
        """Sizes, of the family's own type."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """Weights and buffers by name."""
        ...


class PolicyValueNetwork(Network, Protocol):
    """A policy over the legal actions and a value of the position."""

    def __call__(
        self, observations: torch.Tensor, legal: torch.Tensor, rows: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits [L], to be normalised with `rookery.nets.ragged`, and values [B]."""
        ...

    def dense(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits [B, A] over all actions, legal or not, and values [B]; for export and tests."""
        ...


@runtime_checkable
class AuxiliaryHeads(PolicyValueNetwork, Protocol):
    """A policy-value network with outputs used only in training."""

    def heads(
        self, observations: torch.Tensor, legal: torch.Tensor, rows: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, dict[str, torch.Tensor]]:
        """Logits [L], values [B], and the auxiliary outputs by name."""
        ...


@runtime_checkable
class WeightedValues(PolicyValueNetwork, Protocol):
    """A policy-value network whose value is not learnt from all positions alike."""

    def value_weights(
        self,
        observations: torch.Tensor,
        legal: torch.Tensor,
        rows: torch.Tensor,
        policy: torch.Tensor,
    ) -> torch.Tensor:
        """How much each position's value counts, [B] in [0, 1]; `policy` [L] is the target."""
        ...


@runtime_checkable
class Constrained(Network, Protocol):
    """A network with weights that must stay in some range."""

    def constrain(self) -> None:
        """Bring them back, after each optimiser step."""
        ...


@runtime_checkable
class ValueNetwork(Network, Protocol):
    """A value of the position, without a policy."""

    def values(self, observations: torch.Tensor) -> torch.Tensor:
        """Values [B]."""
        ...


@runtime_checkable
class ActionValueNetwork(Network, Protocol):
    """A Q value for each legal action; the greatest is the move to play."""

    def action_values(
        self, observations: torch.Tensor, legal: torch.Tensor, rows: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Q values [L], in [-1, 1] if `bounded`, and values [B] of the positions."""
        ...

    def dense(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Q values [B, A] of all actions, legal or not, and values [B]; for export and tests."""
        ...


@runtime_checkable
class HiddenLayers(Network, Protocol):
    """A network whose hidden activations can be looked at (`rookery.probes`)."""

    def activations(self, observations: torch.Tensor) -> dict[str, torch.Tensor]:
        """What each hidden layer hands to the next, [B, ...] by name, from input to output."""
        ...


def make_network(
    family: str,
    observation: str,
    actions: str,
    sizes: dict[str, Any] | Section | None = None,
    generator: torch.Generator | None = None,
) -> Any:
    """Make a network with random weights, drawn from `generator` (None: torch's own).

    `sizes` holds only those that differ from the family's defaults. With a generator torch's own
    stream stays as it was, although its layers draw from it when they are made.
    """
    import torch

    kind = load(FAMILIES.find(family).network)
    if sizes is None or isinstance(sizes, dict):
        sizes = parse_sizes(kind.Sizes, sizes or {}, family)
    if generator is None:
        network = kind(observation, actions, sizes)
    else:
        with torch.random.fork_rng(devices=[]):
            network = kind(observation, actions, sizes)
    network.initialise(generator)
    return network


def parse_sizes(model: Any, sizes: dict[str, Any], family: str) -> Any:
    """Validate sizes read from a file."""
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
