from __future__ import annotations

import csv

import pytest

from rookery import Game
from rookery.data import tablebases
from rookery.data.paths import MissingDataError
from rookery.data.tablebases import Probe, Tablebases, find_tablebases

KPK = "4k3/8/4K3/4P3/8/8/8/8 w - - 0 1"


@pytest.fixture(scope="module")
def tables():
    found = find_tablebases()
    if "KPvK" not in found.endings():
        pytest.skip("needs endgame tables: install Debian's gaviotatb")
    with found:
        yield found


@pytest.mark.parametrize(
    ("fen", "wdl", "distance"),
    [
        ("7k/8/5KQ1/8/8/8/8/8 w - - 0 1", 2, 1),  # mate in one ply
        ("7k/5KQ1/8/8/8/8/8/8 b - - 0 1", -2, 0),  # mated
        ("8/8/8/8/8/4k3/4p3/4K3 w - - 0 1", 0, 0),  # stalemate
        ("8/8/8/8/8/4k3/8/4K3 w - - 0 1", 0, 0),  # bare kings
    ],
)
def test_known_positions(tables: Tablebases, fen: str, wdl: int, distance: int) -> None:
    probe = tables.probe(fen)
    assert probe is not None and (probe.wdl, probe.distance) == (wdl, distance)
    assert probe == tables.probe(Game(fen))


def test_positions_without_a_table(tables: Tablebases) -> None:
    assert tables.probe(Game()) is None
    assert tables.probe("4k3/8/8/8/8/8/8/4K2R w K - 0 1") is None  # castling
    assert "up to" in tables.describe()


def test_metric(tables: Tablebases) -> None:
    with pytest.raises(ValueError, match="dtx"):
        tables.probe(KPK, metric="dtx")
    if tables.gaviota_folders:
        assert (tables.probe(KPK, metric="dtm") or Probe(0, 0, "")).metric == "dtm"


def rows_of(path) -> list[dict[str, str]]:
    with path.open() as lines:
        return list(csv.DictReader(lines))


def test_random_positions_in_both_kinds_of_tables(tables: Tablebases, data_dir) -> None:
    rows = rows_of(data_dir / "ground_truth" / "tb_random_3-4men.csv")[::4]
    checked = 0
    for row in rows:
        fen = f"{row['epd']} 0 1"
        if probe := tables.probe(fen, metric="dtm"):
            wdl, plies = int(row["syzygy_wdl"]), int(row["gaviota_dtm"])
            assert (probe.result, probe.distance) == ((wdl > 0) - (wdl < 0), abs(plies))
            checked += 1
        if probe := tables.probe(fen, metric="dtz"):
            assert probe == Probe(int(row["syzygy_wdl"]), abs(int(row["syzygy_dtz"])), "dtz")
            checked += 1
    assert checked > len(rows) / 10


def test_syzygy_ground_truth(tables: Tablebases, data_dir) -> None:
    if not tables.syzygy_folders:
        pytest.skip("needs the data folder: Syzygy tables in tablebases/syzygy")
    checked = 0
    for row in rows_of(data_dir / "ground_truth" / "syzygy_wdl_dtz.csv"):
        if probe := tables.probe(f"{row['epd']} 0 1", metric="dtz"):
            assert probe == Probe(int(row["wdl"]), abs(int(row["dtz"])), "dtz")
            checked += 1
    assert checked > 20


def test_missing_tables(tmp_path, monkeypatch) -> None:
    with pytest.raises(MissingDataError, match="gaviotatb"):
        find_tablebases(gaviota=tmp_path)
    with pytest.raises(MissingDataError, match="Syzygy"):
        find_tablebases(syzygy=tmp_path / "absent")
    monkeypatch.setenv("ROOKERY_DATA", str(tmp_path))
    monkeypatch.delenv("SYZYGY_PATH", raising=False)
    monkeypatch.setattr(tablebases, "GAVIOTA_FOLDERS", ())
    monkeypatch.setattr(tablebases, "SYZYGY_FOLDERS", ())
    with find_tablebases() as nothing:
        assert not nothing.available and nothing.endings() == []
        assert nothing.probe(KPK) is None
        assert "gaviotatb" in nothing.describe()


def test_result_obeys_the_fifty_move_rule() -> None:
    assert [Probe(wdl, 0, "dtz").result for wdl in (2, 1, 0, -1, -2)] == [1, 0, 0, 0, -1]
