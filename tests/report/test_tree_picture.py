"""`rookery tree`: the picture of a search."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from rookery import Game
from rookery._core import HashEvaluator, MctsSearch
from rookery.cli import main
from rookery.nets import make_network
from rookery.nets.model_file import describe, save_model
from rookery.players.registry import make_player
from rookery.report.planes import planes_svg
from rookery.report.policy import CELL, plane_names
from rookery.report.tree import most_visited, place, tree_svg

SVG = "{http://www.w3.org/2000/svg}"


def searched(fen: str, simulations: int) -> MctsSearch:
    search = MctsSearch("")
    search.set_game(Game(fen))
    search.begin(simulations)
    search.run(HashEvaluator())
    return search


def test_the_most_visited_moves_are_drawn_and_nothing_overlaps() -> None:
    search = searched(Game().fen(), 500)
    root = most_visited(search.tree(), 25, 4)
    nodes, stack = [], [root]
    while stack:
        node = stack.pop()
        nodes.append(node)
        stack += node.children
    assert len(nodes) == 26
    assert max(node.depth for node in nodes) <= 4
    drawn = min(node.visits for node in nodes)
    first_moves = {c.hint.split(":")[0] for c in root.children}
    for edge in search.root_edges():
        if edge["visits"] > drawn:
            assert edge["move"] in first_moves
    place(root)
    for depth in range(5):
        places = sorted(node.x for node in nodes if node.depth == depth)
        assert all(b - a >= 0.99 for a, b in pairwise(places))


def test_the_picture_is_sound_xml_whatever_the_title() -> None:
    search = searched("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1", 50)
    picture = ElementTree.fromstring(tree_svg(search.tree(0), "<script>&", 10, 3))
    texts = [text.text or "" for text in picture.iter(f"{SVG}text")]
    assert "Rd8#" in texts and "<script>&" in texts
    assert not list(picture.iter(f"{SVG}script"))


def test_the_command_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, out = tmp_path / "net.safetensors", tmp_path / "tree.svg"
    save_model(
        model, make_network("squares", "tactical70", "az4672", {"width": 16, "key_width": 8})
    )
    assert main(["tree", f"{model},simulations=60", "--out", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["move"] in Game().legal_moves()
    assert sum(found["visits"].values()) <= 60
    ElementTree.parse(out)
    assert main(["tree", f"{model},simulations=5", "8/8 w", "--out", str(out)]) == 1
    assert "FEN" in capsys.readouterr().err


def test_a_proven_result_explains_why_there_are_fewer_simulations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mate_in_one = "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1"
    options = ["--out", str(tmp_path / "tree.svg"), "--json"]
    assert main(["tree", "alphazero,simulations=64", mate_in_one, *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["ended"] == "proven" and found["simulations"] < 64
    assert "result proven" in (tmp_path / "tree.svg").read_text()


def test_a_decided_search_goes_on_for_the_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    decision = make_player("alphazero,simulations=20").choose(Game(), np.random.default_rng(0))
    assert decision.details["ended"] == "decided" and decision.details["simulations"] < 20
    words = ["tree", "alphazero,simulations=20", "--out", str(tmp_path / "tree.svg"), "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["simulations"] == 20


def test_the_alpha_beta_tree_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, out = tmp_path / "net.safetensors", tmp_path / "tree.svg"
    network = make_network("nnue", "nnue768", "none", {"hidden": 16})
    save_model(model, network, describe(network, {"algorithm": "engine"}))
    mate = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"
    words = ["tree", f"{model},nodes=300", mate, "--out", str(out), "--nodes", "9", "--json"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["move"] == "d1d8" and 300 <= found["nodes"] <= 9 * 300
    texts = [text.text or "" for text in ElementTree.parse(out).getroot().iter(f"{SVG}text")]
    assert "Rd8#" in texts and len([text for text in texts if text.startswith("N ")]) == 10
    assert main([*words, "--policy", str(tmp_path / "p.svg")]) == 1
    assert "has no policy" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--out", "c.png"], ["--out", "c.svg", "--policy", "p.PNG"]])
def test_only_svg_is_written(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["tree", "no-such-player", *words]) == 1
    assert f"{words[-2]} '{words[-1]}' must end in .svg" in capsys.readouterr().err


def test_the_policy_is_drawn_before_and_after_masking(tmp_path: Path) -> None:
    model, out = tmp_path / "net.safetensors", tmp_path / "tree.svg"
    policy = tmp_path / "policy.svg"
    sizes = {"blocks": 1, "filters": 4}
    save_model(model, make_network("resnet", "planes19", "az4672", sizes))
    words = ["tree", f"{model},simulations=5", "--out", str(out), "--policy", str(policy)]
    assert main(words) == 0
    boards = list(ElementTree.parse(policy).getroot().iter(f"{SVG}g"))
    assert len(boards) == 2 * 73
    names = plane_names()
    assert len(names) == 73 and names[0] == "N 1" and names[56] == "jump 2N1E"
    texts = [text.text for text in ElementTree.parse(policy).getroot().iter(f"{SVG}text")]
    assert [texts.count(name) for name in names] == [2] * 73  # each board has its label
    lit = [squares_lit(board) for board in boards]
    assert sum(lit[:73]) > 1000  # an untrained network would play anything
    assert 0 < sum(lit[73:]) <= 20  # of which twenty moves are legal
    # Every pawn may go one step north, no piece seven.
    assert lit[73] == 8 and lit[73 + 6] == 0
    assert policy.stat().st_size < 200_000  # equally bright neighbours are one rectangle


def squares_lit(board: ElementTree.Element) -> int:
    """Squares of a board's bright rectangles, each `CELL` high."""
    return sum(int(rect.get("width", 0)) // CELL for rect in list(board)[2:])


def test_the_input_planes_are_drawn(tmp_path: Path) -> None:
    game = Game()
    game.push("e2e4")
    picture = ElementTree.fromstring(planes_svg("planes19", game, "<after> e4"))
    labels = [text.text for text in picture.iter(f"{SVG}text")]
    assert labels[0] == "<after> e4" and len(labels) == 1 + 19
    # Castling planes: 4 of 64; 32 pieces; en passant is possible for nobody.
    dark = [rect for rect in picture.iter(f"{SVG}rect") if rect.get("fill-opacity")]
    assert len(dark) == 4 * 64 + 32
    with pytest.raises(ValueError, match="vector66 has no planes"):
        planes_svg("vector66", game, "")
