"""TD-leaf: its targets, its searches, its runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from rookery import Game
from rookery._core import LeafGames, NnueNetwork, pack_samples, sample_fens
from rookery.algorithms.tdleaf import TdLeafTrainer, targets
from rookery.algorithms.tdleaf_networks import (
    GiraffeLeaves,
    Learner,
    NnueLeaves,
    Samples,
    in_check,
    material_values,
    mirrored,
    other_side,
    white_to_move,
)
from rookery.algorithms.tdleaf_recipe import TdLeafSettings
from rookery.algorithms.tdleaf_results import OpenGames
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


def leaves_of(kind: str) -> Learner:
    settings = TdLeafSettings(network=kind, width=16)  # type: ignore[arg-type]
    made = NnueLeaves if kind == "nnue" else GiraffeLeaves
    return made(settings, torch.Generator().manual_seed(1))


def packed(*fens: str) -> Samples:
    zeros = [0] * len(fens)
    return pack_samples([Game(fen) for fen in fens], zeros, zeros, zeros)


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


# --- Results ---


class Segments:
    """Two segments of three plies, as `LeafSegments` has them."""

    def __init__(self, ends: list[list[float]], breaks: list[int], continued: list[int]) -> None:
        self.ends = np.array(ends, dtype=np.float32)
        self.unrelated = np.zeros((2, 3), dtype=np.uint8)
        self.unrelated.ravel()[breaks] = 1
        self.continued = np.array(continued, dtype=np.uint8)


def add(games: OpenGames, played: Segments, goals: list[float]) -> dict[int, float]:
    """Add a position of every ply, numbered from 10 * first goal on; those learnt, by number."""
    first = round(10 * goals[0])
    positions = np.zeros((6, 32), dtype=np.uint8)
    positions[:, 0] = np.arange(first, first + 6)
    found, targets = games.add(played, positions, np.array(goals), np.arange(6))  # type: ignore[arg-type]
    return dict(zip(found[:, 0].tolist(), targets.round(6).tolist(), strict=True))


def test_leaves_wait_for_the_result_of_their_game() -> None:
    games = OpenGames(0.5)
    # 1. The first segment's game is won with its second ply; a random move follows ply 4.
    played = Segments([[NAN, 1.0, NAN], [NAN, NAN, NAN]], [4], [0, 0])
    assert add(games, played, [0.0] * 6) == {0: 0.5, 1: 0.5, 3: 0.0, 4: 0.0}
    assert len(games) == 2  # plies 2 and 5 are of games that go on
    # 2. The first game goes on and is lost at once; the second is abandoned for a new one.
    played = Segments([[-1.0, NAN, NAN], [NAN, NAN, 0.0]], [], [1, 0])
    found = add(games, played, [1.0] * 6)
    assert found == {2: -0.5, 5: 0.0, 10: 0.0, 13: 0.5, 14: 0.5, 15: 0.5}
    # 3. A checkpoint has what still waits.
    copy = OpenGames(0.5)
    copy.load(games.tensors())
    played = Segments([[1.0, NAN, NAN], [NAN, NAN, NAN]], [], [1, 1])
    assert add(copy, played, [2.0] * 6) == {11: 1.0, 12: 1.0, 20: 1.5}


def test_without_a_share_of_the_result_nothing_waits() -> None:
    played = Segments([[NAN] * 3] * 2, [], [1, 1])
    assert len(add(OpenGames(0.0), played, [0.0] * 6)) == 6


# --- Segments of games ---


def test_a_leaf_is_the_end_of_the_principal_line() -> None:
    start = packed("4k3/8/8/3q4/4P3/8/3K4/7R w - - 0 1")
    played = LeafGames(NnueNetwork.material(), 1, depth=3, plies=1).run(0, 1, start)
    game = Game(sample_fens(played.roots)[0])
    assert played.actions[0, 0] == game.action_of("e4d5") and not played.decided[0, 0]
    player = make_player("rookery,network=material,depth=3")
    for move in player.choose(game.copy(), np.random.default_rng(1)).line:
        game.push(move)
    assert sample_fens(played.leaves) == [game.fen()]
    assert played.values[0, 0] > 0  # for White, who has won the queen


def test_a_segment_depends_on_its_number_alone() -> None:
    settings = {"depth": 2, "plies": 6, "random_moves": 0.3, "random_start": True}
    games = LeafGames(NnueNetwork.material(), 7, **settings)
    whole = games.run(0, 6)
    threads = LeafGames(NnueNetwork.material(), 7, threads=2, **settings)
    assert (threads.run(0, 6).leaves == whole.leaves).all()
    late = games.run(6, 4, whole.next[:4])
    assert (threads.run(8, 2, whole.next[2:4]).roots == late.roots.reshape(4, 6, 32)[2:].reshape(
        -1, 32)).all()  # fmt: skip
    with pytest.raises(ValueError, match="3 starts for 2 segments"):
        games.run(0, 2, whole.next[:3])


def test_a_mate_ends_the_game_and_a_new_one_begins() -> None:
    start = packed("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", "r5k1/8/8/8/8/8/5PPP/6K1 b - - 0 1")
    games = LeafGames(NnueNetwork.material(), 1, depth=2, plies=2, random_plies=0)
    played = games.run(0, 2, start)
    assert played.decided[:, 0].all() and played.endings == {"checkmate": 2}
    assert played.ends[:, 0].tolist() == played.values[:, 0].tolist() == [1.0, -1.0]
    assert np.isnan(played.ends[:, 1]).all()
    assert sample_fens(played.roots)[1::2] == [Game().fen()] * 2


def test_a_random_start_is_one_legal_move_away() -> None:
    fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"
    played = LeafGames(NnueNetwork.material(), 1, depth=1, plies=1, random_start=True).run(
        0, 40, packed(*[fen] * 40)
    )
    after = set()
    for move in Game(fen).legal_moves():
        game = Game(fen)
        game.push(move)
        after.add(game.fen())
    assert set(sample_fens(played.roots)) == after


def test_a_decided_game_is_adjudicated_and_counts_as_won() -> None:
    start = packed(*["4k3/8/8/8/8/8/8/QQ2K3 w - - 0 1"] * 20)
    games = LeafGames(NnueNetwork.material(), 1, depth=1, plies=4, win_score=1000)
    played = games.run(0, 20, start)
    adjudicated = played.endings["adjudicated_win"]
    assert adjudicated > 10  # mates come first in some, and a tenth is played on
    assert (played.ends[:, 3] == 1.0).sum() == adjudicated
    assert played.continued.all() and played.continued.shape == (20,)
    plain = LeafGames(NnueNetwork.material(), 1, depth=1, plies=4, random_start=1).run(0, 20, start)
    assert "adjudicated_win" not in plain.endings and not plain.continued.any()


def test_quiet_roots_are_no_checks_and_no_captures() -> None:
    start = packed(
        "4k3/8/8/3q4/4P3/8/3K4/7R w - - 0 1",  # takes the queen
        "4k3/8/8/8/8/8/4R3/4K3 b - - 0 1",  # in check
        "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
    )
    played = LeafGames(NnueNetwork.material(), 1, depth=2, plies=1).run(0, 3, start)
    assert played.quiet.ravel().tolist() == [0, 0, 1]


def test_settings_of_segments_are_checked() -> None:
    with pytest.raises(ValueError, match="depth, nodes, plies and threads"):
        LeafGames(NnueNetwork.material(), 1, plies=0)


# --- Learners ---


def test_learners_value_leaves_for_their_own_side() -> None:
    both = packed("4k3/8/8/8/8/8/8/QQ2K3 w - - 0 1", "qq2k3/8/8/8/8/8/8/4K3 b - - 0 1")
    for kind in ("nnue", "giraffe"):
        learner = leaves_of(kind)
        for _ in range(60):
            loss = learner.learn(both, np.array([0.8, 0.8]), 1e-2)
        assert loss < 0.01
        assert learner.values(both) == pytest.approx([0.8, 0.8], abs=0.15)


def test_material_is_for_the_side_to_move() -> None:
    samples = packed(
        Game().fen(), "4k3/8/8/8/8/8/8/Q3K3 b - - 0 1", "4k3/8/8/8/8/8/P7/4K3 w - - 0 1"
    )
    expected = [0.0, -np.tanh(1.8), np.tanh(0.2)]
    assert material_values(samples) == pytest.approx(expected)
    assert white_to_move(samples).tolist() == [True, False, True]


def test_the_other_side_may_move_unless_there_is_a_check() -> None:
    samples = packed("4k3/8/8/8/8/8/4R3/4K3 b - - 0 1", "4k3/8/8/4Pp2/8/8/8/4K3 w - f6 0 1")
    assert in_check(samples).tolist() == [True, False]
    assert sample_fens(other_side(samples[1:])) == ["4k3/8/8/4Pp2/8/8/8/4K3 b - - 0 1"]


def test_a_mirrored_position_has_its_files_reversed() -> None:
    samples = packed("4k3/8/8/1Pp5/8/8/6R1/4K3 w - c6 0 1", "1r5k/8/8/8/8/8/8/K6B b - - 0 1")
    expected = ["3k4/8/8/5pP1/8/8/1R6/3K4 w - f6 0 1", "k5r1/8/8/8/8/8/8/B6K b - - 0 1"]
    assert sample_fens(mirrored(samples)) == expected
    assert (mirrored(mirrored(samples)) == samples).all()


def test_move_probabilities_learn_the_moves_chosen() -> None:
    settings = TdLeafSettings(network="giraffe", width=16, moves=16)
    learner = GiraffeLeaves(settings, torch.Generator().manual_seed(1))
    games = random_games(40)
    games = [game for game in games if game.legal_count() > 1]
    zeros = [0] * len(games)
    samples = pack_samples(games, zeros, zeros, zeros)
    actions = np.array([game.legal_actions()[0] for game in games], dtype=np.int32)
    for _ in range(100):
        found = learner.learn_moves(samples, actions, 1e-2)
    assert found["move_top1"] > 0.9 and found["move_loss"] < 0.5
    # The native copy gives the same probabilities.
    native = learner.network().moves.native()  # type: ignore[attr-defined]
    probabilities = native.probabilities(games[0])
    assert sum(probabilities.values()) == pytest.approx(1.0, abs=1e-5)
    assert set(probabilities) == set(games[0].legal_moves())
    losses = [-np.log(native.probabilities(game)[game.legal_moves()[0]]) for game in games]
    found = learner.learn_moves(samples, actions, 0.0)
    assert float(np.mean(losses)) == pytest.approx(found["move_loss"], abs=1e-4)


# --- Runs ---


@pytest.mark.parametrize("recipe", ["tdleaf", "giraffe"])
def test_a_resumed_run_is_the_same_and_plays(recipe: str, tmp_path: Path) -> None:
    settings = [*TINY, "tdleaf.depth=1", "tdleaf.material_iterations=1"]
    settings += ["tdleaf.window=40", "tdleaf.learning_rate=1e-3", "tdleaf.max_plies=20"]
    settings += ["tdleaf.win_value=0.5", "tdleaf.result_share=0.3", "tdleaf.roots=true"]
    settings += ["tdleaf.mirror=true", "tdleaf.random_start=0.2"]
    # No schedules: budgets differ.
    settings += ["tdleaf.final_learning_rate=1e-3", "tdleaf.final_result_share=0.3"]
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


def test_the_share_of_the_result_changes_over_the_run(tmp_path: Path) -> None:
    settings = [*TINY, "tdleaf.depth=1", "tdleaf.win_value=0.01"]
    settings += ["tdleaf.result_share=0.5", "tdleaf.plies=12"]
    ends = {"none": [], "same": ["tdleaf.final_result_share=0.5"]}
    ends["other"] = ["tdleaf.final_result_share=0.1"]
    for name, more in ends.items():
        start("tdleaf", str(tmp_path / name), "6it", 2, None, settings + more, QuietView())
    states = {name: final_state(tmp_path / name) for name in ends}
    assert states["none"] == states["same"]
    assert states["none"] != states["other"]


def test_material_is_learnt(tmp_path: Path) -> None:
    settings = ["run.evaluations=0", "tdleaf.network=giraffe", "tdleaf.depth=1"]
    settings += ["tdleaf.games=32", "tdleaf.material_iterations=100", "tdleaf.random_moves=0.5"]
    settings += ["tdleaf.passes=8", "tdleaf.width=32", "tdleaf.learning_rate=5e-3"]
    start("tdleaf", str(tmp_path / "run"), "12it", 1, None, settings, QuietView())
    network, _ = load_model(tmp_path / "run" / "model.safetensors")
    games = random_games(200)
    values = value_evaluator(network).values(games)
    zeros = [0] * len(games)
    material = material_values(pack_samples(games, zeros, zeros, zeros))
    assert np.corrcoef(values, material)[0, 1] > 0.7


def test_evaluation_plays_both_colours(tmp_path: Path) -> None:
    settings = {"evaluation.games": 4, "evaluation.opponents": ["random"], "tdleaf.depth": 1}
    recipe = load_recipe("giraffe", settings)
    trainer = TdLeafTrainer(Context(recipe=recipe, folder=tmp_path))
    before = trainer.state()
    [score] = trainer.evaluate(np.random.default_rng(1))
    assert sum(score.as_white) == sum(score.as_black) == 2
    assert len(score.games) == 4
    assert trainer.state().values == before.values


def test_learned_probabilities_need_a_network_that_has_them() -> None:
    with pytest.raises(ValueError, match="no learned move probabilities"):
        make_player("rookery,network=material,probabilities=learned")
    with pytest.raises(SpecError, match="uniform, static or learned"):
        make_player("rookery,probabilities=some")


def test_giraffe_networks_say_what_they_cannot_read() -> None:
    network = make_network("giraffe", "pepper353", "none")
    assert network.values(torch.zeros(3, 353)).shape == (3,)
    with pytest.raises(ValueError, match="giraffe363 or pepper353"):
        make_network("giraffe", "vector66", "none")
    with pytest.raises(ValueError, match="no actions"):
        make_network("giraffe", "giraffe363", "az4672")
