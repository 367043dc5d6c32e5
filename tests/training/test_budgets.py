"""When a run of a tiny algorithm ends, and what it keeps on the way."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from rookery.commands.train import report
from rookery.runs.checkpoint import Checkpoints
from rookery.training import loop
from rookery.training.folder import RunFolder
from rookery.training.loop import Outcome
from rookery.training.seeds import train_seed
from rookery.training.session import resume
from rookery.training.trainer import MatchScore, Metrics
from support.runs import (
    QuietView,
    final_state,
    rows,
    train,
    write_recipe,
)
from support.tiny_algorithm import TinyTrainer


def test_the_time_of_a_budget_ends_a_long_iteration(tmp_path: Path) -> None:
    view = QuietView()
    outcome = train(tmp_path, "tiny.pause=300", budget="3s", view=view)
    assert outcome.finished and outcome.iterations == 0
    assert "iteration 1 was given up" in (tmp_path / "run" / "log.txt").read_text()
    assert [row["iteration"] for row in outcome.ratings] == [0]  # the first is also the last


def test_budgets_of_samples_and_games(tmp_path: Path) -> None:
    assert train(tmp_path, budget="40samples", name="a").iterations == 3  # of 16 each
    games = train(tmp_path, "tiny.steps=60", budget="2games", name="b")
    assert games.games >= 2 and games.finished
    more = resume(str(tmp_path / "a"), budget="+16samples", view=QuietView())
    assert more.samples == 64


def test_evaluations_take_a_share_of_the_time(tmp_path: Path) -> None:
    settings = ("run.evaluations=1000", "run.evaluation_share=0", "tiny.pause=0.01")
    outcome = train(tmp_path, *settings, budget="0.5s")
    # The first took longer than nothing, so only the last follows.
    assert [row["iteration"] for row in outcome.ratings] == [0, outcome.iterations]
    assert outcome.iterations > 2


def test_an_evaluation_ends_with_its_share_of_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first takes half of it, the last what is left, those between what there is time for."""
    now = [0.0]
    monkeypatch.setattr(loop, "CLOCKS", {"wall": lambda: now[0]})
    took: list[float] = []

    def evaluate(trainer: TinyTrainer, rng: object) -> list[MatchScore]:
        began = now[0]
        while not trainer.context.evaluation_is_over():
            now[0] += 1.0
        took.append(now[0] - began)
        return [MatchScore("random", (1, 0, 0), (0, 0, 1))]

    iterate = TinyTrainer.iterate

    def slow(trainer: TinyTrainer) -> Metrics:
        now[0] += 10.0
        return iterate(trainer)

    monkeypatch.setattr(TinyTrainer, "evaluate", evaluate)
    monkeypatch.setattr(TinyTrainer, "iterate", slow)
    settings = ("run.evaluations=4", "run.evaluation_share=0.4")
    outcome = train(tmp_path, *settings, budget="1000s")
    assert took == [200.0, 200.0]
    assert [row["iteration"] for row in outcome.ratings] == [0, outcome.iterations] == [0, 80]


def test_a_stop_gives_an_evaluation_up_and_the_resumed_run_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def evaluate(trainer: TinyTrainer, rng: object) -> list[MatchScore]:
        for _ in range(3):
            asked.append(1)
            trainer.context.evaluation_is_over()
        return [MatchScore("random", (1, 0, 0), (0, 0, 1))]

    monkeypatch.setattr(TinyTrainer, "evaluate", evaluate)
    outcome = train(tmp_path, budget="5it", stop=lambda: len(asked) == 2)
    assert (outcome.iterations, outcome.ratings, outcome.finished) == (0, [], False)
    assert "the evaluation was given up" in (tmp_path / "run" / "log.txt").read_text()
    again = resume(str(tmp_path / "run"), view=QuietView())
    assert [row["iteration"] for row in again.ratings][:1] == [0] and again.finished


def test_budget_is_the_total_and_plus_means_more(tmp_path: Path) -> None:
    assert train(tmp_path, budget="5it").iterations == 5
    run = str(tmp_path / "run")
    view = QuietView()
    again = resume(run, view=view)
    assert (again.iterations, again.finished) == (5, True)
    assert any("used up" in text for text in view.messages)
    assert resume(run, budget="8it", view=QuietView()).iterations == 8
    assert resume(run, budget="+3it", view=QuietView()).iterations == 11
    assert resume(run, view=QuietView()).iterations == 11
    assert RunFolder.open(Path(run)).recipe().run.budget == "11it"
    ratings = RunFolder.open(Path(run)).ratings()
    assert [row["round"] for row in ratings] == list(range(1, len(ratings) + 1))
    assert ratings[-1]["iteration"] == 11


def test_time_budget_counts_all_sessions(tmp_path: Path) -> None:
    outcome = train(tmp_path, "tiny.pause=0.02", budget="0.3s")
    assert outcome.finished
    assert 0.3 <= outcome.seconds < 5
    longer = resume(str(tmp_path / "run"), budget="+0.3s", view=QuietView())
    assert longer.seconds >= 0.6  # what it took to save the first time is not counted


def test_a_clock_that_jumps_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(10**9, 0, -1000))
    monkeypatch.setattr(time, "time", lambda: float(next(clock)))
    outcome = train(tmp_path, budget="3it")
    assert outcome.iterations == 3
    assert 0 < outcome.seconds < 60


def test_a_trainer_that_has_solved_its_task_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved = property(lambda self: self.context.iteration >= 4)
    monkeypatch.setattr(TinyTrainer, "solved", solved)
    outcome = train(tmp_path)
    assert outcome.finished and outcome.iterations == 5  # counted when an iteration begins


def test_a_run_with_nothing_left_to_do_does_not_offer_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "go on" in told(train(tmp_path, budget="2it", name="a"), capsys)
    monkeypatch.setattr(TinyTrainer, "solved", True)
    outcome = train(tmp_path, budget="9it", name="b")
    assert outcome.solved and "go on" not in told(outcome, capsys)
    resume(str(tmp_path / "b"), budget="+9it", view=QuietView())
    log = (tmp_path / "b" / "log.txt").read_text()
    assert "nothing is left to do" in log and "used up" not in log
    again, had_finished = train_seed(write_recipe(tmp_path), str(tmp_path / "b"), "9it", 1)
    assert had_finished and again.solved


def told(outcome: Outcome, capsys: pytest.CaptureFixture[str]) -> str:
    report(outcome, as_json=False)
    return capsys.readouterr().out


def test_milestones_are_kept_when_other_checkpoints_go(tmp_path: Path) -> None:
    milestones = 'run.milestones=["0it", "3it", "80samples", "8it"]'
    settings = ("run.evaluations=0", "run.checkpoint_seconds=1e-6", milestones)
    train(tmp_path, *settings, budget="12it")
    checkpoints = Checkpoints(tmp_path / "run" / "checkpoints")
    kept = [step for step in checkpoints.steps() if checkpoints.read(step).milestone]
    first = next(
        json.loads(line)["iteration"]
        for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
        if json.loads(line)["samples"] >= 80
    )
    assert kept == [0, 3, first, 8] and 3 < first < 8
    assert checkpoints.steps() == [*kept, 10, 11, 12]


def test_milestones_are_not_lost_in_a_stop(tmp_path: Path) -> None:
    settings = ("run.evaluations=0", 'run.milestones=["7it", "23it"]')
    train(tmp_path, *settings, until=12)
    resume(str(tmp_path / "run"), view=QuietView())
    checkpoints = Checkpoints(tmp_path / "run" / "checkpoints")
    kept = [step for step in checkpoints.steps() if checkpoints.read(step).milestone]
    assert kept == [7, 23]


def test_processor_time_does_not_count_waiting(tmp_path: Path) -> None:
    settings = ("run.clock=processor", "run.evaluations=0", "tiny.pause=0.02")
    began = time.monotonic()
    outcome = train(tmp_path, *settings, budget="25it")
    assert outcome.seconds < time.monotonic() - began - 25 * 0.01  # half of the pauses at least
    assert outcome.seconds > 0


def test_a_session_that_is_to_stop_begins_no_evaluation(straight: Path, tmp_path: Path) -> None:
    outcome = train(tmp_path, stop=lambda: True)
    assert (outcome.iterations, outcome.ratings, outcome.finished) == (0, [], False)
    resume(str(tmp_path / "run"), view=QuietView())
    assert final_state(tmp_path / "run") == final_state(straight)
    for name in ("metrics.jsonl", "ratings.json"):
        assert rows(tmp_path / "run", name) == rows(straight, name) > 0


def test_a_session_stops_when_it_is_told_to(tmp_path: Path) -> None:
    told: list[int] = []

    def stop() -> bool:
        told.append(1)
        return len(told) > 5

    outcome = train(tmp_path, stop=stop)
    assert not outcome.finished and 0 < outcome.iterations < 40
    assert resume(str(tmp_path / "run"), view=QuietView()).iterations == 40
