"""The experiments of Deep Pepper revisited: exam, runs, matches and report, tiny."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from rookery import Game
from rookery.cli import main
from rookery.data.tablebases import find_tablebases
from rookery.papers.deeppepper2018 import experiments
from rookery.papers.deeppepper2018.exam import ending_questions, share_answered
from rookery.papers.deeppepper2018.report import share_of
from rookery.players.registry import make_player
from support.needs import needs_stockfish, needs_tables

torch.set_num_threads(1)

TINY = (
    "data.steps=2", "network.pepper.policy=8", "network.pepper.value=8",
    "network.resnet.blocks=1", "network.resnet.filters=8", "learn.minibatch=8",
)  # fmt: skip


@needs_tables
def test_perfect_play_answers_every_ending_and_a_bad_move_exists() -> None:
    with find_tablebases() as tables:
        questions = ending_questions(tables, 12)
        assert ending_questions(tables, 12) == questions
    assert len(questions) == 12
    for question in questions:
        legal = set(Game(question.fen).legal_moves())
        assert set(question.answers) < legal and question.answers
    assert share_answered(make_player("tablebase"), questions) == 1.0
    assert share_answered(make_player("random"), questions) < 1.0


@pytest.fixture
def samples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """Samples of both kinds and the games that they are from."""
    pgn = tmp_path / "games.pgn"
    words = ["arena", "random", "random", "--games", "8", "--seed", "1", "--pgn", str(pgn)]
    assert main([*words, "--concurrency", "1"]) == 0
    for name, layout in (("labels", "pepper353"), ("planes", "planes22")):
        out = str(tmp_path / name)
        assert main(["data", "pgn", str(pgn), "--observation", layout, "--out", out]) == 0
    capsys.readouterr()
    return {"labels": str(tmp_path / "labels"), "planes": str(tmp_path / "planes"), "pgn": str(pgn)}


@needs_stockfish
@needs_tables
@pytest.mark.slow
def test_all_experiments_are_measured_once_and_reported(
    tmp_path: Path, samples: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(experiments, "SEEDS", (1,))
    monkeypatch.setattr("rookery.papers.deeppepper2018.exam.ENGINE_NODES", 100)
    sizes = experiments.Sizes(1, 3, 4, 2, 2, TINY)
    out = tmp_path / "out"

    def run(only: str = "") -> None:
        games = [Path(samples["pgn"])]
        experiments.run_all(samples["labels"], samples["planes"], games, out, sizes, only)

    run("networks")
    written = {path: path.read_bytes() for path in out.glob("*/experiment.json")}
    assert {path.parent.name for path in written} == {
        "parts-1", "full-1", "parts-separate-1", "full-separate-1",
    }  # fmt: skip
    run()  # the rest
    assert all(
        path.read_bytes() == old for path, old in written.items() if "parts-1" not in str(path)
    )
    rows = [row for path in out.glob("*/experiment.json") for row in json.loads(path.read_text())]
    assert len(rows) == len(experiments.arms())
    assert all(0 <= row[part] <= 1 for row in rows for part in ("endings", "choices"))
    assert all(sum(row["pentanomial"]) == 1 for row in rows if "against" in row)
    page = tmp_path / "report.html"
    assert main(["report", *(str(path.parent) for path in written), "--out", str(page)]) == 0
    text = page.read_text()
    assert "Deep Pepper revisited: its experiments" in text and "parts-separate" in text
    assert "another game" in text


def test_intervals_over_seeds() -> None:
    assert str(share_of([0.5])) == "50.0%"
    assert str(share_of([0.4, 0.5, 0.6])) == "50.0% ± 24.8"
