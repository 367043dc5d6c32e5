"""The commands of docs/kpk.md run in their order, for one iteration of tiny networks.

Those that would take long or need other programs are only read: with their options, and with the
settings of their recipes checked.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from rookery.cli import main, make_parser
from rookery.runs.algorithms import ALGORITHMS
from rookery.training.recipe import load_recipe, parse_changes, read_recipe, recipe_model
from support.paths import PROJECT
from support.tiny_recipes import TINY_RECIPES

pytest.importorskip("torch", reason="needs the extra train")
TEXT = (PROJECT / "docs" / "kpk.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
# In the text: options of `rookery train kpk-paper`, and settings without their --set.
OPTIONS = re.findall(r"`(--set [^`]+)`", TEXT)
SETTINGS = re.findall(r"`([a-z]+\.\w+=[^`]+)`", TEXT)
# 1.8 million positions take a while to list, and torch is slow with convolutions.
LONG = {"krrk", "network.convolutions=[16,16]"}
# The shell replaces variables and quotes; a command shows its words, one in each line.
SHELL = """rookery() { printf '%s\\n' rookery "$@" ''; }
python() { printf '%s\\n' python "$@" ''; }
"""


def commands(script: str) -> list[list[str]]:
    """The words of the commands of a shell script that calls `rookery` and `python`."""
    done = subprocess.run(
        ["sh", "-euc", SHELL + script], capture_output=True, text=True, check=True
    )
    return [part.split("\n") for part in done.stdout.strip().split("\n\n")]


def on_the_page() -> list[list[str]]:
    """All commands of the blocks, then those of the options in the text."""
    lines = [f"rookery train kpk-paper {option}" for option in OPTIONS]
    lines += [f"rookery train kpk-paper --set {shlex.quote(setting)}" for setting in SETTINGS]
    return commands("\n".join([*BLOCKS, *lines]))


COMMANDS = on_the_page()


def smaller(words: list[str]) -> list[str]:
    """The same `rookery` command with a budget of one iteration and a few positions."""
    words = words[1:]
    if words[0] == "train":
        _, content = read_recipe(words[1])
        tiny = list(TINY_RECIPES["endgame"].settings)
        if ALGORITHMS.find(content["algorithm"]).name == "dqn":
            tiny = ["dqn.rounds=2"]
        for setting in [*tiny, "run.evaluations=0"]:
            words += ["--set", setting]
        return [*words, "--budget", "1it"]
    if "--positions" in words:
        words[words.index("--positions") + 1] = "20"
    return words


def test_the_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = []
    for words in COMMANDS:
        if words[1] in ("train", "endgame") and not LONG & set(words):
            assert main(smaller(words)) == 0, words
            ran.append(words[2])
    assert {"kpk", "krk", "kpk-king", "kpk-king-pawn", "kpk-random-king", "kpk-paper"} < set(ran)
    assert ran.count("KPK") == 2


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_options_and_settings_exist(words: list[str]) -> None:
    if words[0] == "python":
        script = (PROJECT / words[1]).read_text(encoding="utf-8")
        for option in words[2:]:
            assert not option.startswith("--") or f'"{option}"' in script
        return
    parsed = make_parser([words[1]]).parse_args(words[1:])
    if words[1] in ("train", "resume"):
        recipe = words[2].removeprefix("runs/")
        _, content = read_recipe(recipe)
        load_recipe(recipe, parse_changes(parsed.settings, recipe_model(content, recipe)))


def test_every_command_is_found() -> None:
    lines = re.findall(r"^(?:rookery|python) ", "".join(BLOCKS), re.MULTILINE)
    assert len(COMMANDS) == len(lines) + len(OPTIONS) + len(SETTINGS)
    assert len(OPTIONS) >= 2 and len(SETTINGS) >= 2
