"""`rookery train --seeds`: the same command again goes on where it was stopped."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from rookery.cli import main
from rookery.training.folder import RunFolder
from rookery.training.session import resume
from support.runs import Child, QuietView, final_state, rows, write_recipe


def words(tmp_path: Path, seeds: str, *more: str) -> list[str]:
    recipe = write_recipe(tmp_path)
    return ["train", recipe, "--run", str(tmp_path / "run"), "--seeds", seeds, *more]


def test_the_same_command_goes_on_after_ctrl_c(tmp_path: Path) -> None:
    command = words(tmp_path, "1,2,3", "--set", "tiny.pause=0.02")
    first, second, third = (tmp_path / f"run-seed{seed}" for seed in (1, 2, 3))
    child = Child(tmp_path, *command)
    child.wait_for(lambda: rows(second) >= 3)
    child.send(signal.SIGINT)
    assert child.wait() == 0
    assert f"saved; resume with: rookery resume {second}" in child.out.read_text()
    assert "the same command goes on from here" in child.err.read_text()
    assert rows(first) == 40 > rows(second) and not third.exists()
    before = (first / "log.txt").read_text()
    child = Child(tmp_path, *command)
    assert child.wait() == 0
    assert f"skipped: {first} has finished already" in child.err.read_text()
    assert (first / "log.txt").read_text() == before
    assert "resumes from checkpoint" in (second / "log.txt").read_text()
    assert [rows(run) for run in (first, second, third)] == [40, 40, 40]
    assert f"report {first} {second} {third} --out" in child.out.read_text()


def test_a_seed_that_was_stopped_ends_as_one_that_was_not(tmp_path: Path) -> None:
    for name in ("whole", "split"):
        (tmp_path / name).mkdir()
    whole = words(tmp_path / "whole", "5", "--set", "tiny.pause=0.01")
    assert main(whole) == 0
    split = words(tmp_path / "split", "5", "--set", "tiny.pause=0.01")
    child = Child(tmp_path, *split)
    child.wait_for(lambda: rows(tmp_path / "split" / "run-seed5") >= 5)
    child.send(signal.SIGINT)
    assert child.wait() == 0
    assert main(split) == 0
    runs = (tmp_path / "whole" / "run-seed5", tmp_path / "split" / "run-seed5")
    assert final_state(runs[0]) == final_state(runs[1])


def test_finished_runs_are_reported_without_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = words(tmp_path, "1,2", "--budget", "3it", "--json")
    assert main(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(command) == 0
    output, errors = capsys.readouterr()
    again = json.loads(output)
    assert errors.count("has finished already") == 2
    for old, new in zip(found["runs"], again["runs"], strict=True):
        assert 0 < new.pop("seconds") <= old.pop("seconds")  # as of the last checkpoint
        assert old == new
    # A run that went further by itself has finished too; a larger budget means more work.
    resume(str(tmp_path / "run-seed2"), budget="5it", view=QuietView())
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["runs"][1]["iterations"] == 5
    assert main(words(tmp_path, "1,2", "--budget", "4it", "--json")) == 0
    assert [run["iterations"] for run in json.loads(capsys.readouterr().out)["runs"]] == [4, 5]
    assert RunFolder.open(tmp_path / "run-seed1").recipe().run.budget == "4it"


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (("--set", "tiny.learning_rate=0.5"), "tiny.learning_rate: 0.01 -> 0.5"),
        (("--budget", "+1it"), "is a total and has no '+'"),
    ],
)
def test_another_run_in_the_folder_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], what: str
) -> None:
    assert main(words(tmp_path, "1", "--budget", "2it")) == 0
    before = (tmp_path / "run-seed1" / "log.txt").read_text()
    capsys.readouterr()
    assert main(words(tmp_path, "1", *more)) == 1
    assert what in capsys.readouterr().err
    assert (tmp_path / "run-seed1" / "log.txt").read_text() == before


def test_another_recipe_or_seed_in_the_folder_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words(tmp_path, "1", "--budget", "2it")) == 0
    (tmp_path / "run-seed1").rename(tmp_path / "run-seed2")
    assert main(words(tmp_path, "2", "--budget", "2it")) == 1
    errors = capsys.readouterr().err
    assert "run-seed2 holds a run already" in errors and "run.seed: 1 -> 2" in errors
    other = write_recipe(tmp_path, 'algorithm = "tiny"\n[run]\nseed = 1\n', "other")
    (tmp_path / "run-seed2").rename(tmp_path / "run-seed1")
    assert main(["train", other, "--run", str(tmp_path / "run"), "--seeds", "1"]) == 1
    assert "name: tiny -> other" in capsys.readouterr().err


def test_a_damaged_newest_checkpoint_is_done_again(tmp_path: Path) -> None:
    command = words(tmp_path, "1", "--budget", "3it", "--set", "run.checkpoint_seconds=0.0001")
    assert main(command) == 0
    run = tmp_path / "run-seed1"
    (run / "checkpoints" / "00000003" / "manifest.json").write_text("{")
    assert main(command) == 0
    assert "00000003 is damaged" in (run / "log.txt").read_text()
    assert RunFolder.open(run).checkpoints.read(3).counters.iterations == 3
