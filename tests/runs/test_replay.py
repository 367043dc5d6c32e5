from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rookery.runs.checkpoint import VALUES
from rookery.runs.replay import QUARANTINE, Parquet, Replay
from rookery.runs.state import StateError


def table(number: int, rows: int = 10) -> pa.Table:
    return pa.table({"value": [number] * rows})


@pytest.fixture
def replay(tmp_path: Path) -> Replay[Any]:
    made: Replay[Any] = Replay(tmp_path, Parquet())
    for number in range(3):
        made.add(table(number))
    return made


def test_round_trip(replay: Replay[Any]) -> None:
    state = json.loads(json.dumps(replay.state()))
    other: Replay[Any] = Replay(replay.folder, Parquet())
    other.restore(state)
    assert other.rows == 30
    assert [other.read(name)["value"][0].as_py() for name in other.names()] == [0, 1, 2]
    assert other.quarantined == 0
    assert other.add(table(3)) == "00000003.parquet"


def test_work_after_the_checkpoint_is_forgotten(replay: Replay[Any]) -> None:
    state = replay.state()
    replay.add(table(7))
    other: Replay[Any] = Replay(replay.folder, Parquet())
    other.restore(state)
    assert other.names() == ["00000000.parquet", "00000001.parquet", "00000002.parquet"]
    assert other.quarantined == 1
    assert (replay.folder / QUARANTINE / "00000003.parquet").exists()
    assert other.add(table(8)) == "00000003.parquet"
    assert other.read("00000003.parquet")["value"][0].as_py() == 8


@pytest.mark.parametrize("damage", ["cut", "flip", "missing"])
def test_damaged_shards_are_quarantined_and_counted(replay: Replay[Any], damage: str) -> None:
    state = replay.state()
    path = replay.folder / "00000001.parquet"
    data = path.read_bytes()
    if damage == "missing":
        path.unlink()
    else:  # a shard without its footer, or with a wrong bit
        changed = data[:-20] if damage == "cut" else data[:40] + bytes([data[40] ^ 1]) + data[41:]
        path.write_bytes(changed)
    messages: list[str] = []
    other: Replay[Any] = Replay(replay.folder, Parquet(), report=messages.append)
    other.restore(state)
    assert other.rows == 20
    assert other.quarantined == (0 if damage == "missing" else 1)
    assert "1 shards are missing or damaged" in messages[0]
    with pytest.raises(StateError, match=r"00000001\.parquet"):
        replay.read("00000001.parquet")


def test_dropped_shards_stay_while_a_kept_checkpoint_names_them(tmp_path: Path) -> None:
    keep = 2
    replay: Replay[Any] = Replay(tmp_path, Parquet(), keep)
    states = []
    for number in range(12):
        replay.add(table(number))
        replay.drop_oldest(20)
        states.append(json.loads(json.dumps(replay.state())))
        for state in states[-keep:]:
            assert all((tmp_path / name).exists() for name in state["shards"])
    assert replay.rows == 20
    assert len(list(tmp_path.glob("*.parquet"))) <= 2 + keep + 2


def test_lists_of_older_checkpoints_are_understood(replay: Replay[Any]) -> None:
    """Without a label; or, of packed positions, with other names and no checksum."""
    shards = replay.state()["shards"]
    first, second, third = shards
    old = {
        first: {"rows": 10, "sha256": shards[first]["sha256"]},
        second: {"generation": 4, "count": 10},
        third: {"generation": 5, "count": 9},
    }
    messages: list[str] = []
    other: Replay[Any] = Replay(replay.folder, Parquet(), report=messages.append)
    assert list(other.restore({"shards": old, "next": 3})) == [first, second]
    assert (other.label(first), other.label(second)) == (0, 4)
    assert "does not hold 9 samples" in messages[0]


def test_a_fallback_finds_the_shards_of_every_kept_checkpoint(tmp_path: Path) -> None:
    """Three checkpoints, of which the newest is damaged and later the next one too."""
    folder = tmp_path / "replay"
    folder.mkdir()
    replay: Replay[Any] = Replay(folder, Parquet())
    for step in range(1, 4):
        replay.add(table(step))
        replay.drop_oldest(10)  # each checkpoint names one shard, and another one
        values = tmp_path / "checkpoints" / f"{step:08d}" / VALUES
        values.parent.mkdir(parents=True)
        values.write_text(json.dumps({"shards": replay.state()}))
    for step in (2, 1):
        damaged = tmp_path / "checkpoints" / f"{step + 1:08d}"
        damaged.rename(damaged.with_suffix(".damaged"))
        state = json.loads((tmp_path / "checkpoints" / f"{step:08d}" / VALUES).read_text())
        again: Replay[Any] = Replay(folder, Parquet())
        assert [t["value"][0].as_py() for t in again.restore(state["shards"]).values()] == [step]
        assert again.quarantined == 1  # the shard of the damaged checkpoint
    for _ in range(5):  # now that no checkpoint names them, the others go
        again.state()
    assert [path.name for path in folder.glob("*.parquet")] == ["00000000.parquet"]
