"""The registry of network families.

Reading it loads neither the families nor torch, so that model files can be listed, and native
networks played, on installations that cannot train.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rookery.base.registry import Registry

# Which protocol of `rookery.nets` the family implements.
Output = Literal["policy-value", "value", "action-values"]


@dataclass(frozen=True)
class NetworkFamily:
    """A family; code is given as "module:attribute" and loaded on first use."""

    name: str  # as in model files
    network: str  # the torch module; made with (observation, actions, sizes), typed by its `Sizes`
    output: Output
    player: str = "policy"  # kind of player for its model files, unless the algorithm names one
    onnx: bool = False  # whether `rookery export` writes it
    # Playing without torch, from float32 arrays by name and the `ModelInfo` of a file:
    native: str = ""  # function(weights, info) -> the core's copy for tree searches, or None
    arrays: str = ""  # function(weights, info, name) -> an evaluator, for families without `native`

    def __post_init__(self) -> None:
        """Refuse a value network with the default player, which needs a policy."""
        if self.output == "value" and self.player == "policy":
            raise ValueError(f"network family {self.name!r} has no policy: name its kind of player")


FAMILIES = Registry(
    "network family",
    "rookery.networks",
    NetworkFamily,
    (
        NetworkFamily(
            "boardconv",
            "rookery.papers.inman2022.network:BoardConv",
            "value",
            player="plain-alpha-beta",
        ),
        NetworkFamily(
            "endgame",
            "rookery.nets.endings.network:Endgame",
            "action-values",
            player="endgame",
            arrays="rookery.nets.endings.arrays:EndgameArrays",
        ),
        NetworkFamily(
            "giraffe",
            "rookery.nets.giraffe.network:Giraffe",
            "value",
            player="alpha-beta",
            onnx=True,
            arrays="rookery.nets.giraffe.arrays:value_arrays",
        ),
        NetworkFamily("mlp", "rookery.nets.mlp:Mlp", "policy-value", onnx=True),
        NetworkFamily("nnue", "rookery.nets.nnue:Nnue", "value", player="alpha-beta"),
        NetworkFamily("pepper", "rookery.nets.pepper:Pepper", "policy-value", onnx=True),
        NetworkFamily(
            "pyramid", "rookery.papers.kanis2016.pyramid:Pyramid", "action-values", onnx=True
        ),
        NetworkFamily("resnet", "rookery.nets.resnet:Resnet", "policy-value", onnx=True),
        NetworkFamily(
            "slots",
            "rookery.nets.slots:Slots",
            "policy-value",
            native="rookery.nets.native:slots_net",
        ),
        NetworkFamily(
            "squares",
            "rookery.nets.squares:Squares",
            "policy-value",
            onnx=True,
            native="rookery.nets.native:squares_net",
        ),
        NetworkFamily(
            "twin",
            "rookery.nets.twin:Twin",
            "policy-value",
            native="rookery.nets.native:twin_net",
        ),
    ),
)
