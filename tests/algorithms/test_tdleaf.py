"""TD-leaf: its targets, its searches, its runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from rookery import Game
from rookery._core import NnueNetwork
from rookery.algorithms.tdleaf import (
    GiraffeLeaves,
    Learner,
    NnueLeaves,
    TdLeafSettings,
    TdLeafTrainer,
    material_value,
    targets,
)
from rookery.learning import leaf_search
from rookery.learning.leaf_search import LeafSearch
from rookery.nets import make_network
from rookery.nets.model_file import load_model
from rookery.nets.value_evaluator import value_evaluator
from rookery.players.registry import make_player
from rookery.players.spec import SpecError
from rookery.training.recipe import load_recipe
from rookery.training.session import resume, start
from rookery.training.trainer import Context
from support.nnue_samples import random_games
from support.runs import QuietView, final_state

NAN = float("nan")
TINY = [
    "run.evaluations=1",
    "run.workers=1",
    "tdleaf.games=4",
    "tdleaf.plies=4",
    "tdleaf.width=16",
    "evaluation.games=2",
    'evaluation.opponents=["random"]',
]


def leaves_of(kind: str, depth: int = 1) -> Learner:
    settings = TdLeafSettings(network=kind, width=16, depth=depth)  # type: ignore[arg-type]
    made = NnueLeaves if kind == "nnue" else GiraffeLeaves
    return made(settings, torch.Generator().manual_seed(1))


def material(games: list[Game]) -> np.ndarray:
    return np.array([material_value(game) * (1 if game.turn else -1) for game in games])


# --- Targets ---


def test_targets_by_hand() -> None:
    values = np.array([[0.0], [0.5], [0.1]])
    ends = np.array([[NAN], [NAN], [1.0]])
    none = np.zeros((3, 1), dtype=bool)
    # d = 0.5, -0.4, 0.9; errors from the end: 0.9, -0.4 + 0.45, 0.5 + 0.025
    assert targets(values, ends, none, 0.5).ravel() == pytest.approx([0.525, 0.55, 1.0])
    # lambda 1: everything towards the result; lambda 0: towards the next value.
    assert targets(values, ends, none, 1.0).ravel() == pytest.approx([1.0, 1.0, 1.0])
    assert targets(values, ends, none, 0.0).ravel() == pytest.approx([0.5, 0.1, 1.0])


def test_an_unfinished_game_ends_with_its_last_value() -> None:
    values = np.array([[0.2], [0.6]])
    found = targets(values, np.full((2, 1), NAN), np.zeros((2, 1), dtype=bool), 0.7)
    assert found.ravel() == pytest.approx([0.6, 0.6])


def test_nothing_is_learnt_across_a_break_or_a_new_game() -> None:
    values = np.array([[0.2, 0.3], [0.9, -0.8], [0.9, -0.8]])
    ends = np.array([[NAN, -1.0], [NAN, NAN], [NAN, NAN]])
    breaks = np.array([[True, False], [False, False], [False, False]])
    found = targets(values, ends, breaks, 0.7)
    assert found[0].tolist() == pytest.approx([0.2, -1.0])
    assert found[1].tolist() == pytest.approx([0.9, -0.8])


# --- Searches ---


def test_a_leaf_is_the_end_of_the_principal_line() -> None:
    game = Game("4k3/8/8/3q4/4P3/8/3K4/7R w - - 0 1")
    found, other = LeafSearch(NnueNetwork.material, 3)([game, Game()])
    assert found.move == found.line[0] == "e4d5" and not found.decided
    assert found.value > other.value
    for move in found.line:
        game.push(move)
    assert game.fen() == found.leaf.fen()


@pytest.mark.parametrize("kind", ["nnue", "giraffe"])
def test_searches_follow_the_weights_and_forget_each_other(kind: str) -> None:
    learner, games = leaves_of(kind, 2), [Game(), Game("4k3/8/8/8/8/8/8/QQ2K3 w - - 0 1")]
    before = learner.search(games)
    again = learner.search(list(reversed(games)))[::-1]
    assert [each.line for each in before] == [each.line for each in again]
    for _ in range(40):
        learner.learn(games, np.array([-0.9, 0.9]), 1e-2)
    assert [each.value for each in learner.search(games)] != [each.value for each in before]


def test_a_search_of_an_untrained_network_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaf_search, "MOST_NODES", 50)
    captures = Game("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1")
    found = leaves_of("giraffe", 2).search([captures])[0]
    assert captures.is_legal(found.move) and found.line[0] == found.move


def test_mate_in_one_is_found_by_both_and_decided() -> None:
    game = Game("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1")
    for kind in ("nnue", "giraffe"):
        found = leaves_of(kind, 2).search([game])[0]
        assert found.move == "a1a8" and found.decided and found.value > 0.99


def test_leaves_are_valued_for_their_own_side() -> None:
    for kind in ("nnue", "giraffe"):
        learner = leaves_of(kind)
        white = Game("4k3/8/8/8/8/8/8/QQ2K3 w - - 0 1")
        black = Game("qq2k3/8/8/8/8/8/8/4K3 b - - 0 1")
        for _ in range(60):
            loss = learner.learn([white, black], np.array([0.8, 0.8]), 1e-2)
        assert loss < 0.01
        assert learner.values([white, black]) == pytest.approx([0.8, 0.8], abs=0.15)


def test_material_counts_for_white() -> None:
    assert material_value(Game()) == 0.0
    assert material_value(Game("4k3/8/8/8/8/8/8/Q3K3 b - - 0 1")) == pytest.approx(np.tanh(1.8))


# --- Runs ---


@pytest.mark.parametrize("recipe", ["tdleaf", "tdleaf-giraffe"])
def test_a_resumed_run_is_the_same_and_plays(recipe: str, tmp_path: Path) -> None:
    settings = [*TINY, "tdleaf.depth=1", "tdleaf.material_iterations=1"]
    settings.append("tdleaf.final_learning_rate=1e-3")  # no schedule: budgets differ
    straight, split = tmp_path / "straight", tmp_path / "split"
    start(recipe, str(straight), "6it", 2, None, settings, QuietView())
    start(recipe, str(split), "2it", 2, None, settings, QuietView())
    resume(str(split), "6it", view=QuietView())
    assert final_state(straight) == final_state(split)
    player = make_player(f"{straight},depth=1")
    game = Game()
    assert player.choose(game, np.random.default_rng(1)).move in game.legal_moves()
    player.close()
    with pytest.raises(SpecError, match="simulations"):
        make_player(f"{straight},simulations=5")


def test_material_is_learnt(tmp_path: Path) -> None:
    settings = ["run.evaluations=0", "tdleaf.network=giraffe", "tdleaf.depth=1"]
    settings += ["tdleaf.games=32", "tdleaf.material_iterations=100", "tdleaf.random_moves=0.5"]
    settings += ["tdleaf.passes=8", "tdleaf.width=32", "tdleaf.learning_rate=5e-3"]
    start("tdleaf", str(tmp_path / "run"), "12it", 1, None, settings, QuietView())
    network, _ = load_model(tmp_path / "run" / "model.safetensors")
    games = random_games(200)
    values = value_evaluator(network).values(games)
    assert np.corrcoef(values, material(games))[0, 1] > 0.7


def test_evaluation_plays_both_colours(tmp_path: Path) -> None:
    settings = {"evaluation.games": 4, "evaluation.opponents": ["random"], "tdleaf.depth": 1}
    recipe = load_recipe("tdleaf-giraffe", settings)
    trainer = TdLeafTrainer(Context(recipe=recipe, folder=tmp_path))
    before = trainer.state()
    [score] = trainer.evaluate(np.random.default_rng(1))
    assert sum(score.as_white) == sum(score.as_black) == 2
    assert len(score.games) == 4
    assert trainer.state().values == before.values


def test_giraffe_networks_say_what_they_cannot_read() -> None:
    network = make_network("giraffe", "pepper353", "none")
    assert network.values(torch.zeros(3, 353)).shape == (3,)
    with pytest.raises(ValueError, match="giraffe363 or pepper353"):
        make_network("giraffe", "vector66", "none")
    with pytest.raises(ValueError, match="no actions"):
        make_network("giraffe", "giraffe363", "az4672")
