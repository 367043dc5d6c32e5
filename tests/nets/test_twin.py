"""The family `twin`: a policy and a value apart, the value once captures have ended."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from rookery._core import Game, NnueNetwork
from rookery.data.samples import SampleBlock
from rookery.learning.policy_value import LearnSettings, learn_step, losses, make_optimizer
from rookery.nets import make_network
from rookery.nets.evaluator import TorchEvaluator
from rookery.nets.model_file import ModelFileError, describe
from rookery.nets.native import native_network, network_evaluator, twin_net
from rookery.nets.nnue import WEIGHT_LIMIT, tensors_of
from rookery.nets.twin import Twin
from support.positions import Batch, random_batches

torch.set_num_threads(1)


def trained_like(quiescence: bool) -> Twin:
    """A small network whose weights are all of a size that matters, as after training."""
    generator = torch.Generator().manual_seed(1)
    sizes = {"width": 32, "key_width": 16, "hidden": 32, "quiescence": quiescence}
    network: Twin = make_network("twin", "tactical70", "az4672", sizes, generator)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.05)
    return network


def material(quiescence: bool) -> Twin:
    """A network whose value is a pawn a hundredth of a point, counted as the thesis of Giraffe."""
    network = trained_like(quiescence)
    with torch.no_grad():
        for parameter in network.judge.parameters():
            parameter.zero_()
        # A pair of units is linear in the balance of one view, see core/nnue/network.cpp.
        network.judge.feature_bias[:2] = 0.5
        rows = network.judge.feature_weights.view(2, 6, 64, 32)
        for piece, worth in enumerate((1, 3, 3, 5, 9)):
            for unit, sign in ((0, 1.0), (1, -1.0)):
                rows[0, piece, :, unit] = sign * worth / 64
                rows[1, piece, :, unit] = -sign * worth / 64
        for half, sign in ((0, 1.0), (32, -1.0)):
            network.judge.output_weights[:, half] = sign
            network.judge.output_weights[:, half + 1] = -sign
    return network


def batches(plies: int) -> list[Batch]:
    """Positions of random games with both colours to move."""
    return random_batches("tactical70", plies, "uint8", games=16)


def judged(network: Twin, fens: Sequence[str]) -> NDArray[np.float32]:
    """Native values of positions."""
    native = native_network(network)
    assert native is not None
    games = [Game(fen) for fen in fens]
    observations = np.stack([game.encode("tactical70").astype(np.uint8) for game in games])
    legal = [game.legal_actions("az4672") for game in games]
    offsets = np.cumsum([0, *(len(one) for one in legal)])
    return native.evaluate(observations, np.concatenate(legal).astype(np.int32), offsets)[1]


def test_without_quiescence_answers_are_torch_s_but_for_the_integers_of_the_value() -> None:
    network = trained_like(quiescence=False)
    native, reference = network_evaluator(network), TorchEvaluator(network)
    for batch in batches(20):
        logits, values = native.evaluate(*batch)
        expected_logits, expected_values = reference.evaluate(*batch)
        np.testing.assert_allclose(logits, expected_logits, atol=2e-4, rtol=2e-4)
        np.testing.assert_allclose(values, expected_values, atol=0.03)
        assert np.ptp(expected_values) > 0.1  # the comparison is not one of zeros


def test_the_value_is_that_of_the_engine_s_network() -> None:
    network = trained_like(quiescence=False)
    engine = NnueNetwork(*tensors_of(network.judge))
    game = Game()
    for move in ["e2e4", "c7c5", "g1f3", "d7d6", "f1b5", "c8d7", "e1g1", "d7b5", "f1e1", "e8d7"]:
        game.push(move)
        expected = np.tanh(engine.evaluate(game) / 800)
        assert judged(network, [game.fen()])[0] == pytest.approx(expected, abs=1e-6)


def test_captures_end_before_a_position_is_judged() -> None:
    fens = [
        "4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1",  # the pawn takes the queen
        "4k3/8/2p5/3p4/3R4/8/8/4K3 w - - 0 1",  # the rook would be taken in turn
        "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1",  # en passant
        "4k3/P7/8/8/8/8/8/4K3 w - - 0 1",  # a promotion
        "R3k3/8/8/8/8/8/6p1/4K3 b - - 0 1",  # in check: the promotion has to wait
    ]
    static, quiet = judged(material(False), fens), judged(material(True), fens)
    assert static[0] < 0 < quiet[0]
    assert static[1] == quiet[1] > 0
    assert static[2] == 0 < quiet[2]
    assert quiet[3] > static[3] + 0.05
    assert quiet[4] < 0


def test_a_forced_mate_by_captures_is_seen_and_being_mated_is_worst() -> None:
    # The queen takes f7 with mate; a quiet position of equal material is worth nothing.
    fens = [
        "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    ]
    mate, start = judged(material(True), fens)
    assert mate == 1.0
    assert start == 0.0


def test_no_observation_of_an_impossible_position_is_judged() -> None:
    native = native_network(trained_like(quiescence=True))
    assert native is not None
    observations, legal, offsets = batches(1)[0]
    for change in ((4, 12), (60, 0), (0, 6)):  # two black kings, no white one, two white ones
        damaged = observations.copy()
        damaged[2, change[0]] = change[1]
        with pytest.raises(ValueError, match="observation 2 is not of a legal position"):
            native.evaluate(damaged, legal, offsets)
    won = Game("4k3/8/8/8/8/8/4R3/4K3 b - - 0 1").encode("tactical70").astype(np.uint8)
    pieces = won.copy()  # the same with the side in check not to move
    pieces[:64] = np.where(won[:64] % 13 == 0, 0, (won[:64] % 13 + 5) % 12 + 1)
    with pytest.raises(ValueError, match="observation 0 is not"):
        native.evaluate(pieces[None], legal[:1], np.array([0, 1]))


def test_values_are_not_learnt_where_a_capture_is_due_or_in_check() -> None:
    network = trained_like(quiescence=True)
    games = [
        Game("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1"),
        Game("4k3/8/8/8/8/8/4R3/4K3 b - - 0 1"),
        Game(),
    ]
    observations = torch.from_numpy(np.stack([game.encode("tactical70") for game in games]))
    actions = [game.legal_actions("az4672") for game in games]
    capture = games[0].action_of("e4d5")
    legal = torch.from_numpy(np.concatenate(actions).astype(np.int64))
    rows = torch.from_numpy(np.repeat(np.arange(3), [len(one) for one in actions]))
    policy = torch.zeros(len(legal))
    policy[list(actions[0]).index(capture)] = 1.0
    policy[len(actions[0])] = policy[len(actions[0]) + len(actions[1])] = 1.0
    assert network.value_weights(observations, legal, rows, policy).tolist() == [0.0, 0.0, 1.0]


def test_steps_lower_both_losses_and_keep_the_weights_in_range() -> None:
    network = trained_like(quiescence=True)
    with torch.no_grad():
        network.judge.output_weights[0, 0] = 3.0
    observations, legal, offsets = batches(6)[5]
    rng = np.random.default_rng(2)
    counts = np.diff(offsets)
    results = rng.choice([-1.0, 1.0], 16).astype(np.float32)
    block = SampleBlock(
        observations=observations,
        legal=legal.astype(np.int16),
        policy=np.concatenate([rng.dirichlet(np.ones(n)) for n in counts]).astype(np.float32),
        counts=counts,
        results=results,
        values=results,
        surprise=np.ones(16, np.float32),
        plies_left=np.full(16, 10, np.int32),
        plies=np.zeros(16, np.int32),
        games=np.arange(16),
    )
    settings = LearnSettings(learning_rate=0.01, schedule="constant")
    optimizer = make_optimizer(network, settings)
    before = losses(network, block, 0.0)
    for _ in range(40):
        learn_step(network, optimizer, block, settings, 0.0)
    after = losses(network, block, 0.0)
    assert after.policy < before.policy and after.value < 0.5 * before.value
    assert float(network.judge.output_weights.detach().abs().max()) <= WEIGHT_LIMIT


def test_a_file_with_other_tensors_is_refused() -> None:
    network = trained_like(quiescence=True)
    info = describe(network)
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    for name, array, message in (
        ("judge.output_bias", None, "lacks the tensor 'output_bias'"),
        ("judge.feature_bias", np.zeros(48, np.float32), "'feature_bias' is"),
        ("policy.key.bias", None, "needs the tensor 'key.bias'"),
        ("third.key.bias", np.zeros(16, np.float32), "no tensor 'third.key.bias'"),
    ):
        changed = {key: value for key, value in weights.items() if key != name}
        if array is not None:
            changed[name] = array
        with pytest.raises(ModelFileError, match=message):
            twin_net(changed, info)
