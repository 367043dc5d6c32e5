"""What networks see, over HTTP: values, policies, pieces, concepts, features, trees."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
pytest.importorskip("torch")  # imported now: the server's first answer would take seconds

from rookery._core import Game
from rookery.players.offered_levels import GIVEN
from rookery.web.analyse.insight import Insights
from rookery.web.analyse.insight_routes import first_choice
from rookery.web.choices import Choice
from support.web_parts import Client, server

HANGING = "4k3/8/8/3q4/8/4N3/8/4K3 w - - 0 1"  # the knight can take the queen


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with server(tmp_path_factory.mktemp("runs")) as running:
        client = Client(running)
        client.hello()
        yield client


def answer(client: Client, method: str, path: str, sent: object = None) -> dict[str, Any]:
    status, _, content = client.ask(method, path, sent)
    assert status == 200, content
    found: dict[str, Any] = json.loads(content)
    return found


def test_networks_are_listed_and_players_without_one_are_not(client: Client) -> None:
    found = {row["id"] for row in answer(client, "GET", "/api/networks")["networks"]}
    assert {"alphazero", "ppo", "rookery"} <= found
    assert not found & {"greedy", "random", "stockfish"}
    assert not any(name.startswith("character:") for name in found)  # our engine once more


def test_a_run_is_shown_after_a_minute_at_its_end_and_beside_what_ships(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text('name = "engine"\n')
    rows = [{"iteration": step, "seconds": 20.0 * step} for step in range(16)]
    (tmp_path / "timing.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    steps = [f"@{step}" for step in (15, 9, 4, 1)]
    listed = [
        *(Choice(f"run:x{part}", part, "Run x", str(tmp_path), GIVEN) for part in ["", *steps]),
        Choice("rookery", "rookery", "Our engine", "rookery", GIVEN),
    ]
    seconds, first = first_choice(listed)
    assert first == ["run:x@4", "run:x", "rookery"] and seconds["run:x@4"] == 80.0
    assert first_choice(listed[-1:]) == ({}, ["rookery"])


def test_a_policy_network_sees_a_hanging_queen(client: Client) -> None:
    sent = {"players": ["alphazero", "rookery"], "start": HANGING, "moves": []}
    tree_search, engine = answer(client, "POST", "/api/insight", sent)["networks"]
    assert tree_search["policy"][0]["san"] == "Nxd5"
    truths = {row["name"]: row["true"] for row in tree_search["concepts"]}
    assert truths["queen_threat"] is True and truths["in_check"] is False
    assert sum(move["share"] for move in tree_search["policy"]) == pytest.approx(100, abs=1)
    assert engine["policy"] is None
    # Taking the queen off makes Black's expected score worse, in both networks.
    assert tree_search["pieces"]["d5"] > 0 and engine["pieces"]["d5"] > 0
    assert 0 <= engine["value"] <= 100


@pytest.mark.parametrize("player", ["alphazero", "ppo", "pepper", "rookery", "giraffe", "ddqn"])
def test_networks_look_the_same_without_torch(
    client: Client, player: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but what they recognise, in the base install."""
    with_torch = answer(
        client, "POST", "/api/insight", {"players": [player], "start": HANGING, "moves": []}
    )["networks"][0]
    monkeypatch.setitem(sys.modules, "rookery.probes.subjects", None)  # which imports torch
    choice = Choice(player, player, "", player, GIVEN)
    found = Insights().see(choice, Game(HANGING))
    assert found["value"] == pytest.approx(with_torch["value"], abs=1.0)
    assert found["pieces"].keys() == with_torch["pieces"].keys()
    assert found["pieces"]["d5"] == pytest.approx(with_torch["pieces"]["d5"], abs=2.0)
    moves = [[move["san"] for move in (row["policy"] or [])[:2]] for row in (found, with_torch)]
    assert moves[0] == moves[1]
    assert found["concepts"] == [] and "torch" in found["lacks"]


def test_named_features_are_shown(client: Client) -> None:
    sent = {"players": ["pepper"], "start": HANGING, "moves": []}
    (network,) = answer(client, "POST", "/api/insight", sent)["networks"]
    assert network["features"] and all(row["name"] for row in network["features"])


@pytest.mark.parametrize("player", ["alphazero", "rookery"])
def test_the_tree_holds_playable_lines(client: Client, player: str) -> None:
    sent = {"player": player, "start": HANGING, "moves": []}
    root = answer(client, "POST", "/api/insight/tree", sent)
    assert "Nxd5" in [child["san"] for child in root["children"]]
    below = max(root["children"], key=lambda child: child["visits"])
    assert below["uci"] and below["fen"].split()[1] == "b"


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"players": []}, "1 to 4 networks"),
        ({"players": ["greedy"]}, "no network"),
        ({"players": ["/etc/passwd"]}, "unknown player"),
        ({"players": ["ppo"], "moves": ["e2e5"]}, "e2e5"),
        ({"players": ["ppo"], "start": "8/8/8/8/8/8/8/8 w - - 0 1"}, "king"),
    ],
)
def test_a_bad_question_is_refused(client: Client, sent: dict[str, object], says: str) -> None:
    status, _, body = client.ask("POST", "/api/insight", {"start": "", "moves": [], **sent})
    assert status == 400 and says in json.loads(body)["error"]
