"""Boards of other sizes: rules, notation, encodings, games in batches."""

from __future__ import annotations

import random

import numpy as np
import pytest

import board_differential
from rookery._core import (
    BoardError,
    FenError,
    Game,
    SelfPlay,
    VectorGames,
    find_board,
    known_boards,
    perft,
    play_random_plies,
    random_position,
)

SMALL = [board.name for board in known_boards() if board.name != "standard"]
OWN = "rqkr/pppp/4/4/PPPP/RQKR w - - 0 1; double-step; promote=qr"
# Leaves of Fairy-Stockfish; the last board is the one of its variants.ini in board_differential.
PERFT = {
    "4x4": [6, 21, 157, 1005, 6856],
    "4x5": [4, 18, 116, 733, 5794],
    "gardner": [7, 53, 506, 4775, 52512],
    "losalamos": [10, 100, 1212, 14332, 191846],
}


@pytest.mark.parametrize("name", PERFT)
def test_perft_of_small_boards(name: str) -> None:
    start = find_board(name).start
    assert [perft(start, depth) for depth in range(1, 6)] == PERFT[name]


@pytest.mark.parametrize("name", [*SMALL, board_differential.SPEED])
def test_random_games_agree_with_pyffish(name: str) -> None:
    report = board_differential.compare_pyffish(find_board(name), plies=120, seed=7)
    assert report.plies >= 120 and report.differences == []


@pytest.mark.parametrize("name", [*SMALL, OWN])
def test_fen_tells_its_board(name: str) -> None:
    for seed in range(20):
        game = Game(board=name)
        play_random_plies(game, 15, seed)
        again = Game(game.fen())
        assert (again.board, again.key, again.legal_moves()) == (
            game.board,
            game.key,
            game.legal_moves(),
        )


def test_the_same_pieces_on_another_board_are_another_position() -> None:
    fen = "k4/5/5/5/4K w - - 0 1"
    double = Game(fen, board="5x5;double-step")
    assert double.board == "5x5;double-step;promote=qrbn"
    assert double.key != Game(fen).key


@pytest.mark.parametrize("name", ["standard", "chess", "8x8"])
def test_names_of_the_standard_board(name: str) -> None:
    assert Game(board=name).fen() == Game().fen() and Game(board=name).board == "standard"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gardener", "known are standard, 4x4"),
        ("2x5", "boards have 3x3 to 8x8"),
        ("5x5; fly", "unknown rule 'fly'"),
        ("4x4; double-step", "at least 5 ranks"),
        ("5x5; promote=k", "letters of qrbn"),
        ("5x6", "no start position"),
        ("x" * 10_000, "bad board"),
    ],
)
def test_bad_boards_are_refused_in_one_line(text: str, words: str) -> None:
    with pytest.raises(BoardError, match=words) as caught:
        Game(board=text)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("fen", "board", "words"),
    [
        (None, "rnbqk/ppppp/5/PPPPP/RNBQ w - - 0 1", "does not fill 5 ranks"),
        (Game().fen(), "gardner", "board 'standard', not of 'gardner'"),
        (Game(board="gardner").fen(), "standard", "board 'gardner', not of 'standard'"),
        ("rnbqk/ppppp/5/PPPPP/RNBQK w KQ - 0 1", None, "need the board of 8x8"),
        ("rnbqP/ppppp/5/PPPPP/RNBQK w - - 0 1", None, "kings"),
        ("7/7/7 w - - 0 1", None, "squares instead of 8"),
        ("k4/5/5/5/K4 w - - 0 1 6x6;promote=q", None, "rank 6"),
    ],
)
def test_fens_that_do_not_fit(fen: str | None, board: str | None, words: str) -> None:
    with pytest.raises(FenError, match=words):
        Game(fen, board=board)


@pytest.mark.parametrize("observation", ["tactical70", "planes22", "planes14", "giraffe363"])
def test_both_sides_see_the_board_in_the_same_corner(observation: str) -> None:
    """A position and its mirror image, with the other side to move, look the same."""
    for seed in range(10):
        game = Game(board="losalamos")
        play_random_plies(game, 8 + 2 * (seed % 3), seed)
        placement, turn, *rest = game.fen().split()
        rows = placement.swapcase().split("/")[::-1]
        mirrored = Game(" ".join(["/".join(rows), "wb"[turn == "w"], *rest]))
        plain = Game(game.fen())  # without the last move
        ours, theirs = plain.encode(observation), mirrored.encode(observation)
        if observation == "giraffe363":
            ours, theirs = ours[1:], theirs[1:]  # the first number is the colour
        assert np.array_equal(ours, theirs)
        assert sorted(plain.legal_actions()) == sorted(mirrored.legal_actions())


def test_nothing_is_seen_outside_the_board() -> None:
    game = Game(board="4x5")
    rng = random.Random(3)
    while game.outcome() is None and game.ply < 60:
        planes = game.encode("planes14")
        assert not planes[:, 5:, :].any() and not planes[:, :, 4:].any()
        game.push(rng.choice(game.legal_moves()))


def test_vector_games_and_self_play_stay_on_their_board() -> None:
    games = VectorGames(8, "tactical70", seed=1, board="gardner", random_plies=(0, 6))
    rng = np.random.default_rng(1)
    ended = 0
    for _ in range(200):
        games.step(
            games.legal_actions[rng.integers(games.legal_offsets[:-1], games.legal_offsets[1:])]
        )
        ended += int(games.terminations.sum())
    assert ended and all(Game(games.fen(i)).board == "gardner" for i in range(8))
    games.reset(fens=["k4/5/5/4Q/4K w - - 0 1"])
    with pytest.raises(FenError, match="not of 'gardner'"):
        games.reset(fens=[Game().fen()])
    play = SelfPlay(4, "tactical70", seed=1, simulations=4, board="4x4")
    while play.ready < 20:
        leaves = play.gather()
        play.apply(np.zeros(len(play.legal_actions), np.float32), np.zeros(leaves, np.float32))
    found = play.take_games()
    assert found and all(game.start == find_board("4x4").start for game in found)


def test_random_positions_fit_on_their_board() -> None:
    for seed in range(50):
        game = Game(random_position("KQvKP", seed, "random", "4x4"))
        assert game.board == "4x4" and game.material() == "KQvKP" and game.outcome() is None
    with pytest.raises(ValueError, match="too many pieces for the board"):
        random_position("KPPPPPvK", 1, "white", "4x3")
