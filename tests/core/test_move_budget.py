"""The probability-limited search and its move probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from rookery import Game
from rookery._core import MOVE_ROWS, Engine, MoveNet, NnueNetwork, bench_positions

KINDS = ("uniform", "static", "learned")


def move_net(seed: int = 1, width: int = 16) -> MoveNet:
    rng = np.random.default_rng(seed)
    shapes = ((width, 363), (width,), (MOVE_ROWS, width), (width,))
    return MoveNet(*(rng.normal(0, 0.3, shape).astype(np.float32) for shape in shapes))


def engine(kind: str | None, threads: int = 1) -> Engine:
    made = Engine(NnueNetwork.material(), threads, 4)
    made.set_probabilities(kind, move_net() if kind == "learned" else None)
    return made


def nodes(searcher: Engine, depth: int) -> list[int]:
    found = []
    for fen in bench_positions()[:6]:
        searcher.new_game()
        searcher.prepare()
        found.append(searcher.search(Game(fen), depth=depth).nodes)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_mates_are_found_and_searches_repeat(kind: str) -> None:
    mate = Game("r5k1/5ppp/8/8/8/8/5PPP/1R4K1 w - - 0 1")
    searcher = engine(kind)
    searcher.prepare()
    found = searcher.search(Game("6k1/5ppp/8/8/8/8/5PPP/1R4K1 w - - 0 1"), depth=4)
    assert found.best == "b1b8" and found.score > 31_000
    searcher.prepare()
    assert searcher.search(mate, nodes=500).nodes <= 500
    assert nodes(searcher, 5) == nodes(engine(kind), 5)


def test_each_kind_searches_another_tree_and_none_is_our_own() -> None:
    standard = nodes(Engine(NnueNetwork.material(), 1, 4), 6)
    found = {kind: nodes(engine(kind), 6) for kind in KINDS}
    assert len({tuple(each) for each in (*found.values(), standard)}) == 4
    searcher = engine("static")
    searcher.set_probabilities(None)
    assert nodes(searcher, 6) == standard


def test_a_plain_depth_limit_costs_the_most_nodes() -> None:
    uniform, static = nodes(engine("uniform"), 7), nodes(engine("static"), 7)
    assert sum(uniform) > 2 * sum(static)


def test_several_threads_search_with_probabilities() -> None:
    searcher = engine("learned", threads=2)
    searcher.prepare()
    found = searcher.search(Game(), nodes=4000)
    assert Game().is_legal(found.best)


def test_probabilities_are_of_the_legal_moves_and_do_not_depend_on_colour() -> None:
    net = move_net()
    fen = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"
    white = net.probabilities(Game(fen))
    assert set(white) == set(Game(fen).legal_moves())
    assert sum(white.values()) == pytest.approx(1.0, abs=1e-5)
    mirrored = "rnbqkb1r/pppp1ppp/5n2/4p3/4P3/2N5/PPPP1PPP/R1BQKBNR b KQkq - 2 3"
    black = net.probabilities(Game(mirrored))
    flip = str.maketrans("12345678", "87654321")
    # Only the side to move itself is an input that differs.
    assert {move.translate(flip) for move in black} == set(white)


def test_faults_name_the_remedy() -> None:
    with pytest.raises(ValueError, match="known are uniform, static, learned"):
        engine("some")
    with pytest.raises(ValueError, match="need a move network"):
        Engine(NnueNetwork.material(), 1, 4).set_probabilities("learned")
    with pytest.raises(ValueError, match="only learned"):
        Engine(NnueNetwork.material(), 1, 4).set_probabilities("static", move_net())
    with pytest.raises(ValueError, match="16, 32, 48 or 64 wide"):
        move_net(width=24)
