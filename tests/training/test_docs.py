"""docs/training.md says what is true: its examples run and its tables agree with the code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rookery.runs.algorithms import ALGORITHMS, Algorithm
from rookery.training import folder
from rookery.training.recipe import RunSettings
from rookery.training.session import resume, start
from support import runs  # registers the tests' algorithm
from support.paths import PROJECT
from support.runs import QuietView, final_state, write_recipe

assert runs
TEXT = (PROJECT / "docs" / "training.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


def test_table_of_settings_agrees_with_the_code() -> None:
    rows = re.findall(r"^\| `run\.(\w+)` \| (.*?) \| (.*?) \|$", TEXT, re.MULTILINE)
    fields = RunSettings.model_fields
    assert rows == [(key, str(field.default), field.description) for key, field in fields.items()]


def test_table_of_files_agrees_with_the_code() -> None:
    names = re.findall(r"^\| `([^`]+)` \| ", TEXT.split("## The run folder")[1], re.MULTILINE)
    described = folder.__doc__ or ""
    for name in names:
        assert name in described, name
    for part in folder.PARTS:
        assert any(name.startswith(part) for name in names), part


def test_model_file_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS[0], "docs/training.md", "exec"), {"__name__": "example"})
    assert (tmp_path / "mine.safetensors").exists()


def test_algorithm_example_trains_and_resumes_exactly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "documented.py").write_text(BLOCKS[1])
    monkeypatch.syspath_prepend(str(tmp_path))
    names = "documented:MaterialRecipe", "documented:MaterialTrainer"
    ALGORITHMS.register(Algorithm("material", *names))
    recipe = write_recipe(tmp_path, "algorithm = 'material'\n[run]\nbudget = '6it'\n", "material")
    start(recipe, str(tmp_path / "a"), view=QuietView())
    start(recipe, str(tmp_path / "b"), view=StopAt(3))
    outcome = resume(str(tmp_path / "b"), view=QuietView())
    assert outcome.finished
    assert final_state(tmp_path / "a") == final_state(tmp_path / "b")
    del sys.modules["documented"]


def test_script_for_an_own_algorithm_trains_and_resumes(tmp_path: Path) -> None:
    """The module, the recipe and the script of the page, in a process of their own."""
    recipe = re.search(r"```toml\n(algorithm = \"material\".*?)```", TEXT, re.DOTALL)
    assert recipe is not None
    (tmp_path / "my_module.py").write_text(BLOCKS[1])
    (tmp_path / "mine.toml").write_text(recipe[1])
    (tmp_path / "my_train.py").write_text(BLOCKS[2])
    for words in (["train", "./mine.toml", "--budget", "2it"], ["resume", "runs/mine"]):
        command = [sys.executable, "my_train.py", *words, "--json"]
        if words[0] == "resume":
            command += ["--budget", "+1it"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["iterations"] == 3


class StopAt(QuietView):
    """Asks the run to stop after so many iterations, as Ctrl-C does."""

    def __init__(self, iterations: int) -> None:
        super().__init__()
        self.iterations = iterations

    def update(self, snapshot: object) -> None:
        super().update(snapshot)
        if len(self.updates) == self.iterations:
            import signal

            signal.raise_signal(signal.SIGINT)
