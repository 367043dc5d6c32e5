"""Every tensor follows its network to its device.

Torch's device "meta" stands for a GPU: it computes shapes only, and refuses to mix its tensors with
those of the CPU as a GPU does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rookery import VectorGames
from rookery.data.samples import SampleBlock
from rookery.learning.policy_value import (
    Batch,
    LearnSettings,
    learn_step,
    loss_terms,
    make_optimizer,
)
from rookery.nets import make_network, ragged
from rookery.nets.device import VARIABLE, choose_device, device_of, player_device
from rookery.nets.evaluator import TorchEvaluator, load_network
from rookery.training.recipe import load_recipe
from rookery.training.session import start

torch.set_num_threads(1)
FAMILIES = {
    "mlp": ("vector66", {"hidden": [8], "value": "tanh"}),
    "pepper": ("pepper353", {"policy": 8, "value": 8}),
    "resnet": ("planes22", {"filters": 8, "blocks": 1, "outcome": "wdl", "moves_left": True}),
    "slots": ("pepper353", {"width": 8, "key_width": 4}),
    "squares": ("tactical70", {"width": 8, "key_width": 4}),
    "twin": ("tactical70", {"width": 8, "key_width": 4, "hidden": 16}),
}


def network_of(family: str) -> Any:
    observation, sizes = FAMILIES[family]
    return make_network(family, observation, "az4672", sizes, torch.Generator().manual_seed(1))


def block_of(observation: str, count: int = 8) -> SampleBlock:
    games = VectorGames(count, observation, seed=1, random_plies=(2, 30))
    games.reset(1)
    offsets = np.asarray(games.legal_offsets)
    counts = np.diff(offsets)
    rng = np.random.default_rng(1)
    floats = rng.uniform(-1, 1, count).astype(np.float32)
    return SampleBlock(
        observations=np.array(games.observations),
        legal=np.array(games.legal_actions),
        policy=np.repeat(1 / counts, counts).astype(np.float32),
        counts=counts,
        results=np.sign(floats),
        values=floats,
        surprise=np.ones(count, np.float32),
        plies_left=np.full(count, 10, np.int32),
        plies=np.zeros(count, np.int32),
        games=np.arange(count),
    )


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("over", ["legal", "all"])
def test_losses_and_gradients_are_computed_where_the_network_is(family: str, over: Any) -> None:
    network = network_of(family).to("meta").train()
    batch = Batch.of(block_of(network.observation), 0.5, device_of(network))
    terms = loss_terms(network, batch, over)
    (terms.policy + terms.value).backward()
    assert {term.device.type for term in terms} == {"meta"}
    assert all(p.grad is not None and p.grad.is_meta for p in network.parameters())


def test_logits_are_the_same_by_the_way_of_other_devices() -> None:
    generator = torch.Generator().manual_seed(1)
    hidden, weight = (torch.randn(n, 16, generator=generator) for n in (5, 40))
    bias = torch.randn(40, generator=generator)
    rows = torch.arange(5).repeat_interleave(7)
    legal = torch.randint(40, (35,), generator=generator)
    here = ragged.legal_product(hidden, weight, bias, legal, rows)
    torch.testing.assert_close(ragged.gathered_logits(hidden, weight, bias, legal, rows), here)


@pytest.mark.parametrize("family", FAMILIES)
def test_mixed_precision_learns_about_the_same(family: str) -> None:
    found = []
    for mixed in (False, True):
        network, block = network_of(family), block_of(FAMILIES[family][0])
        settings = LearnSettings(mixed_precision=mixed)
        optimizer = make_optimizer(network, settings)
        found.append(float(learn_step(network, optimizer, block, settings, 0.0).policy))
        assert {parameter.dtype for parameter in network.parameters()} == {torch.float32}
    assert found[1] == pytest.approx(found[0], rel=0.02)


def test_players_evaluate_on_the_device_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "auto")
    assert device_of(load_network("ppo")) == player_device()
    monkeypatch.setenv(VARIABLE, "gpu")
    with pytest.raises(ValueError, match="ROOKERY_DEVICE is 'gpu'; there are auto"):
        player_device()


def test_missing_devices_are_refused_and_auto_finds_one(tmp_path: Path) -> None:
    assert choose_device("auto").type in ("cpu", "cuda", "mps")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="'cuda', but torch finds no such device; use auto"):
            choose_device("cuda")
    with pytest.raises(ValueError, match="engine learns on the CPU only"):
        start("engine", str(tmp_path / "run"), "1it", 1, 1, ["run.device=cuda"])
    assert load_recipe("alphazero", {"run.device": "auto"}).run.device == "auto"


def test_the_evaluator_asks_the_network_where_it_is() -> None:
    network = network_of("mlp").to("meta")
    block = block_of("vector66", 2)
    with pytest.raises((NotImplementedError, RuntimeError), match="meta"):  # it was really asked
        TorchEvaluator(network).evaluate(block.observations, block.legal, block.offsets)
