"""PPO's written-out step of the family `mlp` against autograd, the definition of both."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra 'train'")

from rookery import Game  # noqa: E402
from rookery._core import play_random_plies, policy_step  # noqa: E402
from rookery.algorithms.mlp_update import Factors, MlpUpdate, existing_actions  # noqa: E402
from rookery.algorithms.ppo import Batch, PPOTrainer, batch_of, losses  # noqa: E402
from rookery.nets import make_network, ragged  # noqa: E402
from rookery.runs.state import StateError  # noqa: E402
from rookery.selfplay.collector import Hooks  # noqa: E402
from rookery.selfplay.networks import weights_of  # noqa: E402
from rookery.selfplay.rollout import RolloutCollector, RolloutOrder, RolloutPlan  # noqa: E402
from rookery.training.recipe import load_recipe  # noqa: E402
from rookery.training.trainer import Context  # noqa: E402

RATE = 1e-3


def network_of(sizes: dict[str, Any], actions: str = "az4672") -> Any:
    """A network whose policy is far from uniform, so that every term of the loss has a gradient."""
    network = make_network(
        "mlp", "vector66", actions, {"hidden": [24, 16], **sizes}, torch.Generator().manual_seed(1)
    )
    with torch.no_grad():
        network.policy.weight.mul_(40.0)
        network.value.weight.mul_(40.0)
    return network


def batch_for(network: Any, plies: int = 30) -> Batch:
    """Real positions; targets and old policy are changed so that clips of all kinds happen."""
    claims = "action" if network.actions == "az4673" else "automatic"
    games = {
        "num_games": 8, "observation": "vector66", "actions": network.actions, "claims": claims,
        "random_plies": (0, 40),
    }  # fmt: skip
    player = RolloutCollector(RolloutPlan(games, 2, learn_both=True, rival_share=0.0), Hooks())
    batch = batch_of(player.begin(weights_of(network), RolloutOrder(plies))(), 0.99, 0.9)
    noise = torch.Generator().manual_seed(4)
    batch.advantages = torch.randn(len(batch), generator=noise)
    batch.returns = 3.0 * torch.randn(len(batch), generator=noise)
    shifted = batch.log_probabilities + 0.3 * torch.randn(len(batch.legal), generator=noise)
    rows = ragged.rows_of(torch.from_numpy(batch.offsets))
    batch.log_probabilities = ragged.log_softmax(shifted, rows, len(batch))
    return batch


def learn_with_autograd(
    network: Any, batch: Batch, order: Any, size: int, weights: Factors
) -> tuple[list[float], int]:
    """Means of the terms, as `PPOTrainer` computes them for other families."""
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE, eps=1e-5)
    sums, steps = np.zeros(4), 0
    for start in range(0, len(order), size):
        terms = losses(
            network, batch, order[start : start + size], weights.clip, weights.value_clip
        )
        total = terms.policy + weights.value * terms.value
        total = total - weights.entropy * terms.entropy + weights.kl * terms.kl
        optimizer.zero_grad()
        total.backward()
        if weights.gradient_norm:
            torch.nn.utils.clip_grad_norm_(network.parameters(), weights.gradient_norm)
        optimizer.step()
        each = (terms.policy, terms.value, terms.entropy, terms.kl)
        sums += [float(term.detach()) for term in each]
        steps += 1
    return list(sums), steps


@pytest.mark.parametrize(
    ("sizes", "weights"),
    [
        ({}, Factors(clip=0.2, value=1.0, value_clip=4.0, entropy=0.0, kl=0.0, gradient_norm=0.0)),
        ({}, Factors(clip=0.2, value=0.5, value_clip=0.0, entropy=0.1, kl=0.3, gradient_norm=0.05)),
        (
            {"activation": "relu", "value": "tanh"},
            Factors(clip=0.1, value=2.0, value_clip=0.0, entropy=0.01, kl=0.0, gradient_norm=0.5),
        ),
        (
            {"hidden": [100], "scale": 12.0},
            Factors(clip=0.3, value=1.0, value_clip=9.0, entropy=0.0, kl=0.2, gradient_norm=0.0),
        ),
    ],
)
def test_weights_are_those_of_autograd(sizes: dict[str, Any], weights: Factors) -> None:
    torch.set_num_threads(1)
    network = network_of(sizes)
    batch, reference = batch_for(network), copy.deepcopy(network)
    before = copy.deepcopy(network.state_dict())
    order = np.random.default_rng(5).permutation(len(batch))
    update = MlpUpdate(network, RATE, 1e-5)
    terms, steps = update.learn(batch, order, 64, weights)
    assert torch.equal(network.policy.weight, before["policy.weight"])  # not handed over yet
    update.publish()
    expected, expected_steps = learn_with_autograd(reference, batch, order, 64, weights)
    assert steps == expected_steps == -(-len(batch) // 64)
    assert terms.tolist() == pytest.approx(expected, rel=1e-4, abs=1e-5)
    for name, found in network.state_dict().items():
        wanted = reference.state_dict()[name]
        # Adam's first steps have the size of the learning rate whatever the gradient's size, so
        # rounding of a gradient near zero shows as a small part of a step.
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=0.02 * RATE, msg=name)
        moved = (found - before[name]).abs().max()
        assert moved > 0.5 * RATE, name


def test_actions_that_exist_on_no_board_are_never_touched() -> None:
    network = network_of({}, "az4673")
    before = network.policy.weight.detach().clone()
    existing = existing_actions("az4673")
    update = MlpUpdate(network, RATE, 1e-5)
    weights = Factors(clip=0.2, value=1.0, value_clip=0.0, entropy=0.1, kl=0.0, gradient_norm=0.0)
    batch = batch_for(network)
    update.learn(batch, np.arange(len(batch)), 100, weights)
    update.publish()
    others = np.setdiff1d(np.arange(4673), existing)
    assert torch.equal(network.policy.weight[others], before[others])
    assert not torch.equal(network.policy.weight[existing], before[existing])
    batch.legal[5] = int(others[0])
    with pytest.raises(ValueError, match="exists on no board"):
        update.learn(batch, np.arange(len(batch)), 100, weights)


@pytest.mark.parametrize(("name", "count"), [("az4672", 1858), ("az4673", 1859)])
def test_existing_actions_cover_all_of_real_games(name: str, count: int) -> None:
    existing = existing_actions(name)
    assert len(existing) == len(set(existing)) == count
    assert (np.diff(existing) > 0).all()
    known = set(existing.tolist())
    promotions = Game("8/PPPPPPPP/8/k7/7K/8/pppppppp/8 w - - 0 1")
    assert {int(action) for action in promotions.legal_actions(name)} <= known
    seen: set[int] = set()
    for seed in range(60):
        game = Game()
        for _ in range(4):
            play_random_plies(game, 40, seed)
            seen.update(int(action) for action in game.legal_actions(name))
    assert seen <= known
    assert len(seen) > 800


def trainer(folder: Path, **changes: Any) -> PPOTrainer:
    """Version 6 (with entropy) and a KL penalty, with small batches."""
    small = {"ppo.games": 6, "ppo.plies": 20, "ppo.passes": 2, "ppo.kl_coefficient": 0.2}
    recipe = load_recipe("ppo-v6", small | changes)
    made = PPOTrainer(Context(recipe=recipe, folder=folder))
    assert isinstance(made, PPOTrainer)
    return made


def test_a_resumed_run_is_the_same_run(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    straight = trainer(tmp_path)
    expected = [straight.iterate() for _ in range(4)]
    first, second = trainer(tmp_path), trainer(tmp_path)
    found = [first.iterate() for _ in range(2)]
    second.load_state(first.state())
    found += [second.iterate() for _ in range(2)]
    assert [m.losses for m in found] == [m.losses for m in expected]
    assert [m.values["kl"] for m in found] == [m.values["kl"] for m in expected]
    for name, weights in straight.network.state_dict().items():
        assert torch.equal(weights, second.network.state_dict()[name]), name
    ends, others = straight.state().tensors, second.state().tensors
    assert ends.keys() == others.keys()
    assert all(torch.equal(ends[name], others[name]) for name in ends)


def test_a_state_of_other_sizes_is_refused(tmp_path: Path) -> None:
    state = trainer(tmp_path, **{"network.mlp.hidden": [8]})
    state.iterate()
    with pytest.raises(StateError, match="do not fit"):
        trainer(tmp_path, **{"network.mlp.hidden": [9]}).load_state(state.state())


def step_arguments() -> dict[str, Any]:
    """Three positions with lists of 2, 1 and 3 of 5 actions, on a hidden layer of 4."""
    rng = np.random.default_rng(6)

    def floats(*shape: int) -> Any:
        return rng.standard_normal(shape).astype(np.float32)

    return {
        "legal": np.array([0, 4, 2, 1, 2, 3]),
        "offsets": np.array([0, 2, 3, 6]),
        "chosen": np.array([1, 0, 2]),
        "old": np.log(np.array([0.5, 0.5, 1.0, 0.2, 0.3, 0.5], dtype=np.float32)),
        "advantages": floats(3),
        "hidden": floats(3, 4),
        "weight": floats(5, 4),
        "bias": floats(5),
        "by_hidden": floats(3, 4),
        "by_weight": floats(5, 4),
        "by_bias": floats(5),
    }


def test_an_action_without_alternative_has_no_gradient_and_old_contents_are_gone() -> None:
    given = step_arguments()
    policy_step(**given, clip=0.2, entropy=0.1, kl=0.5)
    assert np.abs(given["by_hidden"][1]).max() < 1e-6  # one legal action: nothing to choose
    assert np.abs(given["by_bias"].sum()) < 1e-6  # softmax: gradients of a list sum to zero
    again = step_arguments()
    policy_step(**again, clip=0.2, entropy=0.1, kl=0.5)
    again["by_weight"] += 7.0
    policy_step(**again, clip=0.2, entropy=0.1, kl=0.5)
    assert np.array_equal(again["by_weight"], given["by_weight"])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("legal", np.array([0, 5, 2, 1, 2, 3]), "action 5 is not in 0 .. 4"),
        ("legal", np.array([0, -1, 2, 1, 2, 3]), "action -1 is not in 0 .. 4"),
        ("offsets", np.array([0, 3, 3, 6]), "position 1 has no legal action"),
        ("offsets", np.array([0, 2, 3, 5]), "offsets must rise from 0 to the number"),
        ("offsets", np.array([0, 2, 6]), "do not match"),
        ("chosen", np.array([2, 0, 2]), "position 0 has no legal action at the place"),
        ("hidden", np.zeros((3, 5), dtype=np.float32), "hidden has 15 entries; there must be 12"),
        ("by_weight", np.zeros((4, 4), dtype=np.float32), "by_weight has 16 entries; .* 20"),
    ],
)
def test_samples_that_do_not_fit_are_refused(name: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        policy_step(**step_arguments() | {name: value}, clip=0.2, entropy=0.0, kl=0.0)
