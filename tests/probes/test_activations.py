"""Every family shows its hidden layers, and they are the ones it computes with."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rookery.nets import make_network
from rookery.nets.evaluator import load_network
from rookery.probes.activations import activations_of, observe, require_layers
from rookery.probes.positions import drawn_endings, random_games

FAMILIES = {
    "squares": ("tactical70", "az4672"),
    "slots": ("pepper353", "az4672"),
    "mlp": ("vector66", "az4672"),
    "resnet": ("planes22", "az4672"),
    "pepper": ("pepper353", "az4672"),
    "giraffe": ("giraffe363", "none"),
    "boardconv": ("planes12", "none"),
    "nnue": ("nnue768", "none"),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_shows_its_layers(family: str) -> None:
    network = make_network(family, *FAMILIES[family], {}, torch.Generator().manual_seed(1)).eval()
    games = random_games(8, np.random.default_rng(1)).games
    found = activations_of(require_layers(network, family), observe(games, network.observation))
    assert found
    for layer, activations in found.items():
        assert activations.shape[0] == len(games), layer
        assert activations.std() > 0, layer


@pytest.mark.parametrize("name", ["alphazero", "pepper", "giraffe"])
def test_the_last_layer_is_what_the_value_is_made_of(name: str) -> None:
    network = load_network(name)
    games = random_games(20, np.random.default_rng(2)).games
    observations = observe(games, network.observation)
    last = list(activations_of(network, observations).values())[-1]
    with torch.inference_mode():
        values = network.value(torch.from_numpy(last)).squeeze(-1).tanh()
        if hasattr(network, "values"):
            expected = network.values(observations)
        else:
            legal, rows = torch.zeros(len(games), dtype=torch.int64), torch.arange(len(games))
            expected = network(observations, legal, rows)[1]
    torch.testing.assert_close(values, expected)


def test_an_ending_network_shows_its_layers() -> None:
    network = load_network("kqk")
    games = drawn_endings(10, ["KQvK"], np.random.default_rng(1)).games
    found = activations_of(network, observe(games, network.observation))
    assert list(found) == ["first", "second"]


def test_a_network_without_activations_is_refused() -> None:
    with pytest.raises(ValueError, match="do not show their activations"):
        require_layers(_Plain(), "plain.safetensors")


class _Plain:
    family = "points"
