"""What residual networks can have besides: squeeze-excite, pooling, outcomes, folded copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from rookery import VectorGames
from rookery._core import HashEvaluator, SelfPlay
from rookery.data.samples import SampleBlock
from rookery.learning.policy_value import losses, outcome_targets, value_targets
from rookery.nets import make_network
from rookery.nets.evaluator import TorchEvaluator
from rookery.nets.inference import InferenceNetwork

torch.set_num_threads(1)
EVERYTHING = {
    "blocks": 2, "filters": 8, "squeeze": 4, "pooling": True, "outcome": "wdl", "moves_left": True,
}  # fmt: skip


def samples(observation: str = "planes19") -> SampleBlock:
    play = SelfPlay(4, observation, 1, simulations=4, max_plies=16)
    play.run(HashEvaluator(), 40)
    return SampleBlock.from_selfplay(play.take_samples())


def shaken(sizes: dict[str, Any]) -> Any:
    """A network whose batch norms have seen something."""
    generator = torch.Generator().manual_seed(1)
    network = make_network("resnet", "planes19", "az4672", sizes, generator)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.1)
    block = samples()
    network.train()
    for _ in range(3):
        losses(network, block, 0.5)
    return network.eval()


def batch() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    games = VectorGames(16, "planes19", seed=2, random_plies=(4, 40))
    games.reset(2)
    return games.observations.copy(), games.legal_actions.copy(), games.legal_offsets.copy()


@pytest.mark.parametrize(
    "extra",
    [{}, {"squeeze": 4}, {"pooling": True}, {"outcome": "wdl"}, {"moves_left": True}, EVERYTHING],
)
def test_every_part_learns_and_stays_bounded(extra: dict[str, Any]) -> None:
    generator = torch.Generator().manual_seed(1)  # twelve steps are not enough for all weights
    sizes = {"blocks": 2, "filters": 8} | extra
    network = make_network("resnet", "planes19", "az4672", sizes, generator)
    block = samples()
    optimizer = torch.optim.Adam(network.parameters(), 1e-2)
    network.train()
    first = None
    for _ in range(12):
        terms = losses(network, block, 0.5)
        optimizer.zero_grad()
        (terms.policy + terms.value).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        first = first or terms
    missing = [name for name, p in network.named_parameters() if p.grad is None]
    assert not missing
    assert first is not None
    assert terms.policy.item() < first.policy.item()
    assert terms.value.item() < first.value.item()
    _, values = TorchEvaluator(network).evaluate(*batch())
    assert (np.abs(values) <= 1).all()


def test_outcomes_have_the_value_as_their_difference() -> None:
    block = samples()
    chances = outcome_targets(block, 0.3)
    np.testing.assert_allclose(chances.sum(1), 1.0, atol=1e-6)
    assert (chances >= -1e-6).all()
    np.testing.assert_allclose(chances[:, 0] - chances[:, 2], value_targets(block, 0.3), atol=1e-6)


@pytest.mark.parametrize("sizes", [{"blocks": 2, "filters": 8}, EVERYTHING])
def test_folded_copies_answer_the_same(sizes: dict[str, Any]) -> None:
    network = shaken(sizes)
    logits, values = TorchEvaluator(network).evaluate(*batch())
    folded = TorchEvaluator(InferenceNetwork(network)).evaluate(*batch())
    np.testing.assert_allclose(folded[0], logits, atol=1e-4)
    np.testing.assert_allclose(folded[1], values, atol=1e-4)
    half = TorchEvaluator(InferenceNetwork(network, "bfloat16")).evaluate(*batch())
    spread = float(np.abs(logits).max())
    assert np.abs(half[0] - logits).max() < 0.05 * max(1.0, spread)
    assert np.abs(half[1] - values).max() < 0.05
    again = TorchEvaluator(network).evaluate(*batch())
    assert (again[0] == logits).all()  # the original is left alone


def test_the_paper_s_network_has_its_size() -> None:
    network = make_network("resnet", "planes19", "az4672", {"blocks": 19, "filters": 256})
    convolutions = [m for m in network.modules() if isinstance(m, torch.nn.Conv2d)]
    assert sum(m.kernel_size == (3, 3) for m in convolutions) == 1 + 2 * 19
    parameters = sum(p.numel() for p in network.parameters())
    assert 22_000_000 < parameters < 24_000_000


def test_a_policy_over_all_actions_learns_what_is_legal() -> None:
    network, block = shaken({"blocks": 1, "filters": 8}), samples()
    terms = losses(network, block, 0.5, "all")
    every = torch.arange(4672).repeat(len(block))
    rows = torch.repeat_interleave(torch.arange(len(block)), 4672)
    logits, _ = network(torch.from_numpy(block.observations), every, rows)
    dense = logits.view(len(block), 4672).log_softmax(1).detach().numpy()
    index = np.repeat(np.arange(len(block)), block.counts)
    expected = -(block.policy * dense[index, block.legal]).sum() / len(block)
    assert float(terms.policy.detach()) == pytest.approx(float(expected), rel=1e-5)
    share = float(np.exp(dense[index, block.legal]).sum()) / len(block)
    assert terms.legal_share == pytest.approx(share, rel=1e-5) and 0 < share < 0.1
    optimizer = torch.optim.Adam(network.parameters(), 0.01)
    for _ in range(30):
        terms = losses(network, block, 0.5, "all")
        optimizer.zero_grad()
        terms.policy.backward()
        optimizer.step()
    assert terms.legal_share > 3 * share
    assert np.isnan(losses(network, block, 0.5).legal_share)
