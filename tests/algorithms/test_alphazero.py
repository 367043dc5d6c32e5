"""AlphaZero end to end, small: learning, exact resuming, gating, recipes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import chess.pgn
import numpy as np
import pyarrow.parquet
import pytest
import torch

from rookery._core import VectorGames
from rookery.algorithms.alphazero import AlphaZeroTrainer
from rookery.algorithms.alphazero_recipe import AlphaZeroRecipe
from rookery.data.samples import SampleBlock
from rookery.data.starts import playable_positions
from rookery.learning.policy_value import (
    LearnSettings,
    learn_step,
    learning_rate,
    living_share,
    make_optimizer,
    momentum,
    update_average,
)
from rookery.nets import make_network
from rookery.nets.model_file import save_model
from rookery.training.recipe import load_recipe
from rookery.training.trainer import Context
from support.needs import needs_stockfish

torch.set_num_threads(1)

SMALL: dict[str, Any] = {
    "algorithm": "alphazero",
    "tree": {"simulations": 8, "gumbel_actions": 4},
    "selfplay": {"games": 8, "samples": 60, "max_plies": 40},
    "replay": {"window": 400, "first_window": 120},
    "network": {"family": "squares", "squares": {"width": 16, "key_width": 8}},
    "learn": {"minibatch": 32},
    "evaluation": {"games": 2, "simulations": 4, "opponents": ["random"]},
}


def trainer(
    folder: Path, workers: int = 1, log: Callable[[str], None] = print, **sections: Any
) -> AlphaZeroTrainer:
    recipe = AlphaZeroRecipe.model_validate(SMALL | sections)
    (folder / "replay").mkdir(parents=True, exist_ok=True)  # as run folders have it
    made = AlphaZeroTrainer(Context(recipe=recipe, folder=folder, workers=workers, log=log))
    assert isinstance(made, AlphaZeroTrainer)
    return made


def advance(learner: AlphaZeroTrainer, iterations: int) -> list[dict[str, float]]:
    seen = []
    for _ in range(iterations):
        metrics = learner.iterate()
        seen.append({**metrics.losses, **metrics.values, "games": metrics.games})
        learner.context.iteration += 1
        learner.context.progress = min(1.0, learner.context.iteration / 10)
    return seen


# As in the recipes pepper and pepper-paper: early stops, a gate, the schedule with momentum.
PEPPER: dict[str, Any] = {
    "judge": {"every": 6, "first": 10, "nodes": 50, "pawns": 2.0},
    "network": {"family": "slots", "observation": "pepper353", "slots": {"width": 8}},
    "learn": {"minibatch": 32, "optimizer": "sgd", "schedule": "three-phase", "average": 0.5},
    "gate": {"games": 2, "every": 2, "simulations": 2, "score": 0.0},
}
PEPPER_PAPER = {
    "family": "pepper", "observation": "pepper353", "pepper": {"policy": 16, "value": 8},
}  # fmt: skip
RESNET = {"family": "resnet", "observation": "planes19", "resnet": {"blocks": 1, "filters": 4}}


@pytest.mark.parametrize(
    ("workers", "sections"),
    [
        (1, {}),
        (2, {}),
        (1, {"learn": {"minibatch": 32, "average": 0.5}}),
        pytest.param(1, PEPPER, marks=needs_stockfish),
        pytest.param(2, PEPPER, marks=needs_stockfish),
        pytest.param(1, PEPPER | {"network": PEPPER_PAPER}, marks=needs_stockfish),
        (1, {"selfplay": SMALL["selfplay"] | {"processes": 2}}),
        (1, {"selfplay": SMALL["selfplay"] | {"processes": 2}, "network": RESNET}),
    ],
    ids=[
        "one thread",
        "two threads",
        "a mean of weights",
        "pepper",
        "pepper, two threads",
        "pepper-paper",
        "two processes",
        "two processes, torch",
    ],
)
def test_a_resumed_run_is_the_same_run(
    tmp_path: Path, workers: int, sections: dict[str, Any]
) -> None:
    straight = trainer(tmp_path / "a", workers, **sections)
    expected = advance(straight, 4)
    first = trainer(tmp_path / "b", workers, **sections)
    begun = advance(first, 2)
    second = trainer(tmp_path / "b", workers, **sections)
    second.load_state(first.state())
    second.context.iteration = first.context.iteration
    second.context.progress = first.context.progress
    np.testing.assert_equal(begun + advance(second, 2), expected)
    for name, weights in straight.network.state_dict().items():
        assert torch.equal(weights, second.network.state_dict()[name]), name
        assert torch.equal(straight.best.state_dict()[name], second.best.state_dict()[name]), name
    assert len(straight.window) == len(second.window)
    for learner in (straight, first, second):
        learner.close()


SESSIONS: dict[str, Any] = {
    "replay": {"sessions": [100, 60], "passes": 20.0, "surprise_share": 0.0},
    "learn": {"minibatch": 32, "policy_over": "all", "learning_rate": 0.01},
    "network": RESNET,
}


def test_sessions_collect_a_dataset_and_then_learn_from_it(tmp_path: Path) -> None:
    learner = trainer(tmp_path / "a", **SESSIONS)
    phases, weights, shares, games = [], [], [], 0.0
    while not learner.solved:
        learning = learner.steps_left > 0
        (row,) = advance(learner, 1)
        phases.append((learner.session, learning))
        weights.append(next(learner.network.parameters()).detach().clone())
        if learning:
            shares.append(row["legal_share"])
            assert row["games"] == 0 and np.isfinite(row["policy"])
        else:
            assert "policy" not in row
            games += row["games"]
            assert len(learner.window) == learner.collected  # of this session only
            if len(weights) > 1:
                assert torch.equal(weights[-1], weights[-2])  # one network plays them all
    order = [learning for _, learning in phases]
    assert order[0] is False and order[-1] is True
    changes = sum(a != b for a, b in pairwise(order))
    assert changes == 3  # play, learn, play, learn
    assert shares[-1] > shares[0] and games > 0


def test_an_iteration_of_a_session_is_as_long_at_the_start_as_later(tmp_path: Path) -> None:
    """All games begin together, so it must not wait for games to end."""
    learner = trainer(tmp_path / "a", **SESSIONS)
    advance(learner, 1)
    counts = learner.collector.counts()
    assert 60 <= counts["moves"] < 60 + 8  # `selfplay.samples`, and what the other games do
    assert learner.collected < 60


def test_the_second_dataset_has_only_games_that_the_new_network_began(tmp_path: Path) -> None:
    learner = trainer(tmp_path / "a", **SESSIONS)
    first = games_of(learner)
    while learner.session == 0:
        advance(learner, 1)
    assert learner.collector.counts()["moves"] == 0
    assert games_of(learner) != first  # other random openings than in the first session
    while learner.session == 1 and not learner.steps_left:
        advance(learner, 1)
    assert learner.collected <= learner.collector.counts()["moves"]


def games_of(learner: AlphaZeroTrainer) -> bytes:
    """The games under way, with their random streams."""
    return learner.collector.state().get_bytes("games0")


def test_sessions_are_resumed_exactly(tmp_path: Path) -> None:
    straight = trainer(tmp_path / "a", **SESSIONS)
    expected = advance(straight, 16)
    assert straight.session == 1 and straight.collected > 0  # in the middle of the second dataset
    for taken in (3, 14):
        folder = tmp_path / str(taken)
        first = trainer(folder, **SESSIONS)
        begun = advance(first, taken)
        second = trainer(folder, **SESSIONS)
        second.load_state(first.state())
        second.context.iteration = first.context.iteration
        second.context.progress = first.context.progress
        np.testing.assert_equal(begun + advance(second, 16 - taken), expected)
        assert (second.session, second.collected) == (straight.session, straight.collected)


def test_games_begin_anew_where_their_number_changes(tmp_path: Path) -> None:
    first = trainer(tmp_path)
    advance(first, 1)
    logged: list[str] = []
    second = trainer(tmp_path, log=logged.append, selfplay=SMALL["selfplay"] | {"games": 6})
    second.load_state(first.state())
    assert logged == ["6 parallel games instead of 8: all games start anew"]
    advance(second, 1)


def test_some_games_are_kept_as_pgn(tmp_path: Path) -> None:
    """Those of the newest iterations, whole and legal, with their results."""
    starts = {"endings": ["KQvK"], "starts_share": 0.5, "pgn_games": 3, "pgn_iterations": 2}
    learner = trainer(tmp_path / "mine", selfplay=SMALL["selfplay"] | starts)
    rows = advance(learner, 3)
    files = sorted((tmp_path / "mine" / "games").iterdir())
    assert [file.name for file in files] == ["00000002-selfplay.pgn", "00000003-selfplay.pgn"]
    games = []
    for file in files:
        with file.open() as text:
            while (game := chess.pgn.read_game(text)) is not None:
                games.append(game)
    assert len(games) == sum(min(3, int(row["games"])) for row in rows[1:])
    for game in games:
        assert not game.errors
        board = game.end().board()
        if game.headers["Ending"] == "checkmate":
            assert board.is_checkmate() and game.headers["Result"] == board.result()
        elif game.headers["Ending"] == "ply_cap":
            assert game.headers["Result"] == "*" and board.ply() >= 40
        assert "mine" in game.headers["Event"]


def test_samples_are_parquet_that_any_tool_reads(tmp_path: Path) -> None:
    learner = trainer(tmp_path)
    advance(learner, 2)
    table = pyarrow.parquet.read_table(sorted((tmp_path / "replay").glob("*.parquet")))
    assert table.num_rows == len(learner.window)
    row = table.slice(table.num_rows - 1, 1).to_pylist()[0]
    assert len(row["observation"]) == 70 and len(row["legal"]) == len(row["policy"])
    assert sum(row["policy"]) == pytest.approx(1.0, abs=1e-5)
    assert -1 <= row["result"] <= 1


def test_a_residual_network_trains_through_batches(tmp_path: Path) -> None:
    learner = trainer(tmp_path, network=RESNET, tree={"simulations": 4, "gumbel_actions": 0})
    for row in advance(learner, 2):
        assert np.isfinite([row["policy"], row["value"]]).all()
    [result] = learner.evaluate(np.random.default_rng(1))
    assert sum(result.as_white) + sum(result.as_black) == 2


def test_it_learns_to_mate(tmp_path: Path) -> None:
    """Queen against king from random weights: the policy comes to agree with the search."""
    learner = trainer(
        tmp_path,
        selfplay={
            "games": 32, "samples": 600, "max_plies": 30, "random_share": 0.0,
            "endings": ["KQvK"], "starts_share": 1.0, "temperature": 0.5,
        },
        tree={"simulations": 16, "gumbel_actions": 8},
        learn={"minibatch": 128, "learning_rate": 3e-3, "schedule": "constant"},
        replay={"window": 4000, "first_window": 4000},
    )  # fmt: skip
    rows = advance(learner, 14)
    early, late = rows[:3], rows[-3:]

    def mean(part: list[dict[str, float]], key: str) -> float:
        return float(np.mean([row[key] for row in part]))

    assert mean(late, "policy") < mean(early, "policy") - 0.2
    assert mean(late, "agreement") > mean(early, "agreement") + 0.1


def weights_of(network: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: weights.clone() for name, weights in network.state_dict().items()}


def same_weights(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(weights, second[name]) for name, weights in first.items())


def test_a_closed_gate_keeps_the_old_network(tmp_path: Path) -> None:
    """Winning all of four games would take a far better network than one iteration makes."""
    learner = trainer(tmp_path, gate={"games": 4, "every": 1, "simulations": 2, "score": 1.0})
    before = weights_of(learner.best)
    logged: list[str] = []
    learner.context.log = logged.append
    advance(learner, 1)
    assert learner.promotions == 0
    assert same_weights(before, weights_of(learner.best))
    assert not same_weights(before, weights_of(learner.network))  # it did learn
    assert "in 4 games" in logged[0] and "keeps learning" in logged[0]


def test_an_open_gate_lets_the_new_network_play(tmp_path: Path) -> None:
    gate = {"games": 2, "every": 1, "simulations": 2, "score": 0.0}
    learner = trainer(tmp_path, gate=gate)
    before = weights_of(learner.best)
    advance(learner, 1)
    assert learner.promotions == 1
    assert not same_weights(before, weights_of(learner.best))
    assert same_weights(weights_of(learner.network), weights_of(learner.best))
    again = trainer(tmp_path, gate=gate)
    again.load_state(learner.state())
    assert again.promotions == 1


def test_the_network_that_plays_can_be_a_mean_of_the_learner_s_weights(tmp_path: Path) -> None:
    learner = trainer(tmp_path, learn={"minibatch": 32, "average": 0.9})
    assert learner.best is learner.average is learner.model()
    mean = learner.network.value.weight.detach().clone()
    for keep in (1 / 10, 2 / 11, 3 / 12):  # the first means are short
        advance(learner, 1)
        mean = keep * mean + (1 - keep) * learner.network.value.weight.detach()
        torch.testing.assert_close(learner.best.value.weight.detach(), mean)
    network, average = learner.network, learner.average
    update_average(average, network, 0.9, 1000)
    expected = 0.9 * mean + 0.1 * network.value.weight.detach()
    torch.testing.assert_close(average.value.weight.detach(), expected)


def test_runs_can_begin_with_other_weights(tmp_path: Path) -> None:
    network = make_network("squares", "tactical70", "az4672", {"width": 16, "key_width": 8})
    path = tmp_path / "first.safetensors"
    save_model(path, network)
    learner = trainer(tmp_path / "run", initial=str(path))
    assert torch.equal(learner.network.value.weight, network.value.weight)
    wrong = {"family": "resnet", "observation": "planes19", "resnet": {"blocks": 0, "filters": 2}}
    with pytest.raises(ValueError, match="'squares' on 'tactical70'"):
        trainer(tmp_path / "other", initial=str(path), network=wrong)


@pytest.mark.parametrize(
    "name", ["alphazero", "alphazero-paper", "alphazero-paper-small", "alphazero-pretrained"]
)
def test_the_recipes_are_sound(name: str) -> None:
    recipe = load_recipe(name)
    assert isinstance(recipe, AlphaZeroRecipe)
    if name == "alphazero-paper":
        assert recipe.tree.simulations == 400
        assert (recipe.tree.c_base, recipe.tree.c_init) == (20000.0, 2.0)
        assert recipe.tree.noise_share == 0.0
        assert recipe.learn.policy_over == "all" and recipe.replay.sessions == [76000, 50000]
        assert (recipe.learn.learning_rate, recipe.learn.minibatch) == (0.002, 64)
        assert (recipe.network.resnet.blocks, recipe.network.resnet.filters) == (19, 256)


def test_wrong_settings_are_refused() -> None:
    for sections, text in (
        ({"selfplay": {"starts_share": 0.5}}, "start_file"),
        ({"selfplay": {"random_plies": [5, 2]}}, "random_plies"),
        ({"network": {"observation": "planes23"}}, "planes23"),
    ):
        with pytest.raises(ValueError, match=text):
            AlphaZeroRecipe.model_validate({"algorithm": "alphazero", **sections})


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("constant", [1.0, 1.0, 1.0]),
        ("linear", [1.0, 0.6, 0.2]),
        ("cosine", [1.0, 0.6, 0.2]),
        ("steps", [1.0, 0.1, 0.001]),
        ("one-cycle", [0.2, 0.2 + 0.8 * 0.5 / 0.7, 0.2]),
        ("cyclic", [0.2, 0.2, 0.2]),
    ],
)
def test_learning_rates(schedule: Any, expected: list[float]) -> None:
    settings = LearnSettings(learning_rate=1.0, final_learning_rate=0.2, schedule=schedule)
    found = [learning_rate(settings, progress) for progress in (0.0, 0.5, 1.0)]
    assert found == pytest.approx(expected)
    if schedule == "cyclic":
        assert learning_rate(settings, 0.05) == pytest.approx(1.0)


def test_start_positions_come_from_puzzles_and_lists(tmp_path: Path) -> None:
    puzzles = tmp_path / "puzzles.csv"
    puzzles.write_text(
        "PuzzleId,FEN,Moves,Rating,Themes\n"
        "a,6k1/5ppp/8/8/8/8/r7/K2R4 w - - 0 1,a1a2 g8f8 d1d8,800,mate mateIn1\n"
        "b,6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1,d1d7 g8f8,900,endgame\n"
    )
    [fen] = playable_positions(puzzles, ["mateIn1"])
    assert fen.split()[1] == "b"  # after the opponent's first move
    assert len(playable_positions(puzzles, [])) == 2
    with pytest.raises(ValueError, match="mateIn9"):
        playable_positions(puzzles, ["mateIn9"])
    plain = tmp_path / "positions.fen"
    plain.write_text("# endings\n8/8/8/4k3/8/8/4P3/4K3 w - -\n")
    assert playable_positions(plain, ["mateIn1"]) == ["8/8/8/4k3/8/8/4P3/4K3 w - - 0 1"]


def test_the_three_phases_of_deep_pepper_revisited() -> None:
    """Its figures: 0.02, 0.2 at 35 %, 0.02 at 70 %, 0.003; momentum 0.95, 0.85, 0.95."""
    settings = LearnSettings(learning_rate=0.2, schedule="three-phase", optimizer="sgd")
    places = (0.0, 0.35, 0.7, 1.0)
    assert [learning_rate(settings, p) for p in places] == pytest.approx([0.02, 0.2, 0.02, 0.003])
    assert [momentum(settings, p) for p in places] == pytest.approx([0.95, 0.85, 0.95, 0.95])
    assert learning_rate(settings, 0.175) == pytest.approx(0.11)
    network = make_network("mlp", "vector66", "az4672", {"hidden": [4]})
    optimizer = make_optimizer(network, settings)
    block = SampleBlock(
        np.zeros((1, 66), np.float32), np.array([0, 1], np.int16), np.array([1, 0], np.float32),
        np.array([2]), *(np.zeros(1, np.float32) for _ in range(3)),
        *(np.zeros(1, np.int64) for _ in range(3)),
    )  # fmt: skip
    learn_step(network, optimizer, block, settings, 0.35)
    group = optimizer.param_groups[0]
    assert (group["lr"], group["momentum"]) == pytest.approx((0.2, 0.85))


def test_the_body_learns_in_its_own_steps() -> None:
    network = make_network("squares", "tactical70", "az4672")
    settings = LearnSettings(learning_rate=0.01, body_share=0.1)
    rates = {}
    optimizer = make_optimizer(network, settings)
    for group in optimizer.param_groups:
        for weights in group["params"]:
            rates[id(weights)] = group["share"]
    named = dict(network.named_parameters())
    assert len(rates) == len(named)
    assert {name for name, w in named.items() if rates[id(w)] == 1.0} == {"moves.weight"}
    assert len(make_optimizer(network, LearnSettings()).param_groups) == 1


def test_units_that_are_silent_everywhere_count_as_dead() -> None:
    network = make_network("squares", "tactical70", "az4672")
    games = VectorGames(256, observation="tactical70", seed=1)
    rng = np.random.default_rng(1)
    for _ in range(8):
        first, last = games.legal_offsets[:-1], games.legal_offsets[1:]
        games.step(games.legal_actions[rng.integers(first, last)])
    observations = games.observations.copy()
    assert living_share(network, observations) > 0.8
    with torch.no_grad():
        network.codes.bias[:128] = -1e6
    assert living_share(network, observations) == pytest.approx(0.5, abs=0.05)
