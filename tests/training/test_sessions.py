"""Whole runs of a tiny algorithm: straight, split, killed, interrupted."""

from __future__ import annotations

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

import pytest

from rookery.cli import main
from rookery.nets import make_network
from rookery.nets.model_file import read_info, save_model
from rookery.runs.checkpoint import MODEL, Checkpoints
from rookery.training.folder import RunError, RunFolder
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
    train,
    write_recipe,
)
from support.tiny_algorithm import TinyTrainer

FAST = ["--set", "run.checkpoint_seconds=0.02"]


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


def test_a_closed_terminal_ends_the_run_with_its_checkpoint(tmp_path: Path) -> None:
    """The shell and the system each send SIGHUP, and writing fails with EIO instead of EPIPE."""
    recipe, run = write_recipe(tmp_path), tmp_path / "run"
    words = ["train", recipe, "--run", str(run), "--set", "run.evaluations=0"]
    window, terminal = os.openpty()
    with subprocess.Popen(
        [sys.executable, str(SUPPORT / "tiny_driver.py"), *words, "--set", "tiny.pause=0.5"],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # nohup ignores it
    ) as process:
        os.close(terminal)
        while process.poll() is None and rows(run) < 3:
            os.read(window, 65536)
        os.close(window)
        process.send_signal(signal.SIGHUP)
        time.sleep(0.1)  # within the pause; two signals at once may count as one
        process.send_signal(signal.SIGHUP)
        assert process.wait(60) == 0
    assert 3 <= rows(run) < 40
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


@pytest.mark.parametrize("settings", [[], ["tiny.fail_at=2"]])
def test_trainers_are_closed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: list[str]
) -> None:
    closed: list[TinyTrainer] = []
    monkeypatch.setattr(TinyTrainer, "close", lambda trainer: closed.append(trainer))
    with pytest.raises(ValueError, match="asked to fail") if settings else nullcontext():
        train(tmp_path, *settings, budget="3it")
    assert len(closed) == 1


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
