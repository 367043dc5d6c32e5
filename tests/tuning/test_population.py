"""Population-based training: who copies whom, and the best member as a plain recipe."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from rookery.cli import main
from rookery.cluster.jobs import Job
from rookery.cluster.node import perform
from rookery.nets.model_file import load_model
from rookery.training.recipe import RecipeError, load_recipe, planned_changes
from rookery.training.session import resume, start
from rookery.tuning.member import objective
from rookery.tuning.population import Population, Round, member_folder, new_population, train
from rookery.tuning.ranges import Range, parse_ranges
from support.runs import QuietView, final_state
from support.tiny_recipes import TINY_RECIPES

RANGES = ["ppo.learning_rate=1e-5..1e-3:log", "ppo.passes=1..4", "opponent.rival=random|snapshots"]


def here(jobs: Iterable[Job]) -> Iterator[bytes]:
    """Do jobs in this process."""
    for each in jobs:
        yield perform(each.work, each.content, ())[0]


def tiny(size: int, iterations: int, every: int) -> Population:
    from rookery.training.recipe import parse_changes, recipe_model

    settings = parse_changes(TINY_RECIPES["ppo"].settings, recipe_model({"algorithm": "ppo"}, ""))
    ranges = parse_ranges(RANGES, load_recipe("ppo", settings))
    return new_population("ppo", settings, ranges, size, iterations, every, 3, "-losses.value")


def test_ranges_are_read_and_kept_to() -> None:
    recipe = load_recipe("ppo")
    rate, passes, rival = parse_ranges(RANGES, recipe)
    rng = np.random.default_rng(1)
    drawn = [rate.sample(rng) for _ in range(200)]
    assert all(1e-5 <= each <= 1e-3 for each in drawn)
    assert 0.3 < np.mean([each < 1e-4 for each in drawn]) < 0.7  # logarithmic
    assert {passes.sample(rng) for _ in range(100)} == {1, 2, 3, 4}
    assert all(isinstance(passes.perturb(2, rng), int) for _ in range(20))
    assert {rival.perturb("random", rng) for _ in range(50)} == {"random", "snapshots"}
    assert rate.perturb(1e-3, np.random.default_rng(2)) <= 1e-3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ppo.learning_rate", "not of the form"),
        ("ppo.learing_rate=1..2", "did you mean 'ppo.learning_rate'"),
        ("ppo.clip=0.3..0.1", "not of the form"),
        ("ppo.clip=0..1:log", "begins above 0"),
        ("run.seed=1..9", "the same for all members"),
    ],
)
def test_wrong_ranges_are_refused(text: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        parse_ranges([text], load_recipe("ppo"))


def test_the_worst_copy_the_best() -> None:
    population = Population("", "x", [Range("a", 1.0, 2.0)], 8, 10, 5, seed=1)
    scores = [0.1, 0.9, 0.5, 0.4, 0.3, 0.8, None, 0.6]
    population.rounds = [
        [Round(n, n, {"a": 1.0 + n / 10}, score) for n, score in enumerate(scores)]
    ]
    chosen = population.next_round()
    copied = {each.member: each.origin for each in chosen if each.origin != each.member}
    assert set(copied) == {0, 6} and set(copied.values()) <= {1, 5}
    assert all(1.0 <= each.settings["a"] <= 2.0 for each in chosen)
    assert chosen == population.next_round()  # determined by the seed
    kept = [each for each in chosen if each.member not in copied]
    assert all(each.settings == population.rounds[0][each.member].settings for each in kept)


def test_settings_may_change_during_a_run_as_if_it_had_been_resumed_with_them(
    tmp_path: Path,
) -> None:
    settings = [*TINY_RECIPES["ppo"].settings, "run.evaluations=2"]
    plan = 'run.changes=["3it: ppo.learning_rate=1e-3; ppo.passes=1", "5it: ppo.clip=0.1"]'
    start("ppo", str(tmp_path / "planned"), "7it", 1, 1, [*settings, plan], QuietView())
    run = str(tmp_path / "by hand")
    start("ppo", run, "7it", 1, 1, settings, QuietView(), until=3)
    first = ["ppo.learning_rate=1e-3", "ppo.passes=1"]
    resume(run, None, None, first, True, QuietView(), until=5)
    resume(run, None, None, ["ppo.clip=0.1"], True, QuietView())
    assert final_state(tmp_path / "planned") == final_state(Path(run))
    metrics = [(tmp_path / name / "metrics.jsonl").read_bytes() for name in ("planned", "by hand")]
    assert metrics[0] == metrics[1]
    # Stopped and resumed after a change, it still has the settings of that time.
    other = str(tmp_path / "stopped")
    start("ppo", other, "7it", 1, 1, [*settings, plan], QuietView(), until=4)
    resume(other, view=QuietView())
    assert final_state(Path(other)) == final_state(tmp_path / "planned")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("ppo.clip=0.1", "not of the form '40it: key=value"),
        ("3it: run.seed=2", r"keys of \[run\] do not change"),
        ("3it: ppo.klip=0.1", "did you mean 'ppo.clip'"),
    ],
)
def test_wrong_changes_are_refused(entry: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        planned_changes(load_recipe("ppo", {"run.changes": [entry]}))


def test_a_population_learns_and_its_best_member_is_a_plain_recipe(tmp_path: Path) -> None:
    """The recipe trains to the same weights, through copies and changed settings."""
    folder, lines = tmp_path / "tune", []
    population = train(tiny(4, 6, 2), folder, here, lines.append)
    assert len(population.rounds) == 3 and any("copied" in line for line in lines)
    best = population.best()
    place = member_folder(folder, 3, best.member)
    assert best.score == objective(place, "-losses.value")
    assert max(each.score or -9 for each in population.rounds[-1]) == best.score
    assert sorted(each.name for each in folder.iterdir()) == [
        "best.toml", "population.json", "round-3",
    ]  # fmt: skip
    start(str(folder / "best.toml"), str(tmp_path / "again"), view=QuietView())
    one, other = (load_model(each / "model.safetensors")[0] for each in (place, tmp_path / "again"))
    for name, tensor in one.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name])
    metrics = [(each / "metrics.jsonl").read_bytes() for each in (place, tmp_path / "again")]
    assert metrics[0] == metrics[1]
    chained = any(each.origin != each.member for each in population.chain(best.member))
    stored = json.loads((folder / "population.json").read_text())
    assert stored["rounds"][2][best.member]["score"] == best.score
    assert Population.load(folder) == population
    assert 0 < Population.load(folder).seconds == population.seconds
    assert chained or population.root(best.member) == best.member
    page = tmp_path / "report.html"
    assert main(["report", str(folder), "--out", str(page)]) == 0
    text = page.read_text()
    assert "Population tune" in text and "How the best member came to be" in text
    assert f"The best is member {best.member}" in text and "ppo.learning_rate" in text


def test_an_interrupted_tuning_ends_as_one_that_was_not(tmp_path: Path) -> None:
    whole = train(tiny(2, 4, 2), tmp_path / "whole", here)
    done = 0

    def failing(jobs: Iterable[Job]) -> Iterator[bytes]:
        nonlocal done
        for data in here(jobs):
            done += 1
            if done == 4:  # in the middle of the second round
                raise KeyboardInterrupt
            yield data

    with pytest.raises(KeyboardInterrupt):
        train(tiny(2, 4, 2), tmp_path / "part", failing)
    half = Population.load(tmp_path / "part")
    assert len(half.rounds) == 1
    assert train(half, tmp_path / "part", here) == whole
