"""What the page is told about training runs: growing, torn, strange and missing files."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from support.paths import PROJECT

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("websockets")

from rookery.runs.live import LIVE, MOST_BOARDS, MOST_FRAMES, read_live, write_live
from rookery.runs.lock import FolderLock
from rookery.runs.nodes import NODES, nodes_text, nodes_timing, write_nodes
from rookery.runs.reader import GrowingRows
from rookery.training.ratings import rating_text
from rookery.web.runs import MOST_POINTS, Runs
from support.web_parts import Client, server


def make_run(parent: Path, name: str = "first", rows: int = 3) -> Path:
    run = parent / name
    run.mkdir()
    (run / "recipe.toml").write_text('name = "tiny"\nsummary = "small"\n[run]\nbudget = "9it"\n')
    with (run / "metrics.jsonl").open("w") as file:
        for number in range(1, rows + 1):
            row = {"iteration": number, "samples": 10 * number, "games": number}
            row |= {"losses": {"value": 1 / number}, "values": {"plies": None}}
            row |= {"results": {"draws": 2}, "endings": {"stalemate": 1}}
            file.write(json.dumps(row) + "\n")
    return run


def test_a_run_is_read(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    (run / "timing.jsonl").write_text('{"iteration":3,"seconds":4.5,"samples_per_second":7.0}\n')
    (run / "ratings.json").write_text('{"evaluations":[{"iteration":2,"opponent":"random"}]}')
    (run / "log.txt").write_text("one\ntwo\n")
    found = Runs(tmp_path).read("first")
    assert found["iteration"] == 3 and found["games"] == 3 and found["seconds"] == 4.5
    assert found["series"]["losses"] == {"x": [1, 2, 3], "value": [1, 1 / 2, 1 / 3]}
    assert found["series"]["speed"]["samples_per_second"] == [7.0]
    assert found["results"] == {"draws": 6} and found["endings"] == {"stalemate": 3}
    assert found["series"]["results"] == {"x": [1, 2, 3], "draws": [100.0, 100.0, 100.0]}
    assert found["ratings"][0]["opponent"] == "random" and found["ratings"][0]["elo"] is None
    assert found["budget"] == "9it" and found["log"] == ["one", "two"] and not found["active"]


def test_strength_without_an_end_has_no_estimate(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    match = {"opponent": "greedy-safe", "games": 40, "elo": 600.0, "elo_low": 400.0}
    rows = [{**match, "iteration": 1, "elo_high": 900.0}, {**match, "iteration": 2}]
    rows[1]["elo_high"] = 4000.0  # it won every game
    (run / "ratings.json").write_text(json.dumps({"evaluations": rows}))
    (run / "timing.jsonl").write_text(
        '{"iteration":1,"seconds":60}\n{"iteration":2,"seconds":90}\n'
    )
    first, second = Runs(tmp_path).read("first")["strength"]
    assert first["minutes"] == 1.0 and first["low"] < first["elo"] < first["high"]
    assert second["elo"] is None and second["high"] is None and second["low"] == first["low"]


def test_only_what_is_new_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    file = GrowingRows(path)
    assert file.refresh() == []
    path.write_text('{"iteration":1}\n{"iteration":2}\n{"itera')  # torn
    assert [row["iteration"] for row in file.refresh()] == [1, 2]
    with path.open("a") as stream:
        stream.write('tion":3}\nnonsense\n[4]\n{"iteration":5}\n')
    assert [row["iteration"] for row in file.refresh()] == [1, 2, 3, 5]
    path.write_text('{"iteration":9}\n')  # cut back, as by resuming
    assert [row["iteration"] for row in file.refresh()] == [9]


def test_long_runs_are_thinned(tmp_path: Path) -> None:
    make_run(tmp_path, rows=5000)
    curve = Runs(tmp_path).read("first")["series"]["losses"]
    assert len(curve["x"]) == len(curve["value"]) == MOST_POINTS
    assert curve["x"][0] == 1 and curve["x"][-1] == 5000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("metrics.jsonl", b"\x00\xff\n{}\n[1]\n"),
        ("metrics.jsonl", b'{"iteration":1,"losses":[1],"results":{"x":"y"},"values":7}\n'),
        ("ratings.json", b"[1, 2]"),
        ("ratings.json", b'{"evaluations": 7}'),
        ("recipe.toml", b"= broken"),
        ("live.json", b"{"),
        ("live.json", b'{"version": 1, "time": "x", "boards": []}'),
    ],
)
def test_damaged_files_do_no_harm(tmp_path: Path, name: str, content: bytes) -> None:
    run = make_run(tmp_path)
    (run / name).write_bytes(content)
    json.dumps(Runs(tmp_path).read("first"), allow_nan=False)


def test_there_is_no_elo_against_perfect_play(tmp_path: Path) -> None:
    """There the score depends on how many of the positions are won."""
    run = make_run(tmp_path)
    row = {"iteration": 1, "games": 9, "wins": 5, "draws": 4, "losses": 0, "score": 0.78}
    row |= {"elo": 219.0, "elo_low": 200.0, "elo_high": 240.0}
    rows = [{**row, "opponent": name} for name in ("perfect", "random")]
    (run / "ratings.json").write_text(json.dumps({"evaluations": rows}))
    perfect, random = Runs(tmp_path).read("first")["ratings"]
    assert perfect["elo"] is None and random["elo"] == 219.0
    assert random["score"] == 0.78 and random["positions"] is None
    assert "Elo" not in rating_text(rows[:1]) and "Elo difference +219" in rating_text(rows)


def test_positions_are_no_games(tmp_path: Path) -> None:
    """Of a run as it is now, and of an older one, which counted failures as draws."""
    run = make_run(tmp_path)
    row = {"iteration": 1, "opponent": "perfect", "games": 12, "elo": None}
    new = {
        **row,
        "is_match": False,
        "as_white": {"wins": 7, "draws": 0, "losses": 3},
        "as_black": {"wins": 0, "draws": 1, "losses": 1},
        "score": 8 / 12,
    }
    old = {**row, "as_white": {"wins": 7, "draws": 3, "losses": 0}, "as_black": new["as_black"]}
    (run / "ratings.json").write_text(json.dumps({"evaluations": [old, new]}))
    text = "won 7 of 10 positions and held 1 of 2 positions"
    for found in Runs(tmp_path).read("first")["ratings"]:
        assert found["positions"] == {"won": 7, "to_win": 10, "held": 1, "to_hold": 2, "text": text}
        assert found["score"] == 8 / 12 and found["elo"] is None


def test_whether_a_trainer_is_at_work(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    with FolderLock(run):
        assert Runs(tmp_path).read("first")["active"]
    assert not Runs(tmp_path).read("first")["active"]


def test_the_page_is_told_about_the_nodes_of_a_cluster(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    assert Runs(tmp_path).read("first")["cluster"] is None
    node = {"name": "10.0.0.7", "slots": 4, "under_way": 5, "pieces": 9, "refused": ""}
    write_nodes(run, {"pieces": 9, "retries": 2, "nodes": [{**node, "secret": "not shown"}]})
    found = Runs(tmp_path).read("first")["cluster"]
    assert found["nodes"] == [node] and (found["pieces"], found["retries"]) == (9, 2)
    stored = json.loads((run / NODES).read_text())
    (run / NODES).write_text(json.dumps({**stored, "time": stored["time"] - 3600}))
    assert Runs(tmp_path).read("first")["cluster"] is None  # the trainer has gone


def test_timing_has_the_figures_of_a_cluster() -> None:
    def node(speed: float, refused: str = "") -> dict[str, object]:
        return {"positions_per_second": speed, "refused": refused}

    nodes = [node(100.0), node(200.0), node(0.0), node(900.0, "another version")]
    status = {"slots": 3, "pieces": 8, "under_way": 5, "retries": 1, "nodes": nodes}
    found = nodes_timing(status)
    assert (found["cluster_nodes"], found["cluster_slots"], found["cluster_retries"]) == (3, 3, 1)
    assert found["cluster_node_positions_per_second"] == 150.0  # of those that have played
    assert "150 positions/s a node" in nodes_text(status)
    assert nodes_timing({**status, "nodes": []})["cluster_node_positions_per_second"] == 0


def test_runs_over_http(tmp_path: Path) -> None:
    make_run(tmp_path)
    with server(tmp_path) as running:
        client = Client(running)
        assert client.hello()["runs"] == ["first"]
        status, _, content = client.ask("GET", "/api/runs/first")
        assert status == 200 and json.loads(content)["iteration"] == 3
        assert client.ask("GET", "/api/runs/second")[0] == 404
        assert json.loads(client.ask("GET", "/api/runs")[2])["runs"][0]["recipe"] == "tiny"


# --- live.json ---


def test_live_boards_round_trip(tmp_path: Path) -> None:
    board = {"fen": "8/8/8/8/8/8/8/8", "last": "e2e4", "title": "<b>", "value": 0.123456}
    assert write_live(tmp_path, [board, {"fen": "k7/8", "value": math.nan}])
    found = read_live(tmp_path)
    assert found is not None
    assert found["boards"][0] == {**board, "result": "", "value": 0.1235, "frames": []}
    assert found["boards"][1]["value"] is None
    assert not list(tmp_path.glob("*.tmp"))


def test_whole_games_are_shown_in_frames(tmp_path: Path) -> None:
    frames = [f"8/8/8/8/8/8/8/K{n}k w - - 0 1" for n in range(200)]
    write_live(tmp_path, [{"frames": [*frames, 7]}, {"frames": "nonsense"}], every=0)
    found = read_live(tmp_path)
    assert found is not None and len(found["boards"]) == 1
    assert len(found["boards"][0]["frames"]) == MOST_FRAMES
    assert found["boards"][0]["frames"][0] == "8/8/8/8/8/8/8/K0k"


def test_live_boards_are_written_once_a_second(tmp_path: Path) -> None:
    assert write_live(tmp_path, [{"fen": "first"}])

    def never() -> object:
        raise AssertionError("boards were asked for although it is too early")
        yield

    assert not write_live(tmp_path, never())  # type: ignore[arg-type]
    assert write_live(tmp_path, [{"fen": "second"}], every=0)
    found = read_live(tmp_path)
    assert found is not None and found["boards"][0]["fen"] == "second"


def test_live_boards_are_few_and_trouble_is_silent(tmp_path: Path) -> None:
    write_live(tmp_path, ({"fen": str(n)} for n in range(1000)), every=0)
    found = read_live(tmp_path)
    assert found is not None and len(found["boards"]) == MOST_BOARDS
    assert not write_live(tmp_path / "missing", [], every=0)
    (tmp_path / LIVE).unlink()
    (tmp_path / LIVE).symlink_to("/etc/passwd")
    assert read_live(tmp_path) is None


def test_example_of_the_documentation_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (PROJECT / "docs" / "play.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(compile(block, "docs/play.md", "exec"), {"__name__": "example"})
    found = read_live(tmp_path)
    assert found is not None and found["boards"][0]["last"] == "e2e4"
    for image in re.findall(r"\]\((images/[^)]+)\)", text):
        assert (PROJECT / "docs" / image).is_file(), image
