"""What every registered algorithm must keep: exact states, whenever they are saved or killed."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
import torch

from rookery.base.registry import load
from rookery.runs.algorithms import ALGORITHMS
from rookery.runs.checkpoint import MODEL, STATE, VALUES, Checkpoints
from rookery.training.recipe import load_recipe, parse_changes, read_recipe, recipe_model
from rookery.training.session import start
from rookery.training.trainer import Abandoned, Context
from support.runs import Child, QuietView, rows, run_to_end
from support.tiny_recipes import algorithms, tiny_recipe
from worker_chaos import workers

torch.set_num_threads(1)

SELDOM = ("run.checkpoint_seconds=60", "run.evaluations=0")
KILLS = 3


def train(folder: Path, algorithm: str, *settings: str) -> Path:
    tiny = tiny_recipe(algorithm, folder.parent)
    budget = f"{tiny.iterations}it"
    start(tiny.recipe, str(folder), budget, 3, 1, [*tiny.settings, *settings], QuietView())
    return folder


def ending(run: Path) -> dict[str, bytes]:
    """The whole state at the end of a run, and the metrics of its iterations."""
    checkpoints = Checkpoints(run / "checkpoints")
    newest = checkpoints.read(checkpoints.steps()[-1])
    lines = (run / "metrics.jsonl").read_bytes().splitlines()
    iterations = [line for line in lines if "iteration" in json.loads(line)]
    return {
        STATE: newest.read(STATE),
        VALUES: newest.read(VALUES),
        "metrics": b"\n".join(iterations),
    }


@pytest.mark.parametrize("algorithm", algorithms())
def test_saving_and_evaluating_change_nothing(algorithm: str, tmp_path: Path) -> None:
    seldom = ending(train(tmp_path / "seldom", algorithm, *SELDOM))
    saved = ("run.checkpoint_seconds=0.0001", "run.evaluations=0")
    often = ending(train(tmp_path / "often", algorithm, *saved))
    measured = ("run.checkpoint_seconds=60", "run.evaluations=3")
    evaluated = ending(train(tmp_path / "evaluated", algorithm, *measured))
    for name, content in seldom.items():
        assert often[name] == content, f"{name} depends on how often the run is saved"
        assert evaluated[name] == content, f"{name} depends on the evaluations"


# The engine's iterations are pieces of a phase and take a few seconds, so none is given up.
@pytest.mark.parametrize("algorithm", [name for name in algorithms() if name != "engine"])
def test_a_long_iteration_is_given_up_when_asked(algorithm: str, tmp_path: Path) -> None:
    (tmp_path / "replay").mkdir()
    tiny, asked = tiny_recipe(algorithm, tmp_path), [False]
    name, content = read_recipe(tiny.recipe)
    changes = parse_changes(tiny.settings, recipe_model(content, name))
    context = Context(load_recipe(tiny.recipe, changes), tmp_path, stopping=lambda: asked[0])
    make = load(ALGORITHMS.find(algorithm).trainer)
    trainer, state = make(context), None
    for context.iteration in range(tiny.iterations):  # so in each phase of the algorithm
        asked[0] = True
        with pytest.raises(Abandoned):
            trainer.iterate()
        trainer.close()
        asked[0], trainer = False, make(context)
        if state is not None:
            trainer.load_state(state)
        trainer.iterate()
        state = trainer.state()
    trainer.close()


@pytest.mark.parametrize("algorithm", algorithms())
def test_a_run_killed_at_any_time_ends_alike(algorithm: str, tmp_path: Path) -> None:
    """SIGKILL a few times; `benchmarks/kill_loop.py` does it a thousand times."""
    tiny = tiny_recipe(algorithm, tmp_path)
    began = time.monotonic()
    straight = train(tmp_path / "straight", algorithm, *SELDOM)
    life = time.monotonic() - began
    run = tmp_path / "run"
    settings = (*tiny.settings, "run.checkpoint_seconds=0.01", "run.evaluations=0", "run.seed=3")
    words = [word for text in settings for word in ("--set", text)]
    begin = ("train", tiny.recipe, "--run", str(run), "--workers", "1", *words)
    begin += ("--budget", f"{tiny.iterations}it")
    instants = random.Random(algorithm)
    kills = 0
    while kills < KILLS:
        child = Child(tmp_path, *(("resume", str(run)) if run.exists() else begin))
        time.sleep(instants.uniform(0.0, life))
        child.send(signal.SIGKILL)
        status = child.wait()
        if status == 0:  # finished before it could be killed: begin again
            assert ending(run) == ending(straight)
            shutil.rmtree(run)
            continue
        assert status == -signal.SIGKILL, child.err.read_text()
        kills += 1
    status, _, errors = run_to_end(tmp_path, *(("resume", str(run)) if run.exists() else begin))
    assert status == 0, errors
    assert ending(run) == ending(straight)
    assert (run / MODEL).exists()


def test_self_play_processes_may_be_killed_while_the_run_goes_on(tmp_path: Path) -> None:
    """A run whose processes are killed ends with the bytes of one in which none is."""
    processes = "selfplay.processes=2"
    straight = train(tmp_path / "straight", "alphazero", *SELDOM, processes)
    tiny, run = tiny_recipe("alphazero", tmp_path), tmp_path / "run"
    settings = (*tiny.settings, *SELDOM, processes, "run.seed=3")
    words = [word for text in settings for word in ("--set", text)]
    budget = f"{tiny.iterations}it"
    child = Child(
        tmp_path, "train", tiny.recipe, "--run", str(run), "--workers", "1", "--budget", budget,
        *words,
    )  # fmt: skip
    kills = 0
    for step in (0, 3):
        child.wait_for(lambda step=step: rows(run) >= step and bool(workers(child.pid)))  # type: ignore[misc]
        victim = workers(child.pid)[-1]
        os.kill(victim, signal.SIGKILL)
        kills += 1
        child.wait_for(lambda victim=victim: victim not in workers(child.pid))  # type: ignore[misc]
    assert child.wait() == 0, child.err.read_text()
    assert ending(run) == ending(straight)
    assert (run / "log.txt").read_text().count("was killed by signal 9; the processes") == kills
