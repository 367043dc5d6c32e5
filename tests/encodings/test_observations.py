"""Observations against slow encoders written from the tables, slice by slice."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest

import board_families
from rookery import Game
from rookery._core import (
    encode_batch,
    observation_allows_uint8,
    observation_names,
    observation_shape,
    random_position,
)
from rookery.encodings import ACTIONS, OBSERVATIONS, Layout, require_version
from rookery.encodings import doc as encodings_doc
from rookery.encodings.layout import MOVER
from support.paths import PROJECT
from support.reference.observations import ENCODERS, nnue768

GENERAL = [name for name in OBSERVATIONS if name != "kpk3"]
BYTE_LAYOUTS = [name for name, layout in OBSERVATIONS.items() if "uint8" in layout.dtypes]
# A plane or number that tells the colour of the mover is not the same in the mirrored position.
COLOUR_SLICES = {"planes119": "colour", "pepper353": "side", "giraffe363": "side"}


def play(board: chess.Board, rng: random.Random, plies: int) -> Game:
    """Play on both; now and then a move is taken back at once, so that positions repeat."""
    game = Game(board.fen(), chess960=board.chess960)
    for _ in range(plies):
        moves = list(board.legal_moves)
        if not moves:
            break
        move = rng.choice(moves)
        if len(board.move_stack) >= 2 and rng.random() < 0.6:
            last = board.move_stack[-2]
            back = chess.Move(last.to_square, last.from_square)
            move = back if back in moves else move
        board.push(move)
        game.push(move.uci())
    return game


def compare(layout: Layout, found: np.ndarray, board: chess.Board) -> None:
    expected = ENCODERS[layout.name](board)
    assert found.dtype == np.float32
    assert found.shape == expected.shape == layout.shape
    for part in layout.slices:
        span = slice(part.start, part.stop)
        np.testing.assert_allclose(
            found[span],
            expected[span],
            rtol=0,
            atol=1e-6,
            err_msg=f"{layout.name}, {part.name}, {board.fen()}",
        )
        low, high = part.range
        assert expected[span].min() >= low - 1e-6, f"{layout.name}, {part.name}"
        assert expected[span].max() <= high + 1e-6, f"{layout.name}, {part.name}"


# --- the tables ---------------------------------------------------------------------------------


def test_every_layout_is_in_the_tables() -> None:
    assert sorted(observation_names()) == sorted(OBSERVATIONS) == sorted(ENCODERS)
    for name, layout in OBSERVATIONS.items():
        assert observation_allows_uint8(name) == ("uint8" in layout.dtypes)


@pytest.mark.parametrize("name", OBSERVATIONS)
def test_the_slices_cover_the_layout(name: str) -> None:
    layout = OBSERVATIONS[name]
    assert tuple(observation_shape(name)) == layout.shape
    assert layout.slices[0].start == 0
    assert layout.slices[-1].stop == layout.shape[0]
    for part, following in zip(layout.slices, layout.slices[1:], strict=False):
        assert part.stop == following.start
    names = [part.name for part in layout.slices]
    assert len(set(names)) == len(names)


def test_the_feature_layouts_are_grouped_as_stated() -> None:
    pepper = {"global": (0, 17), "piece": (17, 225), "square": (225, 353)}
    giraffe = {"global": (0, 15), "piece": (15, 235), "square": (235, 363)}
    assert OBSERVATIONS["pepper353"].groups() == pepper
    assert OBSERVATIONS["giraffe363"].groups() == giraffe


def test_the_document_is_up_to_date() -> None:
    path = PROJECT / "docs" / "encodings.md"
    assert path.read_text() == encodings_doc.render_markdown(), (
        "run: python -m rookery.encodings.doc > docs/encodings.md"
    )


def test_another_version_is_refused_naming_both() -> None:
    for name, layout in [*OBSERVATIONS.items(), *ACTIONS.items()]:
        require_version(name, layout.version)
        with pytest.raises(ValueError, match=rf"{name}.*{layout.version + 6}.*{layout.version}"):
            require_version(name, layout.version + 6)
    with pytest.raises(ValueError, match="planes20"):
        require_version("planes20", 1)


# --- against the reference ----------------------------------------------------------------------


@pytest.mark.parametrize("family", board_families.FAMILIES)
@pytest.mark.parametrize("name", GENERAL)
def test_observations_agree_with_the_reference(name: str, family: str) -> None:
    rng = random.Random(f"{name} {family}")
    for number in range(40):
        board = board_families.draw(family, rng)
        game = play(board, rng, number % 4 if number % 2 else rng.randrange(100))
        compare(OBSERVATIONS[name], game.encode(name), board)


def test_repetition_entries_are_not_always_zero() -> None:
    """The comparison above is only worth something if repetitions occur: one of each kind."""
    board = chess.Board()
    game = Game()
    for uci in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1", "f6g8"]:
        board.push_uci(uci)
        game.push(uci)
    planes = game.encode("planes119")
    history = [(planes[14 * age + 12, 0, 0], planes[14 * age + 13, 0, 0]) for age in range(8)]
    once, twice, never = (1.0, 0.0), (1.0, 1.0), (0.0, 0.0)
    assert history == [twice, once, once, once, once, never, never, never]
    assert game.encode("planes22")[18:20, 0, 0].tolist() == [1.0, 1.0]
    assert game.encode("vector69")[68] == 1.0
    for name in ("planes119", "planes22", "vector69"):
        compare(OBSERVATIONS[name], game.encode(name), board)


def test_history_before_the_start_is_zero() -> None:
    game = Game()
    for plies in range(9):
        planes = game.encode("planes119")
        for age in range(8):
            filled = bool(planes[14 * age : 14 * age + 12].any())
            assert filled == (age <= plies)
        game.push(game.legal_moves()[0])


def test_taking_back_restores_the_observation() -> None:
    rng = random.Random(11)
    board = chess.Board()
    game = play(board, rng, 30)
    before = {name: game.encode(name) for name in GENERAL}
    moves = [game.pop() for _ in range(6)]
    for uci in reversed(moves):
        game.push(uci)
    for name in GENERAL:
        np.testing.assert_array_equal(game.encode(name), before[name])


@pytest.mark.parametrize(
    "fen",
    [
        "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",  # nine queens
        "1n6/PPPPPPPP/8/7k/8/8/8/K7 w - - 0 1",
        "nnnn3k/nnnn4/8/8/8/8/8/K7 b - - 12 60",  # surplus knights
        "rrrr3k/bbbb4/8/8/8/8/8/K7 b - - 12 60",
        "r3k2r/8/8/8/8/8/8/R3K2R w Kq - 99 200",
        "8/8/8/8/8/8/8/K6k w - - 150 300",
    ],
)
def test_unusual_material(fen: str) -> None:
    board, game = chess.Board(fen), Game(fen)
    for name in GENERAL:
        compare(OBSERVATIONS[name], game.encode(name), board)


def test_castling_is_the_last_move_of_the_king() -> None:
    for fen, uci, chess960, origin, target in [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", False, chess.E1, chess.G1),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8c8", False, chess.E8, chess.C8),
        ("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w KQkq - 0 1", "e1b1", True, chess.E1, chess.C1),
    ]:
        game = Game(fen, chess960=chess960)
        game.push(uci)
        planes = game.encode("planes22")
        viewer_flip = 0 if game.turn else 56
        assert np.flatnonzero(planes[20]).tolist() == [origin ^ viewer_flip]
        assert np.flatnonzero(planes[21]).tolist() == [target ^ viewer_flip]


# --- king and pawn against king -----------------------------------------------------------------


@pytest.mark.parametrize("material", ["KPvK", "KvKP"])
def test_kpk3_agrees_with_the_reference(material: str) -> None:
    for seed in range(200):
        fen = random_position(material, seed, "random")
        found = Game(fen).encode("kpk3")
        compare(OBSERVATIONS["kpk3"], found, chess.Board(fen))
        assert abs(float(found.sum())) < 1e-5


@pytest.mark.parametrize(
    "fen",
    [
        chess.STARTING_FEN,
        "8/8/8/4k3/8/8/8/4K3 w - - 0 1",
        "8/8/8/4k3/8/8/3R4/4K3 w - - 0 1",
        "8/8/8/4k3/8/8/3PP3/4K3 w - - 0 1",
        "8/4p3/8/4k3/8/8/4P3/4K3 w - - 0 1",
    ],
)
def test_kpk3_refuses_other_material(fen: str) -> None:
    with pytest.raises(ValueError, match=r"(?i)k(ing|p)"):
        Game(fen).encode("kpk3")
    with pytest.raises(ValueError, match=r"(?i)k(ing|p)"):
        encode_batch([Game(fen)], "kpk3", np.zeros((1, 3, 8, 8), np.float32))


# --- properties ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in GENERAL if OBSERVATIONS[n].orientation == MOVER])
def test_mirrored_positions_look_the_same_to_their_movers(name: str) -> None:
    """Swapping the colours and flipping the ranks changes nothing for the side to move."""
    rng = random.Random(12)
    for family in ("standard", "castling", "pawns", "promotions", "queens", "endgame"):
        for _ in range(10):
            board = board_families.draw(family, rng)
            mirrored = board.mirror()
            here = play(board, rng, rng.randrange(60))
            there = Game(mirrored.fen())
            for move in board.move_stack:
                flipped = chess.Move(
                    chess.square_mirror(move.from_square),
                    chess.square_mirror(move.to_square),
                    move.promotion,
                )
                there.push(flipped.uci())
            first, second = here.encode(name), there.encode(name)
            if name in COLOUR_SLICES:
                part = OBSERVATIONS[name].slice(COLOUR_SLICES[name])
                span = slice(part.start, part.stop)
                assert (first[span] == 1 - second[span]).all()
                first[span] = second[span] = 0
            if name in ("vector69", "planes119"):  # full-move numbers depend on the colour
                part = OBSERVATIONS[name].slice(
                    "full moves" if name == "vector69" else "total moves"
                )
                first[part.start : part.stop] = second[part.start : part.stop] = 0
            np.testing.assert_array_equal(first, second, err_msg=board.fen())


def test_nnue_features_agree_with_the_reference() -> None:
    rng = random.Random(13)
    for family in board_families.FAMILIES:
        for _ in range(20):
            board = board_families.draw(family, rng)
            game = play(board, rng, rng.randrange(40))
            mover, opponent = game.nnue_features()
            assert mover.dtype == opponent.dtype == np.int32
            assert len(mover) == len(opponent) == game.piece_count()
            assert (set(mover.tolist()), set(opponent.tolist())) == nnue768(board)


@pytest.mark.parametrize("name", BYTE_LAYOUTS)
def test_bytes_agree_with_floats(name: str) -> None:
    rng = random.Random(14)
    games = [play(board_families.draw("castling", rng), rng, rng.randrange(40)) for _ in range(30)]
    floats = np.full((30, *OBSERVATIONS[name].shape), 9, np.float32)
    numbers = np.full((30, *OBSERVATIONS[name].shape), 9, np.uint8)
    encode_batch(games, name, floats)
    encode_batch(games, name, numbers)
    np.testing.assert_array_equal(floats, numbers)
    for row, game in zip(floats, games, strict=True):
        np.testing.assert_array_equal(row, game.encode(name))


# --- batches into the caller's arrays -----------------------------------------------------------


@pytest.mark.parametrize("name", GENERAL)
def test_batches_agree_with_single_games(name: str) -> None:
    rng = random.Random(15)
    games = [play(chess.Board(), rng, rng.randrange(60)) for _ in range(17)]
    out = np.full((17, *OBSERVATIONS[name].shape), np.nan, np.float32)
    encode_batch(games, name, out)
    for row, game in zip(out, games, strict=True):
        np.testing.assert_array_equal(row, game.encode(name))


def test_a_part_of_a_larger_array_can_be_filled() -> None:
    out = np.full((5, 19, 8, 8), 7, np.float32)
    encode_batch([Game(), Game()], "planes19", out[1:3])
    assert (out[0] == 7).all() and (out[3:] == 7).all()
    np.testing.assert_array_equal(out[1], Game().encode("planes19"))


def test_an_empty_batch_writes_nothing() -> None:
    out = np.full((2, 19, 8, 8), 7, np.float32)
    encode_batch([], "planes19", out[1:1])
    assert (out == 7).all()


def read_only() -> np.ndarray:
    out = np.zeros((1, 19, 8, 8), np.float32)
    out.flags.writeable = False
    return out


WRONG_ARRAYS = {
    "too few games": np.zeros((0, 19, 8, 8), np.float32),
    "too many games": np.zeros((2, 19, 8, 8), np.float32),
    "planes": np.zeros((1, 18, 8, 8), np.float32),
    "flat": np.zeros((1, 19 * 64), np.float32),
    "no batch axis": np.zeros((19, 8, 8), np.float32),
    "float64": np.zeros((1, 19, 8, 8), np.float64),
    "int32": np.zeros((1, 19, 8, 8), np.int32),
    "float16": np.zeros((1, 19, 8, 8), np.float16),
    "Fortran order": np.zeros((1, 19, 8, 8), np.float32, order="F"),
    "every other file": np.zeros((1, 19, 8, 16), np.float32)[..., ::2],
    "reversed": np.zeros((1, 19, 8, 8), np.float32)[:, ::-1],
    "read-only": read_only(),
    "big-endian": np.zeros((1, 19, 8, 8), ">f4"),
}


@pytest.mark.parametrize("name", WRONG_ARRAYS)
def test_wrong_arrays_are_refused(name: str) -> None:
    out = WRONG_ARRAYS[name]
    with pytest.raises(ValueError, match=r"(?i)shape|float32|contiguous|writ|19"):
        encode_batch([Game()], "planes19", out)
    assert not out.any()


def test_bytes_are_refused_where_they_do_not_fit() -> None:
    for name in OBSERVATIONS:
        if name not in BYTE_LAYOUTS and name != "kpk3":
            out = np.zeros((1, *OBSERVATIONS[name].shape), np.uint8)
            with pytest.raises(ValueError, match="float32"):
                encode_batch([Game()], name, out)


@pytest.mark.parametrize("out", [None, [[0.0]], "planes19", 5])
def test_other_objects_are_refused(out: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        encode_batch([Game()], "planes19", out)  # type: ignore[arg-type]


def test_unknown_layouts_are_refused_by_name() -> None:
    for call in (
        lambda: Game().encode("planes20"),
        lambda: observation_shape("planes20"),
        lambda: encode_batch([Game()], "planes20", np.zeros((1, 20, 8, 8), np.float32)),
    ):
        with pytest.raises(ValueError, match=r"planes20.*planes19|planes19.*planes20"):
            call()
