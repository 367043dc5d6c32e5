"""Probes on activations of which the truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from rookery.probes.fit import accuracy_score, balanced, enough, fit_probe, scores_of

RNG = np.random.default_rng(5)
COUNT = 3000
ORIGINS = np.arange(COUNT) // 10  # ten positions of a game


def _parts() -> list[np.ndarray]:
    draws = RNG.random(COUNT // 10)[ORIGINS]
    return [draws < 0.7, (draws >= 0.7) & (draws < 0.8), draws >= 0.8]


def test_a_concept_in_two_units_is_found_with_few_weights_and_a_coin_is_not() -> None:
    activations = RNG.normal(size=(COUNT, 40)).astype(np.float32)
    seen = activations[:, 3] - 2 * activations[:, 17] > 1.5  # in about a quarter
    labels = np.stack([seen, RNG.random(COUNT) < 0.5], 1).astype(np.int8)
    train, choose, test = _parts()
    # Activations on other scales and without variance must not matter.
    activations[:, 5] = 7.0
    activations *= np.float32(30.0)
    probe = fit_probe(activations, labels, train, choose)
    found, coin = scores_of(probe.logits(activations[test]), labels[test], ORIGINS[test], 1)
    assert found.score > 0.9 and found.low <= found.score <= found.high
    assert coin.low < 0 < coin.high
    largest = np.argsort(-np.abs(probe.weights[:, 0]))[:2]
    assert sorted(largest) == [3, 17]
    assert (probe.weights[:, 0] != 0).sum() < 40
    assert probe.weights[5, 0] == 0


def test_the_score_counts_rare_and_common_answers_alike() -> None:
    labels = np.array([[1], [0], [0], [0], [-1]], np.int8)
    always_no = np.full((5, 1), -1.0, np.float32)
    assert accuracy_score(always_no, labels) == pytest.approx(0.0)
    right = np.array([[1], [-1], [-1], [-1], [1]], np.float32)
    assert accuracy_score(right, labels) == pytest.approx(1.0)
    assert balanced(labels, np.ones(5, bool))[:, 0] == pytest.approx([0.5, 1 / 6, 1 / 6, 1 / 6, 0])


def test_a_concept_without_examples_is_not_fitted() -> None:
    labels = np.zeros((COUNT, 2), np.int8)
    labels[::2, 0] = 1
    assert list(enough(labels, _parts())) == [True, False]


def test_positions_of_one_game_do_not_make_the_interval_narrow() -> None:
    answers = RNG.random(COUNT // 10) < 0.7  # a game is understood or it is not
    labels = (np.arange(COUNT) % 2).astype(np.int8)[:, None]
    right = answers[ORIGINS][:, None]
    logits = np.where(right == (labels == 1), 1.0, -1.0).astype(np.float32)
    (by_game,) = scores_of(logits, labels, ORIGINS, 1)
    (by_position,) = scores_of(logits, labels, np.arange(COUNT), 1)
    assert by_game.high - by_game.low > 2 * (by_position.high - by_position.low)
