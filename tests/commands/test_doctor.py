from __future__ import annotations

import json

import pytest

from rookery import doctor
from rookery.cluster.doctor import report_cluster
from rookery.data import books, tablebases
from rookery.engines import find


@pytest.fixture(scope="module")
def result():
    return doctor.examine()


def test_the_result_is_plain_data(result) -> None:
    assert json.loads(json.dumps(result)) == result
    machine = result["machine"]
    assert machine["cores"] >= 1 and machine["perft_nodes_per_second"] > 0
    assert {"avx2", "bmi2"} <= set(machine["features"])
    assert {row["name"] for row in result["packages"]} >= {"numpy", "torch", "gymnasium", "ray"}
    assert result["problems"] == []


def test_missing_software_comes_with_a_remedy(result) -> None:
    for row in [*result["packages"], *result["engines"]]:
        there = row.get("version") or row.get("path")
        assert bool(there) != bool(row["remedy"]), row
    text = doctor.report(result)
    assert "Machine" in text and "Tablebases" in text


def test_a_machine_without_optional_software(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ROOKERY_DATA", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("SYZYGY_PATH", raising=False)
    monkeypatch.setattr(find, "GAMES_FOLDER", str(tmp_path))
    monkeypatch.delenv("ROOKERY_STOCKFISH", raising=False)
    monkeypatch.setattr(doctor, "_version", lambda package: None)
    for module, name in (
        (books, "USUAL_FOLDERS"),
        (tablebases, "GAVIOTA_FOLDERS"),
        (tablebases, "SYZYGY_FOLDERS"),
    ):
        monkeypatch.setattr(module, name, ())
    result = doctor.examine()
    assert result["books"] == [] and result["tablebases"]["endings"] == []
    text = doctor.report(result)
    assert "missing  torch (training): pip install -c constraints.txt '.[train]' (in" in text
    assert "missing  numpy (arrays): pip install -c constraints.txt . (in" in text
    assert "missing  stockfish (optional): apt-get install stockfish" in text
    assert "book rewards are off" in text and "gaviotatb" in text
    assert result["problems"] == []


def test_a_broken_book_is_a_problem(tmp_path, monkeypatch) -> None:
    (tmp_path / "openings").mkdir()
    (tmp_path / "openings" / "bad.bin").write_bytes(b"no book")
    monkeypatch.setenv("ROOKERY_DATA", str(tmp_path))
    result = doctor.examine()
    assert "bad.bin" in result["problems"][0]
    assert "Problems" in doctor.report(result)


def test_a_cluster_is_counted_in_words() -> None:
    node = {"name": "host/1", "slots": 1, "facts": {}, "refused": "", "kernel": ""}
    found = {"address": "local", "nodes": [node], "cores": 1}
    assert report_cluster(found).splitlines()[0] == "Cluster local: 1 node, 1 core"
    two = {**found, "nodes": [node, node], "cores": 8}
    assert report_cluster(two).splitlines()[0] == "Cluster local: 2 nodes, 8 cores"
