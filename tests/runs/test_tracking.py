"""A run's numbers elsewhere: Weights & Biases offline, and one tidy table."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from rookery.cli import main
from rookery.runs.table import table_of
from rookery.runs.tracking import Wandb
from support.paths import PROJECT


def small_run(folder: Path) -> Path:
    folder.mkdir()
    rows = [{"iteration": i, "samples": 10 * i, "losses": {"value": 1 / i}} for i in (1, 2)]
    rows.insert(1, {"evaluation": {"opponent": "random"}})
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "timing.jsonl").write_text('{"iteration": 1, "seconds": 2.5}\n')
    return folder


def test_the_table_has_a_row_per_iteration_and_a_column_per_number(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run")
    rows = table_of(run)
    assert [row["losses.value"] for row in rows] == [1.0, 0.5]
    assert rows[0]["timing.seconds"] == 2.5 and "timing.seconds" not in rows[1]
    for name in ("table.csv", "table.parquet"):
        assert main(["data", "table", str(run), "--out", str(tmp_path / name), "--json"]) == 0
    with (tmp_path / "table.csv").open() as file:
        assert [row["samples"] for row in csv.DictReader(file)] == ["10", "20"]
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs the extra train")
    assert parquet.read_table(tmp_path / "table.parquet").num_rows == 2


def test_folders_and_files_that_do_not_fit_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", "table", str(tmp_path), "--out", "x.csv"]) == 1
    assert "has no metrics yet" in capsys.readouterr().err
    run = small_run(tmp_path / "run")
    assert main(["data", "table", str(run), "--out", "x.xls"]) == 1
    assert "must end in .csv or .parquet" in capsys.readouterr().err


def test_hugging_face_datasets_loads_samples_as_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow", reason="needs the extra train")
    pytest.importorskip("datasets", reason="needs Hugging Face datasets")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    Path("mine.pgn").write_text('[Result "1-0"]\n\n1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n')
    assert main(["data", "pgn", "mine.pgn", "--out", "samples", "--json"]) == 0
    capsys.readouterr()
    text = (PROJECT / "docs" / "howto-tracking.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    exec(code, {})
    rows, *columns = re.findall(r"\w+", capsys.readouterr().out)
    assert rows == "7" and {"observation", "legal", "policy", "result"} <= set(columns)


def test_wandb_keeps_an_offline_record(tmp_path: Path) -> None:
    pytest.importorskip("wandb", reason="needs the extra track")
    log: list[str] = []
    tracker = Wandb(tmp_path, log.append)
    tracker.write_settings({"run.seed": 1})
    tracker.write(1, {"losses/value": 0.5, "losses/policy": float("nan")})
    tracker.close()
    tracker.write(2, {"losses/value": 0.4})  # does nothing
    assert log == []
    (record,) = (tmp_path / "wandb").glob("offline-run-*/*.wandb")
    assert record.stat().st_size > 0


def test_trouble_with_wandb_is_logged_once_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wandb = pytest.importorskip("wandb", reason="needs the extra track")

    def fail(**_: object) -> None:
        raise RuntimeError("no\nspace")

    monkeypatch.setattr(wandb, "init", fail)
    log: list[str] = []
    tracker = Wandb(tmp_path, log.append)
    tracker.write(1, {"losses/value": 0.5})
    tracker.close()
    assert log == ["tracking by wandb has stopped: RuntimeError: no space"]
