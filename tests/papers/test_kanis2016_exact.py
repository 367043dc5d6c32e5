"""The exact KPK results for Kanis 2016: the rules of the script against those of the core."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

from support.paths import PROJECT

pytest.importorskip("torch", reason="needs the extra 'train'")

from rookery._core import Game
from rookery.data.kpk_levels import kpk_fen, kpk_squares

SCRIPT = PROJECT / "benchmarks" / "kpk_exact.py"


@pytest.fixture(scope="module")
def exact() -> Any:
    spec = importlib.util.spec_from_file_location("kpk_exact", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_rules_are_those_of_the_core(exact: Any) -> None:
    strong, replies = exact.legal_moves()
    rows = kpk_squares("all")
    for row in rows[np.random.default_rng(1).permutation(len(rows))[:300]]:
        fen, place = kpk_fen(row), tuple(int(square) for square in row)
        actions = set(Game(fen).legal_actions("kpk").tolist())
        assert set(np.flatnonzero(strong[place]).tolist()) == actions, fen
        weak = Game(fen.replace(" w ", " b "))
        targets = {"abcdefgh".index(m[2]) + 8 * (int(m[3]) - 1) for m in weak.legal_moves()}
        offsets = exact.OFFSETS[: len(exact.STEPS)][replies[place]]
        assert set((place[2] + offsets).tolist()) == targets, fen


def test_games_end_as_they_should(exact: Any) -> None:
    legal, replies = exact.legal_moves()
    # The pawn runs wherever it can.
    actions = np.where(legal[..., 8], 8, np.where(legal.any(-1), legal.argmax(-1), -1))
    starts = {
        (0, 48, 16): exact.WON,  # a1, a7, a3: promotes
        (0, 48, 49): exact.LOST,  # the king on b7 takes the queen
        (42, 50, 48): exact.STALEMATE,  # c6, c7, a7: a queen stalemates
    }
    rows = np.array(list(starts))
    ends, moves = exact.play(rows, actions, replies, None, 1)
    assert ends.tolist() == list(starts.values())
    assert moves.tolist() == [1, 1, 1]
