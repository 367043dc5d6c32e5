"""Double DQN: transitions, targets, the memory, its runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from rookery import Game
from rookery._core import Engine, NnueNetwork, TransitionGenerator, pack_samples, sample_fens
from rookery.algorithms import ddqn_memory
from rookery.algorithms.ddqn import DdqnTrainer
from rookery.algorithms.ddqn_memory import (
    DECIDED,
    ENDED,
    LAST,
    QUIET,
    Memory,
    flags,
    judge_leaves,
    returns,
    settle,
)
from rookery.algorithms.engine_learning import new_weights, tensors_of
from rookery.players.registry import make_player
from rookery.runs.positions import Samples, fields
from rookery.training.recipe import load_recipe
from rookery.training.session import resume, start
from rookery.training.trainer import Context
from support.runs import QuietView, final_state

TINY = [
    "run.evaluations=1",
    "run.workers=1",
    "play.games=4",
    "play.depth=1",
    "play.nodes=500",
    "play.max_plies=30",
    "learn.hidden=16",
    "learn.memory=200",
    "learn.copy_every=2",
    "learn.minibatch=32",
    "learn.priority=0.5",
    "learn.final_learning_rate=1e-3",  # without schedules, which follow the budget
    "learn.final_lambda=0.95",
    "evaluation.games=2",
    'evaluation.opponents=["random"]',
]
MATE_IN_ONE = "6k1/5ppp/8/8/8/8/8/R3K3 w Q - 0 1"


def tensors(hidden: int = 16, seed: int = 1):  # type: ignore[no-untyped-def]
    return tensors_of(new_weights(hidden, 8, torch.Generator().manual_seed(seed)))


def pairs(transitions: Samples) -> tuple[Samples, Samples]:
    both = transitions.reshape(-1, 2, 32)
    return np.ascontiguousarray(both[:, 0]), np.ascontiguousarray(both[:, 1])


def packed(*fens: str) -> Samples:
    zeros = [0] * len(fens)
    return pack_samples([Game(fen) for fen in fens], zeros, zeros, zeros)


# --- Transitions ---


def test_games_follow_the_best_move_until_a_last_one() -> None:
    generator = TransitionGenerator(tensors(), 3, depth=1, random_moves=0.2, max_plies=40)
    played = generator.run(0, 6)
    positions, leaves = pairs(played.transitions)
    last = flags(leaves, LAST)
    assert last[-1] and 0.05 < last.mean() < 0.6
    assert played.games == 6
    assert played.white_wins + played.draws + played.black_wins + played.cut_off == 6
    sides = fields(positions)["state"] & 1
    assert (sides[:-1] != sides[1:])[~last[:-1]].all()  # the opponent moves next
    again = TransitionGenerator(tensors(), 3, depth=1, random_moves=0.2, max_plies=40)
    both = np.concatenate([again.run(0, 2).transitions, again.run(2, 4).transitions])
    assert np.array_equal(both, played.transitions)


def test_the_leaf_is_the_end_of_the_principal_variation() -> None:
    network = tensors()
    generator = TransitionGenerator(network, 1, depth=2)
    games = [Game(), Game("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3")]
    zeros = [0] * len(games)
    _positions, leaves = pairs(generator.search(pack_samples(games, zeros, zeros, zeros)))
    for game, leaf in zip(games, sample_fens(leaves), strict=True):
        result = Engine(NnueNetwork(*network), 1, 1).search(game, depth=2)
        for move in result.lines[0].moves:
            game.push(move)
        assert leaf == game.fen()
    assert flags(leaves, LAST).all()


def test_a_mate_is_decided_by_the_rules() -> None:
    generator = TransitionGenerator(tensors(), 1, depth=1)
    positions, leaves = pairs(generator.search(packed(MATE_IN_ONE)))
    assert flags(leaves, DECIDED).all()
    wrong = judge_leaves(positions, leaves, lambda samples: np.full(len(samples), 0.7, np.float32))
    assert wrong.tolist() == [1.0]  # for the side to move, whatever a network says


def test_a_line_that_was_cut_short_keeps_the_value_of_its_search() -> None:
    positions, leaves = chain([0, 0])
    fields(leaves)["score"] = [400, 80]
    # The network that searched sees 0.1 in both leaves: the first line ended too early.
    seen = np.full(2, 0.1, dtype=np.float32)
    assert settle(leaves, lambda samples: seen) == 0.5
    judged = judge_leaves(positions, leaves, lambda samples: np.zeros(2, dtype=np.float32))
    assert judged == pytest.approx([np.tanh(0.5), 0.0])


def test_positions_that_are_over_are_refused() -> None:
    generator = TransitionGenerator(tensors(), 1, depth=1)
    with pytest.raises(ValueError, match="is over: R5k1/5ppp"):
        generator.search(packed("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1"))


# --- Targets ---


def chain(marks: list[int], won: bool = False) -> tuple[Samples, Samples]:
    """Transitions of one line of play with these flags; `won`: by the last move."""
    fens = ["8/8/8/4k3/8/8/4K3/R7 w - - 0 1", "8/8/8/4k3/8/8/4K3/R7 b - - 0 1"]
    positions = packed(*(fens[place % 2] for place in range(len(marks))))
    leaves = positions.copy()
    fields(leaves)["game"] = marks
    if won:
        fields(positions)["state"][-1] ^= 3 << 5  # drawn (1) becomes won (2)
    return positions, leaves


def test_returns_by_hand() -> None:
    judged = np.array([0.2, -0.4, 0.6], dtype=np.float32)
    positions, leaves = chain([0, 0, LAST])
    # Cut off: the last value is its own target; before it, signs change with the side to move.
    assert returns(positions, leaves, judged, 1.0, 1.0) == pytest.approx([0.6, -0.6, 0.6])
    assert returns(positions, leaves, judged, 1.0, 0.0) == pytest.approx(judged)
    half = returns(positions, leaves, judged, 0.5, 0.5)
    assert half == pytest.approx([0.1 - 0.25 * -0.35, -0.2 - 0.25 * 0.6, 0.6])
    # The result is the reward of the move that ended the game.
    positions, leaves = chain([0, 0, LAST | ENDED], won=True)
    assert returns(positions, leaves, judged, 1.0, 1.0) == pytest.approx([1.0, -1.0, 1.0])
    # Nothing looks past a random move.
    positions, leaves = chain([LAST, 0, LAST | ENDED], won=True)
    assert returns(positions, leaves, judged, 1.0, 1.0) == pytest.approx([0.2, -1.0, 1.0])


def test_one_network_chooses_and_the_other_judges(tmp_path: Path) -> None:
    recipe = load_recipe("ddqn", {"learn.hidden": 16, "play.games": 2, "play.depth": 1})
    trainer = DdqnTrainer(Context(recipe=recipe, folder=tmp_path))
    for array in trainer.target.weights().values():
        array[:] = 0.0  # judges everything as equal
    metrics, new = trainer._play()
    undecided = ~flags(trainer.memory.leaves[new], DECIDED)
    assert not trainer.memory.judged[new][undecided].any()
    assert metrics.values["value_deviation"] > 0


# --- Memory ---


def test_the_memory_keeps_the_newest_and_draws_by_priority(tmp_path: Path) -> None:
    memory = Memory(tmp_path, 5, 3, print)
    positions, leaves = chain([QUIET, QUIET, 0, LAST | QUIET])
    block = np.stack([positions, leaves], axis=1).reshape(-1, 32)
    memory.add(block)
    new = memory.add(block)
    assert (len(memory), new) == (5, slice(1, 5))
    memory.targets[:] = [0.0, 0.0, 0.5, 0.9, 0.0]
    memory.prioritise(slice(None), lambda samples: np.zeros(len(samples), np.float32), 1.0)
    assert memory.priorities.tolist() == pytest.approx([0.01, 0.01, 0.51, 0.0, 0.01])
    drawn = np.bincount(memory.draw(1000, np.random.default_rng(1)), minlength=5)
    assert drawn[3] == 0 and drawn[2] > 900  # the fourth position is not quiet
    memory.prioritise(slice(None), lambda samples: pytest.fail("no errors are needed"), 0.0)
    assert memory.priorities.tolist() == [1.0, 1.0, 1.0, 0.0, 1.0]


# --- Runs ---


@pytest.mark.parametrize("double", ["true", "false"])
def test_a_resumed_run_agrees(tmp_path: Path, double: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ddqn_memory, "SHARD", 100)
    settings = [*TINY, f"learn.double={double}"]
    straight, split = tmp_path / "straight", tmp_path / "split"
    start("ddqn", str(straight), "5it", 1, None, settings, QuietView())
    start("ddqn", str(split), "3it", 1, None, settings, QuietView())
    resume(str(split), "5it", view=QuietView())
    assert final_state(straight) == final_state(split)
    assert len(list((straight / "replay").glob("*.positions"))) > 1
    player = make_player(f"{straight},depth=1")
    assert player.choose(Game(), np.random.default_rng(1)).move in Game().legal_moves()
    player.close()
