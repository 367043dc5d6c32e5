"""docs/examples/rookery-plugin, installed as a user would: listed, trained, rated and played."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.paths import PROJECT

pytest.importorskip("torch")

EXAMPLE = PROJECT / "docs" / "examples" / "rookery-plugin"
# Runs commands in one process, which loads torch once; prints what each printed.
RUN = """
import contextlib, io, json, sys
from rookery.cli import main
printed = []
for words in json.loads(sys.argv[1]):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        assert main([*words, "--json"]) == 0, words
    printed.append(json.loads(output.getvalue()))
json.dump(printed, sys.stdout)
"""

COMMANDS = [
    ["players"],
    ["recipes"],
    ["train", "points", "--budget", "3it"],
    ["resume", "runs/points", "--budget", "+2it"],
    ["arena", "runs/points,noise=0.1", "classical", "--games", "4", "--concurrency", "1"],
    ["arena", "runs/points/model.safetensors", "random", "--games", "2", "--concurrency", "1"],
    ["rate", "runs/points", "--games", "16", "--start", "random", "--concurrency", "1"],
    ["export", "runs/points", "--onnx", "points.onnx"],
]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package installed into it, for PYTHONPATH."""
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(EXAMPLE, folder / "source")
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
    pip = [sys.executable, "-m", "pip", "install", *offline, "--target", str(folder / "site")]
    subprocess.run([*pip, str(folder / "source")], check=True)
    return folder / "site"


def python(folder: Path, installed: Path, code: str, *words: str) -> Any:
    """What a script prints in a process that sees the package."""
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(installed), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def trained(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """A folder in which the example was listed, trained and played, and what COMMANDS printed."""
    folder = tmp_path_factory.mktemp("work")
    return folder, python(folder, installed, RUN, json.dumps(COMMANDS))


def test_the_example_is_listed_trained_resumed_measured_and_exported(
    trained: tuple[Path, list[Any]],
) -> None:
    folder, (players, recipes, _, resumed, match, other, rating, exported) = trained
    assert "classical" in [row["name"] for row in players["players"]]
    whose = {"name": "of points", "options": players["players"][-1]["options"]}
    assert whose == players["networks"][-1]
    assert "points" in [row["name"] for row in recipes["recipes"]]
    assert resumed["iterations"] == 5
    assert (match["games"], sum(match["faults"].values())) == (4, 0)
    assert (other["games"], sum(other["faults"].values())) == (2, 0)
    assert rating["player"] == "runs/points" and rating["elo_low"] < rating["elo"]
    assert sum(row["games"] for row in rating["opponents"]) == 16
    assert exported["family"] == "points" and (folder / "points.onnx").is_file()


def test_the_web_page_offers_the_example(installed: Path, trained: tuple[Path, list[Any]]) -> None:
    code = """
import json
from pathlib import Path
from rookery.web.choices import Choices
print(json.dumps({name: choice.spec for name, choice in Choices(Path("runs")).all().items()}))
"""
    offered = python(trained[0], installed, code)
    assert offered["classical"] == "classical" and offered["run:points"] == "runs/points"


def test_without_the_package_its_files_name_what_is_missing(
    trained: tuple[Path, list[Any]],
) -> None:
    for words, message in (
        (["arena", "runs/points", "random"], "unknown network family 'points'"),
        (["resume", "runs/points"], "unknown algorithm 'points'"),
    ):
        command = [sys.executable, "-m", "rookery.cli", *words]
        done = subprocess.run(command, cwd=trained[0], capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert message in done.stderr and done.stderr.count("\n") == 1


def test_importing_the_descriptions_loads_no_torch(installed: Path, tmp_path: Path) -> None:
    code = """
import json, sys
from rookery.nets.registry import FAMILIES
from rookery.players.registry import KINDS
from rookery.runs.algorithms import ALGORITHMS
assert "points" in FAMILIES and "points" in ALGORITHMS and "one-ply" in list(KINDS)
print(json.dumps([name for name in ("torch", "pydantic", "onnx") if name in sys.modules]))
"""
    assert python(tmp_path, installed, code) == []
