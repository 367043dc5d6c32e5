"""Runs of a tiny algorithm that diverge, are damaged or cannot write; and what is refused."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rookery.base import storage
from rookery.runs.checkpoint import STATE, Checkpoints, FutureFormatError
from rookery.runs.lock import FolderLock, LockError
from rookery.training.folder import RunError, RunFolder, free_run_path
from rookery.training.loop import DivergedError
from rookery.training.session import resume, start
from support.runs import (
    QuietView,
    final_state,
    run_to_end,
    train,
    write_recipe,
)


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
