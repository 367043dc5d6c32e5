"""From labels or games to a network, and from that to AlphaZero: the whole line, tiny."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rookery.cli import main
from rookery.data.label_samples import LabelSettings, label_of
from rookery.data.samples import read_samples
from rookery.engines.find import find_stockfish
from rookery.engines.label_engine import Ranked, read_line
from rookery.nets.model_file import load_model
from support.needs import needs_stockfish

torch.set_num_threads(1)

SMALL = (
    "network.squares.width=16", "network.squares.key_width=8", "learn.minibatch=32",
    "evaluation.games=2",
)  # fmt: skip
GAMES = """[Event "a"]
[Result "1-0"]

1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0

[Event "b"]
[Result "0-1"]

1. f3 e5 2. g4 Qh4# 0-1
"""


def run(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main([*words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def settings(*pairs: str) -> list[str]:
    return [word for pair in pairs for word in ("--set", pair)]


def learn_and_play(
    samples: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> tuple[Any, Any]:
    """Both trainings; the network at the end of the first and at the start of the second."""
    taught = tmp_path / "runs" / "supervised"
    run(
        capsys, "train", "supervised", "--budget", "3it", "--run", str(taught),
        *settings(f"data.samples={samples}", "data.steps=4", "learn.search_value=1.0", *SMALL),
    )  # fmt: skip
    played = tmp_path / "runs" / "alphazero"
    run(
        capsys, "train", "alphazero-pretrained", "--budget", "2it", "--workers", "1",
        "--run", str(played),
        *settings(
            f"initial={taught}", f"replay.labels={samples}", "selfplay.games=4",
            "selfplay.samples=20", "selfplay.max_plies=24", "tree.first_simulations=4",
            "tree.simulations=4", "gate.every=1", "gate.games=2", "gate.simulations=2",
            "evaluation.simulations=2", "run.keep_checkpoints=5", *SMALL,
        ),
    )  # fmt: skip
    first = played / "checkpoints" / "00000000" / "model.safetensors"
    return load_model(taught / "model.safetensors")[0], load_model(first)[0]


@needs_stockfish
def test_labels_teach_a_network_that_goes_on_by_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = tmp_path / "labels"
    words = ("data", "label", "--nodes", "50", "--count", "170", "--workers", "2", "--out")
    found = run(capsys, *words, str(labels))
    assert found["samples"] == 170 and found["games"] >= 2
    block = read_samples(labels, "tactical70")
    assert np.abs(block.values).max() <= 1.0
    offsets = block.offsets
    ranked = [np.count_nonzero(block.policy[a:b]) for a, b in pairwise(offsets)]
    assert max(ranked) == 4
    taught, first = learn_and_play(labels, capsys, tmp_path)
    for name, weights in taught.state_dict().items():
        assert torch.equal(weights, first.state_dict()[name]), name


def test_games_teach_a_network_that_goes_on_by_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "games.pgn").write_text(GAMES)
    samples = tmp_path / "samples"
    run(capsys, "data", "pgn", str(tmp_path / "games.pgn"), "--out", str(samples))
    taught, first = learn_and_play(samples, capsys, tmp_path)
    assert torch.equal(taught.value.weight, first.value.weight)


@needs_stockfish
def test_labels_do_not_depend_on_the_number_of_engines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for workers in ("1", "2"):
        run(
            capsys, "data", "label", "--nodes", "40", "--count", "165", "--seed", "3",
            "--workers", workers, "--out", str(tmp_path / workers),
        )  # fmt: skip
    one, two = (read_samples(tmp_path / workers, "tactical70") for workers in ("1", "2"))
    assert np.array_equal(one.observations, two.observations)
    assert np.array_equal(one.policy, two.policy)


def test_lines_of_engines_are_read() -> None:
    plain = "info depth 5 multipv 2 score cp -31 nodes 99 pv e2e4 e7e5"
    assert read_line(plain) == Ranked("e2e4", -31.0)
    chances = "info depth 5 score cp 80 wdl 300 650 50 pv d2d4"
    assert read_line(chances) == Ranked("d2d4", 80.0, 0.25)
    assert read_line("info depth 9 score mate -3 pv a1a2") == Ranked("a1a2", -1000.0)
    assert read_line("info depth 9 score mate 2 pv a1a2") == Ranked("a1a2", 1000.0)
    assert read_line("info depth 9 score cp 4000 pv a1a2") == Ranked("a1a2", 1000.0)
    for broken in (
        "info score cp",
        "info score cp x pv e2e4",
        "info depth 3",
        "info score cp 3 pv",
    ):
        assert read_line(broken) is None


def test_values_are_scores_or_the_engines_own_chances() -> None:
    ranked = [Ranked("e2e4", 80.0, 0.5), Ranked("d2d4", 50.0, 0.4)]
    policy, value = label_of(ranked, LabelSettings())
    assert policy["d2d4"] == pytest.approx(np.exp(-1.0))
    assert value == pytest.approx(np.tanh(0.1))
    assert label_of(ranked, LabelSettings(chances=True))[1] == 0.5
    assert label_of([Ranked("e2e4", 0.0)], LabelSettings(chances=True))[1] == 0.0


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--engine", "/nowhere/engine"), "cannot start"),
        (("--engine", "cat"), "no uciok"),
        (("--random-share", "1.5"), "--random-share"),
        (("--workers", "0"), "--workers"),
    ],
)
def test_bad_engines_and_options_are_told_in_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    text: str,
) -> None:
    monkeypatch.setattr("rookery.engines.label_engine.START_SECONDS", 0.3)
    assert main(["data", "label", *words, "--count", "5", "--out", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err.strip()
    assert text in error and "\n" not in error


@needs_stockfish
def test_labels_continue_after_the_engine_died(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """First it dies for good in the middle of a game, later once; no label is lost or changes."""
    engine, counter = tmp_path / "engine", tmp_path / "starts"
    # Its input ends before a "go": five lines at the start, two for a game, two for a position.
    mortal = f"sed -u 400q | {find_stockfish()}"
    out = tmp_path / "labels"
    words = ["data", "label", "--engine", str(engine), "--nodes", "40", "--count", "240"]
    words += ["--lines", "2", "--seed", "5", "--out"]

    def program(text: str) -> None:
        engine.write_text(f"#!/bin/sh\n{text}\n")
        engine.chmod(0o755)

    program(f"test -e {counter} && exit 3\ntouch {counter}\n{mortal}")
    assert main([*words, str(out)]) == 1
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert "crash" in error and "the same command continues" in error
    begun = read_samples(out, "tactical70")
    assert 0 < len(begun) < 240 and f"{len(begun)} samples are in" in error
    (out / "000099.parquet").write_bytes(b"half written")  # as if it had been killed while writing
    program(mortal)
    assert run(capsys, *words, str(out))["samples"] == 240
    program(f"exec {find_stockfish()}")
    run(capsys, *words, str(tmp_path / "straight"))
    found, expected = (
        read_samples(tmp_path / name, "tactical70") for name in ("labels", "straight")
    )
    for name, column in expected.columns().items():
        assert np.array_equal(found.columns()[name], column), name
    assert main([*words[:-1], "--temperature", "1.0", "--out", str(out)]) == 1
    assert "temperature: 0.3 -> 1.0" in capsys.readouterr().err


@needs_stockfish
def test_each_nth_position_of_a_game_is_labelled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pgn = tmp_path / "games.pgn"
    pgn.write_text(GAMES)
    words = ("data", "label", str(pgn), "--nodes", "40", "--every", "3", "--out")
    assert run(capsys, *words, str(tmp_path / "third"))["samples"] == 3
    block = read_samples(tmp_path / "third", "tactical70")
    assert block.plies.tolist() == [2, 5, 1]  # of a game with 7 plies and one with 4
