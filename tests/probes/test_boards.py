"""Probes on boards of other sizes."""

from __future__ import annotations

import numpy as np
import torch

from rookery import Game
from rookery.nets import make_network
from rookery.probes.boards import Boards
from rookery.probes.concepts import CONCEPTS, find_concepts
from rookery.probes.study import ask, study, usable
from rookery.probes.subjects import Subject
from rookery.report.boards import small_board


def test_concepts_are_asked_and_probed_on_a_small_board() -> None:
    concepts, left_out = usable(
        find_concepts(["in_check", "material_advantage", "engine_score"]), "4x5"
    )
    assert list(left_out) == ["engine_score"]
    network = make_network(
        "squares", "tactical70", "az4672", {"width": 32}, torch.Generator().manual_seed(1)
    ).eval()
    question = ask(concepts, 1500, 1, say=lambda _: None, board="4x5", network=network)
    assert {game.board for game in question.positions.games} == {"4x5"}
    found = study([Subject("fresh", network)], question, say=lambda _: None)
    # The observation says who attacks a square, and random layers pass it on.
    assert found.best("in_check", None).score > 0.3


def test_mates_and_pins_on_a_small_board() -> None:
    mate = Game("k3/4/1K2/4/2R1 w - - 0 1")
    boards = Boards([mate])
    assert CONCEPTS["mate_in_one"].answers(boards)[0]
    assert not CONCEPTS["opponent_mate_in_one"].answers(boards)[0]
    assert list(np.flatnonzero(boards.own_attackers[0].any(0))) == [0, 1, 2, 3]  # files a to d


def test_a_small_board_is_drawn_in_its_size() -> None:
    drawing = small_board("k3/4/1K2/4/2R1 w - - 0 1", "mate")
    assert 'viewBox="0 0 180 225"' in drawing and drawing.count("<use") == 3
