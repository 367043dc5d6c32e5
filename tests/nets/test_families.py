from __future__ import annotations

from typing import Any

import chess
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from rookery import Game, VectorGames
from rookery._core import action_count, play_random_plies
from rookery.nets import (
    ActionValueNetwork,
    ValueNetwork,
    make_network,
    ragged,
)
from rookery.nets.registry import FAMILIES, NetworkFamily

torch.set_num_threads(1)


def batch(observation: str, actions: str = "az4672", count: int = 6, plies: int = 20) -> Any:
    """Positions some random moves into the game: observations, legal [L], offsets, rows."""
    claims = "action" if actions == "az4673" else "automatic"
    games = VectorGames(
        count, observation, actions, seed=3, claims=claims, random_plies=(plies, plies)
    )
    games.reset(3)
    offsets = torch.from_numpy(np.array(games.legal_offsets))
    legal = torch.from_numpy(np.array(games.legal_actions)).long()
    return torch.from_numpy(np.array(games.observations)), legal, offsets, ragged.rows_of(offsets)


NETWORKS = [
    ("mlp", "vector66", "az4672", {}),
    ("mlp", "vector69", "az4673", {"activation": "relu", "value": "tanh"}),
    ("mlp", "planes22", "az4672", {"hidden": [32]}),
    ("mlp", "vector66", "az4672", {"hidden": []}),
    ("squares", "tactical70", "az4672", {"width": 16, "key_width": 8}),
    ("squares", "tactical70", "az4673", {"width": 8, "key_width": 4}),
    ("slots", "pepper353", "az4672", {"width": 16, "key_width": 8}),
    ("slots", "pepper353", "az4673", {"width": 8, "key_width": 4}),
    ("pepper", "pepper353", "az4672", {"policy": 32, "value": 16}),
    ("pepper", "pepper353", "az4672", {"first": "full", "separate": True, "policy": 32}),
    ("resnet", "planes22", "az4672", {"blocks": 2, "filters": 16}),
    ("resnet", "planes19", "az4672", {"blocks": 1, "filters": 12, "norm": "group"}),
    ("resnet", "planes119", "az4672", {"blocks": 1, "filters": 8, "norm": "none"}),
]


def scramble(network: Any) -> Any:
    """Weights without the symmetries and near-zeros of a new network."""
    generator = torch.Generator().manual_seed(9)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter += 0.2 * torch.randn(parameter.shape, generator=generator)
    return network


def test_the_network_of_paper_000_has_its_number_of_parameters() -> None:
    network = make_network("mlp", "vector66", "az4672")
    assert sum(parameter.numel() for parameter in network.parameters()) == 1_366_849


@pytest.mark.parametrize(("family", "observation", "actions", "sizes"), NETWORKS)
def test_legal_logits_are_those_of_the_dense_network(
    family: str, observation: str, actions: str, sizes: dict[str, Any]
) -> None:
    network = scramble(make_network(family, observation, actions, sizes)).eval()
    observations, legal, _, rows = batch(observation, actions)
    logits, values = network(observations, legal, rows)
    dense, dense_values = network.dense(observations)
    assert dense.shape == (len(observations), action_count(actions))
    torch.testing.assert_close(logits, dense[rows, legal], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(values, dense_values)
    if network.bounded:
        assert values.abs().max() <= 1


@pytest.mark.parametrize(("family", "observation", "actions", "sizes"), NETWORKS)
def test_gradients_are_those_of_the_dense_network(
    family: str, observation: str, actions: str, sizes: dict[str, Any]
) -> None:
    network = scramble(make_network(family, observation, actions, sizes)).double().eval()
    observations, legal, _, rows = batch(observation, actions)
    weights = torch.randn(len(legal), generator=torch.Generator().manual_seed(1)).double()
    gradients = []
    for dense in (False, True):
        network.zero_grad()
        if dense:
            everything, values = network.dense(observations)
            logits = everything[rows, legal]
        else:
            logits, values = network(observations, legal, rows)
        ((logits * weights).sum() + values.square().sum()).backward()
        gradients.append([parameter.grad.clone() for parameter in network.parameters()])
    for ours, reference in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, reference)


@pytest.mark.parametrize("sampled", [True, False])
def test_the_legal_product_passes_gradcheck(sampled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With torch's sampled product, and with the gathered one in chunks where that is missing."""
    monkeypatch.setattr(ragged, "SAMPLED_PRODUCTS", sampled and ragged.SAMPLED_PRODUCTS)
    monkeypatch.setattr(ragged, "CHUNK", 3)
    hidden = torch.randn(3, 4, dtype=torch.double, requires_grad=True)
    weight = torch.randn(6, 4, dtype=torch.double, requires_grad=True)
    bias = torch.randn(6, dtype=torch.double, requires_grad=True)
    legal = torch.tensor([0, 5, 2, 2, 1, 0, 3])
    rows = torch.tensor([0, 0, 0, 1, 1, 2, 2])
    assert torch.autograd.gradcheck(
        lambda h, w, b: ragged.legal_product(h, w, b, legal, rows), (hidden, weight, bias)
    )
    products = (hidden @ weight.T + bias)[rows, legal]
    torch.testing.assert_close(ragged.legal_product(hidden, weight, bias, legal, rows), products)


def test_equal_seeds_give_equal_weights() -> None:
    for family, observation in (("mlp", "vector66"), ("resnet", "planes22")):
        made = [
            make_network(family, observation, "az4672", None, torch.Generator().manual_seed(seed))
            for seed in (1, 1, 2)
        ]
        first, second, third = (torch.cat([p.flatten() for p in n.parameters()]) for n in made)
        assert torch.equal(first, second)
        assert not torch.equal(first, third)


def test_a_generator_of_ones_own_leaves_torchs_stream_alone() -> None:
    before = torch.get_rng_state()
    make_network("squares", "tactical70", "az4672", {"width": 8}, torch.Generator())
    assert torch.equal(torch.get_rng_state(), before)


def test_first_policy_is_nearly_uniform_and_first_value_nearly_zero() -> None:
    for family, observation in (("mlp", "vector66"), ("resnet", "planes22")):
        network = make_network(family, observation, "az4672").eval()
        observations, legal, _, rows = batch(observation)
        logits, values = network(observations, legal, rows)
        assert logits.abs().max() < 0.3
        assert values.abs().max() < 0.3


def test_mirrored_positions_look_the_same_to_a_resnet_in_whites_orientation() -> None:
    """planes19 shows White's board to Black; the policy map is turned instead.

    A network whose policy is a plain 1x1 convolution of planes 'White pawns' (or 'Black pawns')
    must put its logit on the square where the pawn is, for either side to move.
    """
    network = make_network(
        "resnet", "planes19", "az4672", {"blocks": 0, "filters": 19, "norm": "none"}
    )
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        for plane in range(19):
            network.stem[0].weight[plane, plane, 1, 1] = 1
            network.policy[0][0].weight[plane, plane, 0, 0] = 1
        network.policy[2].weight[:, 6] = 1  # White pawns
        network.policy[2].weight[:, 12] = 1  # Black pawns
    for fen, square in (
        ("4k3/8/8/8/8/8/P7/4K3 w - - 0 1", 8),  # a2 for White
        ("4k3/p7/8/8/8/8/8/4K3 b - - 0 1", 8),  # a7 is the mover's a2
    ):
        game = Game(fen)
        dense, _ = network.dense(torch.from_numpy(game.encode("planes19"))[None])
        origins = dense.reshape(64, 73).sum(1).nonzero().flatten().tolist()
        assert origins == [square]
        action = game.action_of("a2a3" if game.turn else "a7a6")
        assert dense[0, action] == 1


def test_bad_networks_are_refused() -> None:
    with pytest.raises(ValueError, match="did you mean 'resnet'"):
        make_network("resnett", "planes22", "az4672")
    with pytest.raises(ValueError, match="8x8"):
        make_network("resnet", "vector66", "az4672")
    with pytest.raises(ValueError, match="kpk"):
        make_network("resnet", "planes22", "kpk")
    with pytest.raises(ValueError, match="filters"):
        make_network("resnet", "planes22", "az4672", {"filters": 10**9})
    with pytest.raises(ValueError, match="hiden"):
        make_network("mlp", "vector66", "az4672", {"hiden": [3]})
    assert {"mlp", "resnet"} <= set(FAMILIES)


@pytest.mark.parametrize(
    ("family", "observation", "actions"),
    [
        ("endgame", "planes12", "az4672"),
        ("giraffe", "giraffe363", "none"),
        ("mlp", "vector66", "az4672"),
        ("nnue", "nnue768", "none"),
        ("pepper", "pepper353", "az4672"),
        ("pyramid", "kpk3", "kpk"),
        ("resnet", "planes22", "az4672"),
        ("slots", "pepper353", "az4672"),
        ("squares", "tactical70", "az4672"),
        ("twin", "tactical70", "az4672"),
    ],
)
def test_networks_implement_the_protocol_that_their_family_registers(
    family: str, observation: str, actions: str
) -> None:
    network, output = make_network(family, observation, actions), FAMILIES[family].output
    assert network.family == family
    assert isinstance(network, ValueNetwork) == (output == "value")
    assert isinstance(network, ActionValueNetwork) == (output == "action-values")
    can_be_called = type(network).forward is not torch.nn.Module.forward
    assert can_be_called == (output == "policy-value")


def test_a_value_network_is_not_registered_as_a_policy() -> None:
    with pytest.raises(ValueError, match="'mine' has no policy"):
        NetworkFamily("mine", "module:Mine", "value")


LENGTHS = st.lists(st.integers(1, 12), min_size=1, max_size=9)


def dense_log_softmax(logits: torch.Tensor, rows: torch.Tensor, count: int) -> torch.Tensor:
    """The slow way: one position at a time."""
    return torch.cat([torch.log_softmax(logits[rows == row], 0) for row in range(count)])


@given(LENGTHS, st.integers(0, 1000), st.sampled_from([0.1, 1.0, 30.0, 1e4]))
def test_ragged_functions_agree_with_dense_ones(
    lengths: list[int], seed: int, scale: float
) -> None:
    generator = torch.Generator().manual_seed(seed)
    count = len(lengths)
    offsets = torch.tensor([0, *np.cumsum(lengths)])
    rows = ragged.rows_of(offsets)
    assert rows.tolist() == [row for row, length in enumerate(lengths) for _ in range(length)]
    logits = scale * torch.randn(len(rows), generator=generator, dtype=torch.double)
    logits.requires_grad_()
    ours = ragged.log_softmax(logits, rows, count)
    reference = dense_log_softmax(logits, rows, count)
    torch.testing.assert_close(ours, reference)
    torch.testing.assert_close(
        ragged.segment_sum(ours.exp(), rows, count), torch.ones(count, dtype=torch.double)
    )
    weights = torch.randn(len(rows), generator=generator, dtype=torch.double)
    grads = [torch.autograd.grad((value * weights).sum(), logits)[0] for value in (ours, reference)]
    torch.testing.assert_close(*grads)

    expected = [
        torch.distributions.Categorical(logits=logits[rows == row]).entropy()
        for row in range(count)
    ]
    torch.testing.assert_close(ragged.entropy(ours, rows, count), torch.stack(expected))
    other = ragged.log_softmax(torch.roll(logits.detach(), 1), rows, count)
    divergence = ragged.kl_divergence(ours.detach(), other, rows, count)
    assert (divergence > -1e-9).all()
    same = ragged.kl_divergence(ours, ours, rows, count)
    torch.testing.assert_close(same, torch.zeros(count, dtype=torch.double))

    places = ragged.sample(ours, offsets, generator)
    assert ((places >= offsets[:-1]) & (places < offsets[1:])).all()
    best = ragged.best_places(logits.detach().numpy(), offsets.numpy())
    for row in range(count):
        start, stop = int(offsets[row]), int(offsets[row + 1])
        assert best[row] == start + int(logits[start:stop].argmax())


def test_sampling_follows_the_distribution() -> None:
    offsets = torch.tensor([0, 2, 5])
    logits = torch.tensor([0.0, 1.0, -1.0, 2.0, 0.5])
    rows = ragged.rows_of(offsets)
    log_probabilities = ragged.log_softmax(logits, rows, 2)
    generator = torch.Generator().manual_seed(1)
    draws = 4000
    counts = torch.zeros(5)
    for _ in range(draws):
        counts[ragged.sample(log_probabilities, offsets, generator)] += 1
    expected = draws * log_probabilities.exp()
    spread = (expected * (1 - log_probabilities.exp())).sqrt()
    assert ((counts - expected).abs() < 4 * spread).all()


def test_sampling_never_leaves_the_legal_list() -> None:
    """At the very ends of the distribution, with probabilities that underflow to zero."""
    log_probabilities = np.array([-800.0, 0.0, -800.0, -800.0, 0.0, 0.0])
    offsets = np.array([0, 3, 5, 6])
    for uniform in (0.0, np.nextafter(1.0, 0.0), 0.5):
        places = ragged.sample_places(log_probabilities, offsets, np.full(3, uniform))
        assert places.tolist() == [1, 4, 5]


def test_entropy_survives_probabilities_of_zero() -> None:
    rows = torch.tensor([0, 0])
    logits = torch.tensor([0.0, -1e5], requires_grad=True)
    entropy = ragged.entropy(ragged.log_softmax(logits, rows, 1), rows, 1)
    entropy.sum().backward()
    assert entropy.item() == 0
    assert logits.grad is not None
    assert logits.grad.isfinite().all()


def test_a_position_without_legal_actions_is_refused() -> None:
    with pytest.raises(ValueError, match="position 1"):
        ragged.rows_of(torch.tensor([0, 2, 2, 3]))


def test_no_illegal_action_is_ever_sampled() -> None:
    """Thousands of moves drawn from a scrambled network; the games refuse an illegal one."""
    network = scramble(make_network("mlp", "vector66", "az4672", {"hidden": [16]})).eval()
    games = VectorGames(64, "vector66", seed=5, on_illegal="raise")
    games.reset(5)
    generator = torch.Generator().manual_seed(5)
    for _ in range(80):
        offsets = torch.from_numpy(np.array(games.legal_offsets))
        legal = torch.from_numpy(np.array(games.legal_actions)).long()
        rows = ragged.rows_of(offsets)
        with torch.no_grad():
            logits, _ = network(torch.from_numpy(np.array(games.observations)), legal, rows)
            logp = ragged.log_softmax(3 * logits, rows, 64)
        games.step(legal[ragged.sample(logp, offsets, generator)].numpy())


def test_mover_orientation_makes_both_colours_equal() -> None:
    network = scramble(make_network("mlp", "vector66", "az4672", {"hidden": [16]})).eval()
    game = Game()
    play_random_plies(game, 31, 4)
    import chess

    mirrored = Game(chess.Board(game.fen()).mirror().fen())
    answers = []
    for position in (game, mirrored):
        legal = torch.from_numpy(np.sort(position.legal_actions())).long()
        observations = torch.from_numpy(position.encode("vector66"))[None]
        answers.append(network(observations, legal, torch.zeros_like(legal)))
    torch.testing.assert_close(answers[0], answers[1])


def test_row_sums_and_their_gradients_are_those_of_an_embedding_bag() -> None:
    generator = torch.Generator().manual_seed(5)
    weight = torch.randn(40, 6, generator=generator, requires_grad=True)
    index = torch.randint(40, (9, 7), generator=generator)
    factor = torch.randn(9, 6, generator=generator)
    (ragged.row_sum(weight, index) * factor).sum().backward()
    gradient = weight.grad
    other = weight.detach().clone().requires_grad_()
    expected = torch.nn.functional.embedding_bag(index, other, mode="sum")
    torch.testing.assert_close(ragged.row_sum(weight, index), expected)
    (expected * factor).sum().backward()
    torch.testing.assert_close(gradient, other.grad)


def test_squares_knows_where_every_move_comes_from_and_goes_to() -> None:
    network = make_network("squares", "tactical70", "az4672", {"width": 8, "key_width": 4})
    rng = np.random.default_rng(3)
    game, seen = Game(), 0
    for _ in range(600):
        if game.outcome() is not None or not game.legal_moves():
            game = Game()
        for move, action in zip(game.legal_moves(), game.legal_actions("az4672"), strict=True):
            # A place in the observation counts from the mover's last rank.
            flip = 56 if game.turn else 0
            for text, places in ((move[:2], network.origins), (move[2:4], network.destinations)):
                assert places[action] == chess.parse_square(text) ^ flip, (game.fen(), move)
            seen += 1
        game.push(str(rng.choice(game.legal_moves())))
    assert seen > 10_000


def test_the_networks_of_deep_pepper_have_their_layers() -> None:
    """Its four variants: groups of features, or all; a first layer for both heads, or two."""
    parts = 17 * 32 + 208 * 512 + 128 * 480 + 1024
    heads = 1025 * 2048 + 2049 * 4672 + 1025 * 512 + 513
    for first, weights in (("parts", parts), ("full", 353 * 1024 + 1024)):
        for separate in (False, True):
            network = make_network(
                "pepper", "pepper353", "az4672", {"first": first, "separate": separate}
            )
            found = sum(parameter.numel() for parameter in network.parameters())
            assert found == weights * (1 + separate) + heads


def test_a_part_of_deep_pepper_s_first_layer_sees_its_own_features_only() -> None:
    network = scramble(make_network("pepper", "pepper353", "az4672", {"policy": 8, "value": 8}))
    observations = batch("pepper353")[0]
    before = network.first(observations)
    for group, entries, neurons in ((0, slice(0, 17), 32), (1, slice(17, 225), 512)):
        changed = observations.clone()
        changed[:, entries] += 1.0
        differs = (network.first(changed) != before).any(0)
        begin = 32 * group
        assert differs[begin : begin + neurons].any()
        assert not differs[:begin].any() and not differs[begin + neurons :].any()
