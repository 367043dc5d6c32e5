"""`rookery probe`: findings as JSON, the page, saved probes, and errors."""

from __future__ import annotations

import json
import shutil
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from rookery.cli import main
from rookery.nets.evaluator import load_network
from rookery.probes.boards import Boards
from rookery.probes.concepts import CONCEPTS
from rookery.probes.positions import random_games
from rookery.probes.saved import ProbeFileError, load_probes, probe_file, probes_of

ROW = {"name", "layer", "checkpoint", "score", "score_low", "score_high", "untrained",
       "random_label"}  # fmt: skip


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("probed")
    shipped = resources.files("rookery") / "networks" / "ddqn.safetensors"
    shutil.copy(str(shipped), folder / "net.safetensors")
    return folder


def test_concepts_are_found_and_shown(probed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, out = str(probed / "net.safetensors"), str(probed / "page.html")
    concepts = "in_check,material_advantage,passed_pawn"
    command = ["probe", model, "--concepts", concepts, "--positions", "1500", "--out", out]
    assert main([*command, "--save", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["positions"] == 1500 and found["games"] > 100
    rows = found["concepts"]
    assert {row["name"] for row in rows} == set(concepts.split(","))
    assert all(set(row) >= ROW for row in rows)
    assert all(row["score_low"] <= row["score"] <= row["score_high"] for row in rows)
    best = max(row["score"] for row in rows if row["name"] == "material_advantage")
    assert best > 0.6  # the network is trained to know material
    assert all(abs(row["random_label"]) < 0.25 for row in rows)
    page = Path(out).read_text()
    for part in ("What", "Where", "Boards", "material advantage", "script-src"):
        assert (part in page) == (part != "script-src")


def test_saved_probes_recognise_the_concept(probed: Path) -> None:
    model = probed / "net.safetensors"
    saved = probes_of(str(model), model.read_bytes())
    assert saved is not None
    network = load_network(str(model))
    games = random_games(200, np.random.default_rng(9)).games
    truth = CONCEPTS["material_advantage"].answers(Boards(games))
    seen = []
    for game in games:
        rows = {row["name"]: row["probability"] for row in saved.read(network, game)}
        seen.append(rows["material_advantage"] > 0.5)
    assert (np.array(seen) == truth).mean() > 0.75


def test_probes_of_other_weights_are_not_used(probed: Path) -> None:
    model = probed / "net.safetensors"
    assert probes_of(str(model), b"other weights") is None


def test_a_damaged_file_of_probes_is_refused(probed: Path) -> None:
    path = probe_file(str(probed / "net.safetensors"))
    damaged = probed / "damaged.safetensors"
    damaged.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ProbeFileError, match="not a file of probes"):
        load_probes(damaged)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["greedy"], "has no network to probe"),
        (["ppo", "--concepts", "tempo"], "unknown concept 'tempo'"),
        (["ppo", "--checkpoints"], "no run folder with checkpoints"),
        (["ppo", "--out", "page.pdf"], "must end in .html"),
        (["ppo", "--out", "nowhere/page.html"], "no folder 'nowhere'; make it first"),
        (["ppo", "--positions", "10"], "--positions is 10"),
    ],
)
def test_a_mistake_is_explained_in_one_line(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["probe", *words]) == 1
    text = capsys.readouterr().err
    assert says in text and text.count("\n") == 1
