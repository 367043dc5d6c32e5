"""Whole runs of a tiny algorithm: straight, split, killed, interrupted, diverged, refused."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from rookery.base import storage
from rookery.cli import main
from rookery.nets import make_network
from rookery.nets.model_file import read_info, save_model
from rookery.runs.checkpoint import MODEL, STATE, Checkpoints, FutureFormatError
from rookery.runs.lock import FolderLock, LockError
from rookery.training.folder import RunError, RunFolder, free_run_path
from rookery.training.loop import DivergedError
from rookery.training.opponents import play_opponents
from rookery.training.recipe import RunSettings
from rookery.training.session import resume, start
from support.paths import SUPPORT
from support.runs import (
    RECIPE,
    Child,
    QuietView,
    final_state,
    rows,
    run_to_end,
    write_recipe,
)
from support.tiny_algorithm import TinyTrainer

FAST = ["--set", "run.checkpoint_seconds=0.02"]


def train(tmp_path: Path, *settings: str, name: str = "run", **options: Any) -> Any:
    recipe = write_recipe(tmp_path)
    view = options.pop("view", None) or QuietView()
    return start(recipe, str(tmp_path / name), settings=settings, view=view, **options)


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 40 iterations without any interruption."""
    folder = tmp_path_factory.mktemp("straight")
    train(folder)
    return folder / "run"


def test_a_run_leaves_what_it_promises(straight: Path) -> None:
    names = {entry.name for entry in straight.iterdir()}
    parts = {"recipe.toml", "metrics.jsonl", "timing.jsonl", "checkpoints", "replay", "games"}
    assert names == parts | {"ratings.json", "log.txt", "lock", "tensorboard", MODEL}
    metrics = [json.loads(line) for line in (straight / "metrics.jsonl").read_text().splitlines()]
    assert [row["iteration"] for row in metrics if "iteration" in row] == list(range(1, 41))
    evaluated = [row["evaluation"]["iteration"] for row in metrics if "evaluation" in row]
    assert evaluated == [0, 10, 20, 30, 40]
    assert metrics[1]["values"]["undefined"] is None
    ratings = json.loads((straight / "ratings.json").read_text())["evaluations"]
    assert [row["iteration"] for row in ratings] == evaluated
    assert ratings[-1]["games"] == 10
    assert ratings[-1]["elo_low"] <= ratings[-1]["elo"] <= ratings[-1]["elo_high"]
    assert Checkpoints(straight / "checkpoints").steps()[-4:] == [10, 20, 30, 40]
    assert len(list((straight / "games").glob("*.pgn"))) == 5
    info = read_info(straight / MODEL)
    assert info.totals["iterations"] == 40
    assert len(info.ratings) == 5
    assert info.recipe["tiny"]["games"] == 4


def test_tensorboard_reads_our_events(straight: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(straight / "tensorboard"))
    events.Reload()
    assert [event.step for event in events.Scalars("losses/value")] == list(range(1, 41))
    assert len(events.Scalars("score/random")) == 5
    # The recipe is in TensorBoard's table of hyper-parameters.
    (settings,) = events.PluginTagToContent("hparams").values()
    assert b"tiny.learning_rate" in settings


def test_straight_and_split_runs_are_identical(tmp_path: Path, straight: Path) -> None:
    """Stopped by a signal twice, and resumed: the same bytes everywhere."""
    recipe = write_recipe(tmp_path)
    run = tmp_path / "run"
    words: tuple[str, ...] = ("train", recipe, "--run", str(run), "--set", "tiny.pause=0.01")
    for limit in (7, 23):
        child = Child(tmp_path, *words)
        child.wait_for(lambda limit=limit: rows(run) >= limit)  # type: ignore[misc]
        child.send(signal.SIGTERM)
        assert child.wait() == 0
        words = ("resume", str(run))
    status, _, _ = run_to_end(tmp_path, *words)
    assert status == 0
    assert final_state(run) == final_state(straight)
    metrics = (run / "metrics.jsonl").read_bytes()
    assert metrics == (straight / "metrics.jsonl").read_bytes()
    games = [sorted(p.name for p in (r / "games").iterdir()) for r in (run, straight)]
    assert games[0] == games[1]


def test_a_long_iteration_is_given_up_and_done_again(tmp_path: Path, straight: Path) -> None:
    recipe = write_recipe(tmp_path)
    run = tmp_path / "run"
    child = Child(tmp_path, "train", recipe, "--run", str(run), "--set", "tiny.pause=300")
    log = run / "log.txt"
    child.wait_for(lambda: log.exists() and "waits" in log.read_text())
    child.send(signal.SIGTERM)
    assert child.wait() == 0  # long before the iteration would have ended
    assert "iteration 1 was given up" in log.read_text()
    resume(str(run), settings=["tiny.pause=0"], accept_changes=True, view=QuietView())
    metrics = (run / "metrics.jsonl").read_bytes()
    assert metrics == (straight / "metrics.jsonl").read_bytes()


def test_the_time_of_a_budget_ends_a_long_iteration(tmp_path: Path) -> None:
    view = QuietView()
    outcome = train(tmp_path, "tiny.pause=300", budget="0.3s", view=view)
    assert outcome.finished and outcome.iterations == 0
    assert "iteration 1 was given up" in (tmp_path / "run" / "log.txt").read_text()
    assert [row["iteration"] for row in outcome.ratings] == [0, 0]  # at the start and at the end


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


def test_any_player_as_opponent(tmp_path: Path) -> None:
    model = tmp_path / "00000007" / "model.safetensors"
    model.parent.mkdir()
    save_model(model, make_network("mlp", "vector66", "az4672", {"hidden": [8]}))
    settings = RunSettings(opponents=["random", "greedy-safe"], opponent_games=4)
    scores = play_opponents(model, settings, 1, "standard")
    assert [score.opponent for score in scores] == ["random", "greedy-safe"]
    for score in scores:
        assert sum(score.as_white) == sum(score.as_black) == 2
    sampling = settings.model_copy(update={"play_as": "temperature=1", "opponents": ["random"]})
    assert play_opponents(model, sampling, 1, "standard")[0].opponent == "random"


def test_several_seeds_in_one_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe, name = write_recipe(tmp_path), str(tmp_path / "run")
    words = ["train", recipe, "--run", name, "--budget", "3it", "--json", "--seeds"]
    assert main([*words, "4,5"]) == 0
    found = json.loads(capsys.readouterr().out)["runs"]
    assert [run["run"] for run in found] == [f"{name}-seed4", f"{name}-seed5"]
    first, second = (final_state(Path(run["run"])) for run in found)
    assert first != second
    assert main([*words, "4,4"]) == 2
    assert "different seeds" in capsys.readouterr().err


def test_kill_loop(tmp_path: Path, straight: Path) -> None:
    """SIGKILL at random instants, then on to the end: nothing damaged, the same bytes."""
    recipe = write_recipe(tmp_path)
    run = tmp_path / "run"
    instants = random.Random(1)
    begin = ("train", recipe, "--run", str(run), *FAST, "--set", "tiny.pause=0.01")
    kills = resumed = 0
    while kills < 10:
        resuming = run.exists()
        child = Child(tmp_path, *(("resume", str(run)) if resuming else begin))
        time.sleep(instants.uniform(0.02, 0.4))
        child.send(signal.SIGKILL)
        status = child.wait()
        if status == 0:  # finished before it could be killed: begin again
            assert final_state(run) == final_state(straight)
            shutil.rmtree(run)
            continue
        assert status == -signal.SIGKILL, child.err.read_text()
        kills += 1
        resumed += resuming
        if run.exists():
            messages: list[str] = []
            found = Checkpoints(run / "checkpoints", messages.append).newest()
            assert not messages
            # Checkpoints follow each other closely here, so little may be lost.
            assert rows(run, "timing.jsonl") - (found[0].step if found else 0) <= 20
    assert resumed >= 5
    status, _, errors = run_to_end(tmp_path, *(("resume", str(run)) if run.exists() else begin))
    assert status == 0, errors
    assert final_state(run) == final_state(straight)
    assert (run / "metrics.jsonl").read_bytes() == (straight / "metrics.jsonl").read_bytes()
    leftovers = [p for p in run.rglob(".*") if p.name.endswith((".tmp", ".old"))]
    assert not leftovers


def test_signal_saves_and_says_how_to_go_on(tmp_path: Path) -> None:
    recipe, run = write_recipe(tmp_path), tmp_path / "run"
    for number in (signal.SIGINT, signal.SIGTERM):
        child = Child(tmp_path, "train", recipe, "--run", str(run), "--set", "tiny.pause=0.02")
        child.wait_for(lambda: rows(run) >= 3)
        child.send(number)
        assert child.wait() == 0
        assert f"rookery resume {run}" in child.out.read_text()
        step = Checkpoints(run / "checkpoints").steps()[-1]
        assert step == rows(run)
        shutil.rmtree(run)


def test_second_signal_stops_at_once(tmp_path: Path) -> None:
    recipe, run = write_recipe(tmp_path), tmp_path / "run"
    words = ("--set", "tiny.pause=30", "--set", "tiny.obedient=false")
    child = Child(tmp_path, "train", recipe, "--run", str(run), *words)
    child.wait_for(lambda: bool(Checkpoints(run / "checkpoints").steps()))
    child.send(signal.SIGINT)
    child.wait_for(lambda: "a second signal stops at once" in child.err.read_text())
    child.send(signal.SIGINT)
    assert child.wait(20) == 130  # the iteration would take 30 seconds
    assert RunFolder.open(run).checkpoints.newest() is not None


def test_command_line_in_a_process_of_its_own(tmp_path: Path) -> None:
    """Train, Ctrl-C and resume as a person does, with JSON on standard output."""
    recipe = write_recipe(tmp_path)
    driver = [sys.executable, str(SUPPORT / "tiny_driver.py")]
    process = subprocess.Popen(
        [*driver, "train", recipe, "--json", "--set", "tiny.pause=0.02"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    run = tmp_path / "runs" / "tiny"
    end = time.monotonic() + 60
    while rows(run) < 3 and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    result = json.loads(output)
    assert result["run"] == "runs/tiny"
    assert result["recipe"] == "tiny"
    assert not result["finished"]
    assert result["iterations"] == rows(run)
    assert (tmp_path / result["checkpoint"]).is_dir()
    assert {"seconds", "samples"} <= result.keys()
    assert "rookery resume runs/tiny" in errors


def test_a_closed_output_ends_the_run_with_its_checkpoint(tmp_path: Path) -> None:
    """As in `rookery train ... 2>&1 | head -1`."""
    recipe, run = write_recipe(tmp_path), tmp_path / "run"
    words = ["train", recipe, "--run", str(run), "--set", "tiny.pause=0.5"]
    with subprocess.Popen(
        [sys.executable, str(SUPPORT / "tiny_driver.py"), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 0
    assert rows(run) < 40
    assert Checkpoints(run / "checkpoints").steps()[-1] == rows(run)


def test_a_finished_run_has_status_0_though_nobody_reads_it(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    words = ["train", write_recipe(tmp_path), "--run", str(tmp_path / "run"), "--budget", "2it"]
    done = subprocess.run(
        [sys.executable, str(SUPPORT / "tiny_driver.py"), *words],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(writing)
    assert done.returncode == 0 and "Traceback" not in done.stderr and "Broken" not in done.stderr


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


@pytest.mark.parametrize("key", ["nan_at", "nan_weight_at"])
def test_nan_stops_and_the_last_good_state_is_kept(tmp_path: Path, key: str) -> None:
    with pytest.raises(DivergedError, match=r"checkpoint 000000\d\d.*rookery resume"):
        train(tmp_path, f"tiny.{key}=7", "run.checkpoint_seconds=0.0001", budget="12it")
    run = RunFolder.open(tmp_path / "run")
    found = run.checkpoints.newest()
    assert found is not None
    assert found[0].step == 6
    assert found[1].non_finite() is None
    with pytest.raises(RunError, match=rf"tiny\.{key}: 7 -> 0"):
        resume(str(run.path), settings=[f"tiny.{key}=0"], view=QuietView())
    outcome = resume(
        str(run.path), settings=[f"tiny.{key}=0"], accept_changes=True, view=QuietView()
    )
    assert outcome.iterations == 12


def test_damage_to_the_newest_checkpoint_costs_one_generation(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    train(tmp_path, "run.checkpoint_seconds=0.0001", budget="6it")
    path = run / "checkpoints" / "00000006" / STATE
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    view = QuietView()
    resume(str(run), budget="7it", view=view)
    text = " ".join(view.messages)
    assert "00000006 is damaged" in text
    assert "resuming from checkpoint 00000005" in text
    assert "resumes from checkpoint 00000005" in (run / "log.txt").read_text()


def test_changed_recipe_is_listed_and_needs_a_flag(tmp_path: Path) -> None:
    train(tmp_path, budget="4it")
    run = tmp_path / "run"
    path = run / "recipe.toml"
    before = (run / "metrics.jsonl").read_bytes()
    path.write_text(path.read_text().replace("learning_rate = 0.01", "learning_rate = 0.5"))
    with pytest.raises(RunError, match=r"tiny\.learning_rate: 0\.01 -> 0\.5.*--accept-changes"):
        resume(str(run), budget="6it", view=QuietView())
    assert (run / "metrics.jsonl").read_bytes() == before
    resume(str(run), budget="6it", accept_changes=True, view=QuietView())
    assert "0.01 -> 0.5" in (run / "log.txt").read_text()
    resume(str(run), budget="7it", view=QuietView())  # the change is part of the run from now on


def test_settings_that_came_later_are_no_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkpoint from before a setting existed goes on with its default, and only with that."""
    train(tmp_path, budget="3it")
    newest = Checkpoints.newest

    def older(self: Checkpoints) -> Any:
        found = newest(self)
        assert found is not None
        del found[0].recipe["tiny"]["pause"]
        return found

    monkeypatch.setattr(Checkpoints, "newest", older)
    run = str(tmp_path / "run")
    assert resume(run, budget="4it", view=QuietView()).iterations == 4
    with pytest.raises(RunError, match=r"tiny\.pause: 0\.0 -> 0\.001"):
        resume(run, budget="5it", settings=["tiny.pause=0.001"], view=QuietView())


def test_former_names_of_settings_are_no_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run folder from before a setting was renamed has the old name in all its files."""
    train(tmp_path, budget="3it")
    newest = Checkpoints.newest

    def older(self: Checkpoints) -> Any:
        found = newest(self)
        assert found is not None
        settings = found[0].recipe["tiny"]
        settings["boards"] = settings.pop("games")
        return found

    path = tmp_path / "run" / "recipe.toml"
    path.write_text(path.read_text().replace("\ngames = 4", "\nboards = 4"))
    assert "boards = 4" in path.read_text()
    monkeypatch.setattr(Checkpoints, "newest", older)
    run = str(tmp_path / "run")
    assert resume(run, budget="4it", view=QuietView()).iterations == 4
    assert "\ngames = 4" in path.read_text() and "boards = 4" not in path.read_text()
    with pytest.raises(RunError, match=r"tiny\.games: 4 -> 5"):
        resume(run, budget="5it", settings=["tiny.boards=5"], view=QuietView())


def test_a_trainer_that_has_solved_its_task_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved = property(lambda self: self.context.iteration >= 4)
    monkeypatch.setattr(TinyTrainer, "solved", solved)
    outcome = train(tmp_path)
    assert outcome.finished and outcome.iterations == 5  # counted when an iteration begins


@pytest.mark.parametrize("settings", [[], ["tiny.fail_at=2"]])
def test_trainers_are_closed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: list[str]
) -> None:
    closed: list[TinyTrainer] = []
    monkeypatch.setattr(TinyTrainer, "close", lambda trainer: closed.append(trainer))
    with pytest.raises(ValueError, match="asked to fail") if settings else nullcontext():
        train(tmp_path, *settings, budget="3it")
    assert len(closed) == 1


def test_a_change_that_does_not_fit_the_state_is_refused(tmp_path: Path) -> None:
    train(tmp_path, budget="4it")
    run = tmp_path / "run"
    state = final_state(run)
    with pytest.raises(RunError, match="does not fit the recipe"):
        resume(str(run), settings=["tiny.hidden=5"], accept_changes=True, view=QuietView())
    assert final_state(run) == state
    assert resume(str(run), budget="5it", view=QuietView()).iterations == 5


def test_second_trainer_is_refused(tmp_path: Path) -> None:
    train(tmp_path, budget="2it")
    with FolderLock(tmp_path / "run"), pytest.raises(LockError, match="another process"):
        resume(str(tmp_path / "run"), budget="4it", view=QuietView())
    assert resume(str(tmp_path / "run"), budget="4it", view=QuietView()).iterations == 4


def test_a_run_is_not_overwritten(tmp_path: Path) -> None:
    train(tmp_path, budget="2it")
    with pytest.raises(RunError, match="holds a run already; continue it with 'rookery resume"):
        train(tmp_path, budget="2it")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("precious")
    with pytest.raises(RunError, match="is not a run"):
        train(tmp_path, budget="2it", name="full")
    (tmp_path / "empty").mkdir()
    assert train(tmp_path, budget="2it", name="empty").iterations == 2
    assert free_run_path(tmp_path, "run").name == "run-2"


def test_links_are_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunError, match="symbolic link"):
        train(tmp_path, name="link")
    assert not list((tmp_path / "elsewhere").iterdir())
    train(tmp_path, budget="2it")
    (tmp_path / "other").symlink_to(tmp_path / "run")
    with pytest.raises(RunError, match="symbolic link"):
        resume(str(tmp_path / "other"), view=QuietView())
    target = tmp_path / "target"
    target.write_text("precious")
    (tmp_path / "run" / "metrics.jsonl").unlink()
    (tmp_path / "run" / "metrics.jsonl").symlink_to(target)
    with pytest.raises(RunError, match="symbolic link"):
        resume(str(tmp_path / "run"), budget="4it", view=QuietView())
    assert target.read_text() == "precious"


def test_the_last_run_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunError, match="no run in runs/"):
        resume(view=QuietView())
    recipe = write_recipe(tmp_path)
    for _ in range(2):
        start(recipe, budget="2it", view=QuietView())
    os.utime("runs/tiny-2/log.txt", (1, 1))
    assert resume(budget="3it", view=QuietView()).run == "runs/tiny"
    os.utime("runs/tiny/log.txt", (0, 0))
    assert resume(budget="3it", view=QuietView()).run == "runs/tiny-2"


def test_what_is_not_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not a run folder"):
        resume(str(tmp_path / "nothing"), view=QuietView())


def test_future_format_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("rookery.runs.checkpoint.FORMAT", 99)
        train(tmp_path, budget="2it")
    before = sorted(str(p) for p in (tmp_path / "run").rglob("*"))
    with pytest.raises(FutureFormatError, match=r"format 99.*reads 1"):
        resume(str(tmp_path / "run"), budget="4it", view=QuietView())
    assert sorted(str(p) for p in (tmp_path / "run").rglob("*")) == before


def test_a_run_that_cannot_begin_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"4000 workers are more than the \d+ cores? of"):
        train(tmp_path, workers=4000)
    assert not (tmp_path / "run").exists()
    with pytest.raises(ValueError, match="fail"):
        train(tmp_path, "tiny.fail_at=1")
    assert (tmp_path / "run" / "checkpoints" / "00000000").exists()  # begun: kept


def test_failing_iteration_keeps_the_run(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="asked to fail"):
        train(tmp_path, "tiny.fail_at=5", "run.checkpoint_seconds=0.0001", budget="8it")
    outcome = resume(
        str(tmp_path / "run"), settings=["tiny.fail_at=0"], accept_changes=True, view=QuietView()
    )
    assert outcome.iterations == 8


def test_full_disk_at_any_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk fills up at the n-th write: one line, and what was saved can be resumed."""
    train(tmp_path, "run.checkpoint_seconds=0.0001", budget="3it")
    real = os.write
    for fatal in range(1, 26, 4):
        run = tmp_path / f"copy{fatal}"
        shutil.copytree(tmp_path / "run", run)
        calls = [0]

        def write(descriptor: int, data: Any, calls: list[int] = calls, at: int = fatal) -> int:
            calls[0] += 1
            if calls[0] >= at:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(descriptor, data)

        with monkeypatch.context() as patch:
            patch.setattr(storage.os, "write", write)
            with pytest.raises(RunError) as caught:
                resume(str(run), budget="30it", view=QuietView())
        assert "no space is left" in str(caught.value).lower(), caught.value
        assert "\n" not in str(caught.value)
        messages: list[str] = []
        found = Checkpoints(run / "checkpoints", messages.append).newest()
        assert found is not None
        assert found[0].step >= 3
        assert not messages
        assert resume(str(run), budget="9it", view=QuietView()).iterations == 9


def test_a_really_full_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(words, capture_output=True).returncode != 0:
        pytest.skip("needs permission to mount a small tmpfs")
    try:
        recipe, run = write_recipe(tmp_path), disk / "run"
        settings = ["--set", "run.checkpoint_seconds=0.001", "--set", "run.evaluations=1000"]
        status, _, errors = run_to_end(
            tmp_path, "train", recipe, "--run", str(run), "--budget", "1000it", *settings
        )
        assert status == 1
        last = errors.strip().splitlines()[-1]
        assert "no space is left" in last
        assert "is intact" in last
        subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)
        status, _, errors = run_to_end(tmp_path, "resume", str(run), "--budget", "+5it")
        assert status == 0, errors
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False)


def test_read_only_folder(tmp_path: Path) -> None:
    if os.geteuid() == 0:  # permissions do not bind root; a read-only mount does
        disk = tmp_path / "disk"
        disk.mkdir()
        words = ["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(disk)]
        if subprocess.run(words, capture_output=True).returncode != 0:
            pytest.skip("needs permission to mount a read-only tmpfs")
    else:
        disk = tmp_path / "disk"
        disk.mkdir(mode=0o555)
    try:
        with pytest.raises(RunError, match="cannot make the run folder"):
            train(tmp_path, name="disk/run")
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=False, capture_output=True)


def test_lost_metrics_are_reported(tmp_path: Path) -> None:
    train(tmp_path, budget="4it")
    path = tmp_path / "run" / "metrics.jsonl"
    path.write_bytes(path.read_bytes()[:-40])
    view = QuietView()
    resume(str(tmp_path / "run"), budget="5it", view=view)
    assert any("lost 40 bytes" in text for text in view.messages)


def test_killed_before_the_first_checkpoint_begins_again(tmp_path: Path, straight: Path) -> None:
    train(tmp_path, budget="40it")
    run = tmp_path / "run"
    recipe = (run / "recipe.toml").read_text()
    shutil.rmtree(run)
    run.mkdir()
    (run / "recipe.toml").write_text(recipe)
    assert resume(str(run), view=QuietView()).iterations == 40
    assert final_state(run) == final_state(straight)


@pytest.mark.parametrize("loss", ["gone", "empty", "only models"])
def test_a_run_without_its_checkpoints_is_not_begun_again(tmp_path: Path, loss: str) -> None:
    train(tmp_path, "run.keep_checkpoints=2", budget="8it")
    run = tmp_path / "run"
    metrics = (run / "metrics.jsonl").read_bytes()
    if loss == "only models":
        for step in (6, 8):
            shutil.rmtree(run / "checkpoints" / f"{step:08d}")
        assert Checkpoints(run / "checkpoints").steps() == [0, 2, 4]
    else:
        shutil.rmtree(run / "checkpoints")
        if loss == "empty":
            (run / "checkpoints").mkdir()
    with pytest.raises(RunError, match=r"8 iterations but no checkpoint.*rookery train .* --run"):
        resume(str(run), view=QuietView())
    assert (run / "metrics.jsonl").read_bytes() == metrics
    again = start(str(run / "recipe.toml"), str(tmp_path / "again"), view=QuietView())
    assert again.iterations == 8
    assert final_state(tmp_path / "again")


def test_seed_decides_everything(tmp_path: Path) -> None:
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        train(tmp_path, name=name, seed=seed, budget="3it")
    states = [final_state(tmp_path / name) for name in "abc"]
    assert states[0] == states[1] != states[2]


def test_recipe_text_is_complete(straight: Path) -> None:
    text = (straight / "recipe.toml").read_text()
    for key in ("seed = 1", "checkpoint_seconds = 30.0", "learning_rate = 0.01", "games = 4"):
        assert key in text
    assert RECIPE.count("=") < text.count("=")


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


def test_a_session_stops_when_it_is_told_to(tmp_path: Path) -> None:
    told: list[int] = []

    def stop() -> bool:
        told.append(1)
        return len(told) > 5

    outcome = train(tmp_path, stop=stop)
    assert not outcome.finished and 0 < outcome.iterations < 40
    assert resume(str(tmp_path / "run"), view=QuietView()).iterations == 40
