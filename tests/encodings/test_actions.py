"""Moves as actions and back: the layouts in words, bijection, masks, errors."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest

import board_families
from rookery import Game, MoveError
from rookery._core import (
    action_count,
    action_masks_batch,
    action_names,
    legal_actions_batch,
    random_position,
)
from rookery.encodings import ACTIONS
from support.reference import actions as reference

BIJECTION_POSITIONS = 100_000
MATE = "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"
STALEMATE = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"


def random_walk(family: str, rng: random.Random, plies: int) -> tuple[chess.Board, Game]:
    board = board_families.draw(family, rng)
    game = Game(board.fen(), chess960=board.chess960)
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            break
        move = rng.choice(moves)
        board.push(move)
        game.push(move.uci())
    return board, game


def test_every_layout_is_in_the_tables() -> None:
    assert sorted(action_names()) == sorted(ACTIONS)
    for name, layout in ACTIONS.items():
        assert action_count(name) == layout.count == reference.ACTION_COUNTS[name]
        planes = sum(part.length for part in layout.slices)
        assert layout.origins * planes + len(layout.extra) == layout.count
        for part, following in zip(layout.slices, layout.slices[1:], strict=False):
            assert part.stop == following.start


def test_known_answers() -> None:
    game = Game()
    assert game.action_of("e2e4") == 12 * 73 + 0 * 7 + 1  # e2, N, two squares
    assert game.action_of("g1f3") == 6 * 73 + 56 + 7  # two ranks up, one file down
    assert game.action_of("b1c3") == 1 * 73 + 56 + 0
    game.push("e2e4")
    assert game.action_of("e7e5") == 12 * 73 + 1  # Black sees the same
    assert game.action_of("g8f6") == 6 * 73 + 56 + 7
    promotion = Game("1n5k/P7/8/8/8/8/8/K7 w - - 0 1")
    assert promotion.action_of("a7a8q") == 48 * 73 + 0
    assert promotion.action_of("a7b8q") == 48 * 73 + 7
    assert promotion.action_of("a7a8n") == 48 * 73 + 64 + 1
    assert promotion.action_of("a7b8r") == 48 * 73 + 64 + 6 + 2
    castling = Game("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1")
    assert castling.action_of("e8g8") == 4 * 73 + 2 * 7 + 1
    assert castling.action_of("e8c8") == 4 * 73 + 6 * 7 + 1


@pytest.mark.parametrize("family", board_families.FAMILIES)
def test_actions_agree_with_the_reference(family: str) -> None:
    rng = random.Random(5)
    for _ in range(60):
        board, game = random_walk(family, rng, rng.randrange(80))
        for name in ("az4672", "az4673"):
            expected = reference.legal_actions(board, name)
            found = game.legal_actions(name)
            assert found.dtype == np.int32
            assert set(found.tolist()) == set(expected)
            assert len(found) == len(expected)
            moves = game.legal_moves()
            assert [expected[action] for action in found.tolist()[: len(moves)]] == moves
            for action, uci in expected.items():
                if uci:
                    assert game.action_of(uci, name) == action
                    assert game.move_of(action, name) == uci


@pytest.mark.slow
def test_bijection_over_every_legal_move() -> None:
    """Every legal move of 100,000 positions has an action of its own and comes back from it."""
    rng = random.Random(6)
    families = list(board_families.FAMILIES)
    positions = moves = promotions = 0
    turns = {True: 0, False: 0}
    while positions < BIJECTION_POSITIONS:
        board = board_families.draw(families[positions % len(families)], rng)
        game = Game(board.fen(), chess960=board.chess960)
        for _ in range(200):
            legal = game.legal_moves()
            if not legal or positions >= BIJECTION_POSITIONS:
                break
            indices = game.legal_actions()
            assert len(set(indices.tolist())) == len(legal)
            assert indices.min() >= 0 and indices.max() < 4672
            for uci, action in zip(legal, indices.tolist(), strict=True):
                assert game.action_of(uci) == action
                assert game.move_of(action) == uci
                promotions += len(uci) == 5
            positions += 1
            moves += len(legal)
            turns[game.turn] += 1
            game.push(rng.choice(legal))
    assert min(turns.values()) > BIJECTION_POSITIONS // 3
    assert promotions > 10_000 and moves > 1_000_000


def test_every_other_action_is_refused() -> None:
    rng = random.Random(7)
    for family in ("standard", "castling", "promotions", "open_chess960"):
        _, game = random_walk(family, rng, 5)
        legal = set(game.legal_actions().tolist())
        fen = game.fen()
        for action in range(4672):
            if action not in legal:
                with pytest.raises(MoveError):
                    game.move_of(action)
        for action in rng.sample([a for a in range(4672) if a not in legal], 50):
            with pytest.raises(MoveError, match=str(action)):
                game.push_action(action)
        assert game.fen() == fen


@pytest.mark.parametrize("action", [-1, 4672, 4673, 10**6, -(2**31)])
def test_actions_out_of_range_are_refused(action: int) -> None:
    game = Game()
    with pytest.raises(MoveError, match=str(action)):
        game.move_of(action)
    with pytest.raises(MoveError, match=str(action)):
        game.push_action(action)


def test_mirrored_positions_have_the_same_actions() -> None:
    rng = random.Random(8)
    for family in ("standard", "castling", "pawns", "promotions", "queens"):
        for _ in range(40):
            board, _ = random_walk(family, rng, rng.randrange(40))
            mirrored = Game(board.mirror().fen())
            here = Game(board.fen())
            assert sorted(here.legal_actions()) == sorted(mirrored.legal_actions())


def test_the_mask_is_the_legal_set() -> None:
    rng = random.Random(9)
    for family in board_families.FAMILIES:
        _, game = random_walk(family, rng, rng.randrange(60))
        if game.legal_count() == 0:
            continue
        for name in ("az4672", "az4673"):
            mask = game.action_mask(name)
            assert mask.dtype == np.bool_
            assert mask.shape == (action_count(name),)
            assert np.flatnonzero(mask).tolist() == sorted(game.legal_actions(name).tolist())


@pytest.mark.parametrize("fen", [MATE, STALEMATE])
def test_the_mask_of_a_finished_game_raises(fen: str) -> None:
    game = Game(fen)
    assert game.legal_actions().tolist() == []
    for name in ("az4672", "az4673"):
        with pytest.raises(MoveError):
            game.action_mask(name)


def test_the_claim_is_an_action_when_it_is_possible() -> None:
    game = Game()
    assert reference.CLAIM not in game.legal_actions("az4673")
    for uci in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"]:
        game.push(uci)
    assert game.can_claim_draw()
    assert game.legal_actions("az4673").tolist()[-1] == reference.CLAIM
    assert bool(game.action_mask("az4673")[reference.CLAIM])
    assert reference.CLAIM not in game.legal_actions("az4672")


def test_chess960_castling_is_a_move_to_the_rook() -> None:
    game = Game("4k3/8/8/8/8/8/8/1R2K1R1 w KQ - 0 1", chess960=True)
    assert game.action_of("e1g1") == 4 * 73 + 2 * 7 + 1
    assert game.action_of("e1b1") == 4 * 73 + 6 * 7 + 2
    next_door = Game("8/8/8/8/8/8/k7/4KR2 w K - 0 1", chess960=True)
    assert next_door.action_of("e1f1") == 4 * 73 + 2 * 7


# --- king and pawn against king -----------------------------------------------------------------


@pytest.mark.parametrize("material", ["KPvK", "KvKP"])
@pytest.mark.parametrize("side", ["white", "black"])
def test_kpk_actions_agree_with_the_reference(material: str, side: str) -> None:
    promotions = 0
    for seed in range(400):
        fen = random_position(material, seed, side)
        board, game = chess.Board(fen), Game(fen)
        expected = reference.legal_actions(board, "kpk")
        found = game.legal_actions("kpk").tolist()
        assert sorted(found) == sorted(expected), fen
        assert np.flatnonzero(game.action_mask("kpk")).tolist() == sorted(expected)
        for action, uci in expected.items():
            assert game.move_of(action, "kpk") == uci
            assert game.action_of(uci, "kpk") == action
            promotions += uci.endswith("q")
    assert promotions > 0 or (material == "KPvK") != (side == "white")


def test_kpk_has_no_action_for_under_promotions() -> None:
    game = Game("8/P6k/8/8/8/8/8/K7 w - - 0 1")
    assert game.move_of(8, "kpk") == "a7a8q"
    with pytest.raises(MoveError, match="a7a8r"):
        game.action_of("a7a8r", "kpk")


def test_kpk_refuses_other_material() -> None:
    with pytest.raises(ValueError, match=r"(?i)kpk"):
        Game().legal_actions("kpk")


# --- batches ------------------------------------------------------------------------------------


def test_batches_agree_with_single_games() -> None:
    rng = random.Random(10)
    games = [random_walk("castling", rng, rng.randrange(30))[1] for _ in range(50)]
    games = [game for game in games if game.legal_count()]
    flat, offsets = legal_actions_batch(games, "az4672")
    assert flat.dtype == np.int32 and offsets.dtype == np.int64
    assert offsets[0] == 0 and offsets[-1] == len(flat) and len(offsets) == len(games) + 1
    masks = np.zeros((len(games), 4672), np.bool_)
    action_masks_batch(games, masks, "az4672")
    for i, game in enumerate(games):
        assert flat[offsets[i] : offsets[i + 1]].tolist() == game.legal_actions().tolist()
        assert (masks[i] == game.action_mask()).all()
    bytes_mask = np.full((len(games), 4672), 7, np.uint8)
    action_masks_batch(games, bytes_mask, "az4672")
    assert (bytes_mask == masks).all()


def test_an_empty_batch_is_empty() -> None:
    flat, offsets = legal_actions_batch([], "az4672")
    assert flat.shape == (0,) and offsets.tolist() == [0]


@pytest.mark.parametrize(
    "out",
    [
        np.zeros((1, 4671), np.bool_),
        np.zeros((2, 4672), np.bool_),
        np.zeros(4672, np.bool_),
        np.zeros((1, 4672), np.float32),
        np.zeros((4672, 2), np.bool_).T[:1],
    ],
    ids=["actions", "games", "dimensions", "dtype", "strided"],
)
def test_wrong_mask_arrays_are_refused(out: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"4672|contiguous|bool"):
        action_masks_batch([Game()], out, "az4672")


def test_unknown_layouts_are_refused_by_name() -> None:
    for call in (
        lambda: Game().legal_actions("az4674"),
        lambda: Game().action_mask("az4674"),
        lambda: Game().action_of("e2e4", "az4674"),
        lambda: action_count("az4674"),
    ):
        with pytest.raises(ValueError, match=r"az4674.*az4672|az4672.*az4674"):
            call()
