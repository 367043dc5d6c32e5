"""Engine runs: generations, gates, exact resuming, damage."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rookery import Game
from rookery.algorithms import engine_learning
from rookery.algorithms.engine import EngineTrainer, of_generation
from rookery.algorithms.engine_learning import Candidate, Window, widen
from rookery.nets.evaluator import read_model
from rookery.nets.model_file import load_model, parse_model
from rookery.players.registry import make_player
from rookery.rating.runs import checkpoint_players
from rookery.runs.state import State
from rookery.training.folder import RunFolder
from rookery.training.recipe import RecipeError, load_recipe
from rookery.training.session import resume, start
from rookery.training.trainer import Context
from support.nnue_samples import material_weights, random_samples, random_weights
from support.paths import PROJECT
from support.runs import Child, QuietView, final_state
from support.runs import rows as count_rows

TINY = [
    "run.evaluations=1",
    "run.workers=1",
    "play.first_positions=300",
    "play.growth=1.0",
    "play.nodes=[8, 12]",
    "play.games=4",
    "learn.hidden=[16, 32]",
    "learn.positions=2000",
    "learn.visits=4.0",
    "gate.games=4",
    "gate.pairs=2",
    "gate.nodes=10",
    "evaluation.games=2",
    "evaluation.nodes=10",
    "evaluation.anchor=1",
]


def train(folder: Path, budget: str) -> QuietView:
    view = QuietView()
    start("engine", str(folder), budget, 3, None, TINY, view)
    return view


def rows(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [row for row in map(json.loads, lines) if "iteration" in row]


def trainer(folder: Path, *changes: str) -> EngineTrainer:
    from rookery.training.recipe import parse_changes, read_recipe, recipe_model

    _, content = read_recipe("engine")
    settings = parse_changes([*TINY, *changes], recipe_model(content, "engine"))
    (folder / "replay").mkdir(parents=True)
    return EngineTrainer(Context(load_recipe("engine", settings), folder))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "engine"
    train(folder, "24it")
    return folder


def test_generations_go_through_their_phases(run: Path) -> None:
    found = rows(run)
    assert len(found) == 24
    assert found[-1]["values"]["generation"] >= 2
    phases = []
    for row in found:
        values = row["values"]
        phase = "play" if "nodes" in values else "gate" if "gate_score" in values else "learn"
        if not phases or phases[-1] != phase:
            phases.append(phase)
    assert phases[:4] == ["play", "learn", "gate", "play"]
    assert {"train", "validation"} >= set(next(r["losses"] for r in found if r["losses"]))
    played = [row for row in found if row["endings"]]
    assert all(sum(row["endings"].values()) == 4 for row in played)
    assert sum(row["samples"] > 0 for row in found) and found[-1]["samples"] > 600
    timing = (run / "timing.jsonl").read_text()
    assert "positions_per_second" in timing and "learnt_per_second" in timing


def test_the_model_plays(run: Path) -> None:
    network, info = load_model(run / "model.safetensors")
    assert info.family == "nnue" and info.observation == "nnue768"
    assert info.sizes["hidden"] == network.sizes.hidden and network.sizes.hidden in (16, 32)
    player = make_player(f"{run},nodes=200")
    game = Game()
    decision = player.choose(game, np.random.default_rng(1))
    assert decision.move in game.legal_moves()
    player.close()


def test_its_checkpoints_play(run: Path) -> None:
    """As `rookery rate RUN --checkpoints` asks for them."""
    players = checkpoint_players(f"{run},nodes=50")
    assert len(players) > 1
    for name in players:
        decision = make_player(name).choose(Game(), np.random.default_rng(1))
        assert decision.move in Game().legal_moves()


def test_it_is_measured(run: Path) -> None:
    rated = RunFolder.open(run).ratings()
    assert {"greedy-safe", "generation 1"} >= {row["opponent"] for row in rated} > set()
    assert list((run / "games").glob("*.pgn"))


def test_a_stopped_run_ends_like_a_straight_one(run: Path, tmp_path: Path) -> None:
    split = tmp_path / "split"
    words = [word for setting in TINY for word in ("--set", setting)]
    child = Child(
        tmp_path, "train", "engine", "--run", str(split), "--budget", "24it", "--seed", "3", *words
    )
    for _ in range(3):
        done = len(rows(split)) if (split / "metrics.jsonl").exists() else 0
        child.wait_for(lambda done=done: count_rows(split) >= done + 4)  # type: ignore[misc]
        child.send(signal.SIGTERM)
        assert child.wait() == 0, child.err.read_text()
        child = Child(tmp_path, "resume", str(split))
    assert child.wait() == 0, child.err.read_text()
    assert (split / "metrics.jsonl").read_text() == (run / "metrics.jsonl").read_text()
    assert final_state(split) == final_state(run)


def test_the_whole_budget_is_used(tmp_path: Path) -> None:
    """Games go on after the last generation, and a longer budget brings more of them."""
    folder = tmp_path / "run"
    short = ["learn.final_share=0.5", "learn.final_passes=1"]
    start("engine", str(folder), "24it", 3, None, [*TINY, *short], QuietView())
    assert rows(folder)[-1]["iteration"] == 24
    resume(str(folder), "26it", view=QuietView())
    assert rows(folder)[-1]["iteration"] == 26


def test_a_damaged_shard_is_left_out(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    train(folder, "4it")
    shard = sorted((folder / "replay").glob("*.positions"))[0]
    shard.write_bytes(shard.read_bytes()[:-5])
    view = QuietView()
    resume(str(folder), "8it", view=view)
    assert any("continuing without them" in text for text in view.messages)
    assert (folder / "replay" / "quarantine" / shard.name).exists()


def test_a_wider_network_says_the_same() -> None:
    weights, samples = random_weights(16), random_samples(50)
    wide = widen(weights, 48, torch.Generator().manual_seed(1))
    assert wide["feature_weights"].shape == (768, 48)
    narrow_raw = Candidate(weights, 1, 0.0).learner.evaluate(samples)
    assert np.allclose(Candidate(wide, 1, 0.0).learner.evaluate(samples), narrow_raw, atol=1e-6)


@pytest.mark.parametrize(("sign", "published"), [(1.0, 1), (-1.0, 0)])
def test_the_gate_keeps_losers_out(tmp_path: Path, sign: float, published: int) -> None:
    engine = trainer(tmp_path / "run", "gate.games=16", "gate.nodes=60", "gate.pairs=8")
    engine.newest = material_weights(sign=-sign)
    engine.candidate = Candidate(material_weights(sign=sign), 1, 0.0)
    engine.phase = "gate"
    while engine.phase == "gate":
        metrics = engine.iterate()
    assert engine.newest_generation == published
    assert engine.generation == 2 and engine.candidate is None
    assert (metrics.values["gate_score"] > 0.5) == bool(published)
    assert (engine.total_elo > 0) == bool(published)


def test_the_end_of_the_budget_cuts_a_generation_short(tmp_path: Path) -> None:
    engine = trainer(tmp_path / "run", "play.first_positions=1000000")
    engine.iterate()
    assert engine.phase == "play"
    engine.context.progress = 0.93
    engine.iterate()
    assert engine.phase == "learn" and engine.final
    engine.context.progress = 0.97
    engine.iterate()
    assert engine.phase == "gate"
    engine.context.progress = 0.995
    engine.iterate()
    assert engine.phase == "play" and engine.generation == 2
    engine.iterate()  # what is left is for games
    assert engine.phase == "play" and not engine.final
    engine.context.progress = 0.5  # the budget was extended
    engine.iterate()
    engine.context.progress = 0.93
    engine.iterate()
    assert engine.phase == "learn" and engine.final


def test_step_sizes_fall_along_a_cosine(tmp_path: Path) -> None:
    engine = trainer(tmp_path / "run", "learn.learning_rate=1.0", "learn.final_learning_rate=0.0")
    engine.window.add(random_samples(100), 1)
    engine._begin_learning()
    assert engine.candidate is not None
    place = engine.candidate.place
    assert engine._passes() == pytest.approx(4.0)
    rates = []
    for finished in range(5):
        place.finished = finished
        rates.append(engine._rate(place))
    expected = [(1 + np.cos(np.pi * share)) / 2 for share in (0, 0.25, 0.5, 0.75, 1)]
    assert rates == pytest.approx(expected)


def test_windows_split_by_game_and_forget(tmp_path: Path) -> None:
    window = Window(tmp_path, 3, lambda text: None)
    for generation in (1, 2, 3):
        window.add(random_samples(200, generation), generation)
    learn, test = window.split()
    assert len(learn) == 3 * 196 and len(test) == 4  # games 0, 64, 128, 192 of the newest
    window.drop_before(3)
    assert window.count(2) == 0 and window.count(3) == 200
    again = Window(tmp_path, 3, lambda text: None)
    state = State()
    window.put(state)
    again.get(state)
    assert np.array_equal(again.split()[0], window.split()[0])


def test_windows_write_the_same_shards_however_often_they_are_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_learning, "SHARD", 100)
    names: dict[int, list[tuple[str, int]]] = {}
    for every in (1, 9):
        folder = tmp_path / str(every)
        folder.mkdir()
        window = Window(folder, 3, lambda text: None)
        for number in range(9):
            window.add(random_samples(30, number), 1)
            if number % every == 0:  # as if the run went on in another process
                state = State()
                window.put(state)
                window = Window(folder, 3, lambda text: None)
                window.get(state)
        assert window.count(1) == 270
        names[every] = [(n, len(window.shards.read(n))) for n in window.shards.names()]
    assert names[1] == names[9] == [("00000000.positions", 120), ("00000001.positions", 120)]


def test_schedules_repeat_their_last_entry() -> None:
    assert [of_generation([5, 6, 7], g) for g in (1, 2, 3, 4, 99)] == [5, 6, 7, 7, 7]


def test_a_run_continues_from_a_network(run: Path, tmp_path: Path) -> None:
    first = trainer(tmp_path / "second", f"initial={run}", "play.most_positions=300")
    origin, data = read_model(str(run))
    again, earlier = first.model().state_dict(), parse_model(data, origin)[0].state_dict()
    assert all(torch.equal(again[name], earlier[name]) for name in earlier)
    # What the schedules give to young networks is over: the last values hold at once.
    values = first.iterate().values
    assert (values["generation"], values["nodes"]) == (1, 12)
    while first.phase == "play":
        first.iterate()
    assert first.candidate is not None and first.candidate.learner.hidden == 32
    assert first.window.count(1) >= 300
    first.close()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ("initial=alphazero", "alphazero is a network of family 'squares', not 'nnue'"),
        ("initial=rookery", "rookery has 8 buckets; learn.buckets is 4"),
        ("initial=nowhere", "nowhere is not a model file, run folder or shipped network"),
    ],
)
def test_networks_that_cannot_be_continued_are_refused(
    change: str, text: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=text):
        trainer(tmp_path / "run", change, "learn.buckets=4")


def test_recipes_that_make_no_sense_are_refused() -> None:
    for key, value, text in (
        ("learn.hidden", [32, 20], "multiples of 16"),
        ("learn.hidden", [64, 32], "shrink"),
        ("learn.wdl", [1.5], r"\[0, 1\]"),
        ("play.nodes", [0], "at least 1"),
        ("play.random_plies", [9, 8], "low <= high"),
    ):
        with pytest.raises(RecipeError, match=text):
            load_recipe("engine", {key: value})


def test_the_example_of_the_documentation_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (PROJECT / "docs" / "engine-training.md").read_text()
    example = text.split("```python\n")[1].split("```")[0]
    exec(compile(example, "docs/engine-training.md", "exec"), {})
    assert capsys.readouterr().out.strip() == f"{Game().fen()} 30 1.0"
