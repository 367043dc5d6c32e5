"""The commands of docs/papers.md run in their order, with tiny networks and datasets."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from rookery.cli import main
from rookery.training.recipe import flatten, load_recipe
from support.paths import PROJECT

pytest.importorskip("torch", reason="needs the extra train")
TEXT = (PROJECT / "docs" / "papers.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
COMMANDS = [shlex.split(line) for line in "".join(BLOCKS).splitlines()]
LARGE = "alphazero-paper"
TINY = (
    "network.resnet.blocks=1", "network.resnet.filters=8", "replay.sessions=[40,20]",
    "tree.simulations=2", "selfplay.games=8", "selfplay.samples=60", "selfplay.max_plies=20",
    "learn.minibatch=16", "run.evaluations=0",
)  # fmt: skip
PUZZLES = """PuzzleId,FEN,Moves,Rating,Themes
a,6k1/5ppp/8/8/8/8/r7/K2R4 w - - 0 1,a1a2 g8f8 d1d8,800,mate mateIn1
"""


def smaller(words: list[str]) -> list[str]:
    """The same command with less to do."""
    words = [*words[1:]]
    if words[0] == "train":
        for setting in TINY:
            words += ["--set", setting]
    for option, value in (("--games", "2"), ("--simulations", "2"), ("--max-plies", "20")):
        if option in words:
            words[words.index(option) + 1] = value
    return [re.sub(r"simulations=\d+$", "simulations=2", word) for word in words]


def test_the_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("puzzles.csv").write_text(PUZZLES)
    for words in COMMANDS:
        assert words[0] == "rookery"
        assert main(smaller(words)) == 0, words
    assert [words[1] for words in COMMANDS] == ["train", "arena", "arena", "train", "tree"]
    log = Path("runs/alphazero-paper-small/log.txt").read_text()
    assert "1 start positions from puzzles.csv" in log
    assert "session 1 learns" in log and "session 2 learns" in log
    assert all(Path(f"{name}.svg").exists() for name in ("tree", "policy", "planes"))


def test_the_small_recipe_of_vanhoutte_differs_in_size_only() -> None:
    full, small = (flatten(load_recipe(name).model_dump()) for name in (LARGE, f"{LARGE}-small"))
    changed = {key: small[key] for key in small if "." in key and small[key] != full[key]}
    del changed["run.budget"], changed["selfplay.samples"]  # how long it may and an iteration takes
    assert changed == {
        "network.resnet.blocks": 4, "network.resnet.filters": 32, "tree.simulations": 50
    }  # fmt: skip
