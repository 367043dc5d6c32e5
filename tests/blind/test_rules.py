"""The referee: in step with reconchess, and what it tells each side."""

import copy

import numpy as np
import pytest

from rookery._core import BlindGame, BlindKnowledge, MoveError

E4, E5, D5, D6 = 28, 36, 35, 43


def play(game: BlindGame, *requests: str | None) -> list[tuple[str | None, int | None]]:
    """Ask for moves of both sides in turn, sensing nothing."""
    results = []
    for request in requests:
        game.sense(None)
        results.append(game.move(request))
    return results


def test_in_step_with_reconchess() -> None:
    pytest.importorskip("reconchess")
    from blind_differential import compare

    seen = compare(turns=3000, seed=7)
    assert seen["turns"] >= 3000
    for kind in ("changed", "none", "captures", "promotions", "king_capture", "move_limit"):
        assert seen[kind] > 0, kind


def test_a_slider_captures_the_first_piece_in_its_way() -> None:
    game = BlindGame("4k3/8/8/3p4/8/8/8/3QK3 w - - 0 1")
    assert play(game, "d1d8") == [("d1d5", D5)]


def test_blocked_pawns_and_empty_diagonals() -> None:
    game = BlindGame("4k3/8/8/8/p7/1p6/PP6/4K3 w - - 0 1")
    assert play(game, "a2a4") == [("a2a3", None)]  # the second square is taken
    assert play(game, None, "b2b4") == [(None, None), (None, None)]  # the first is
    assert play(game, None, "b2c3") == [(None, None), (None, None)]  # nothing to capture


def test_en_passant_tells_the_square_of_the_pawn() -> None:
    game = BlindGame("4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1")
    assert play(game, "d7d5", "e5d6")[1] == ("e5d6", D5)
    assert game.knowledge(False).turn(1)["opponent_capture"] == D5


def test_castling_through_attack_is_allowed_but_not_through_pieces() -> None:
    attacked = BlindGame("4kr2/8/8/8/8/8/8/R3K2R w KQ - 0 1")
    assert play(attacked, "e1g1") == [("e1g1", None)]
    assert attacked.fen().startswith("4kr2/8/8/8/8/8/8/R4RK1")
    blocked = BlindGame("4k3/8/8/8/8/8/8/Rn2K2R w KQ - 0 1")
    assert play(blocked, "e1c1") == [(None, None)]


def test_a_promotion_without_a_piece_is_a_queen() -> None:
    game = BlindGame("8/P3k3/8/8/8/8/8/4K3 w - - 0 1")
    assert play(game, "a7a8") == [("a7a8q", None)]


def test_capturing_the_king_wins() -> None:
    game = BlindGame("4k3/8/8/8/8/8/8/3R1K2 w - - 0 1")
    assert play(game, "d1e1", None, "e1e8")[-1] == ("e1e8", 60)  # nobody is in check
    assert game.outcome() == ("king_capture", True)
    with pytest.raises(MoveError, match="the game is over"):
        game.sense(None)


def test_limits_draw() -> None:
    game = BlindGame(turn_limit=2)
    play(game, None, None, None, None)
    assert game.outcome() == ("turn_limit", None)
    game = BlindGame(move_limit=3)
    play(game, None, None, None)
    assert game.outcome() == ("move_limit", None)


def test_phases_and_bad_requests_are_refused() -> None:
    game = BlindGame()
    with pytest.raises(MoveError, match="sense phase"):
        game.move("e2e4")
    with pytest.raises(MoveError, match="square 64"):
        game.sense(64)
    game.sense(E4)
    with pytest.raises(MoveError, match="'e2e5'"):
        game.move("e2e5")
    assert game.move("e2e4") == ("e2e4", None)


def test_a_sense_shows_the_window_and_nothing_else() -> None:
    game = BlindGame()
    assert game.sense(63) == [(62, "n"), (63, "r"), (54, "p"), (55, "p")]
    assert game.knowledge(True).turn(0)["sight"] == [(62, "n"), (63, "r"), (54, "p"), (55, "p")]
    assert game.knowledge(False).turn_count == 0


def test_knowledge_is_a_value() -> None:
    first, second = BlindGame(), BlindGame()
    play(first, "e2e4", "e7e5")
    play(second, "e2e4", "d7d5")  # White cannot tell the difference yet
    white, other = first.knowledge(True), second.knowledge(True)
    assert white == other and hash(white) == hash(other)
    first.sense(E5)
    second.sense(E5)
    assert first.knowledge(True) != second.knowledge(True)
    assert hash(first.knowledge(True)) != hash(second.knowledge(True))
    assert white == other  # copies do not follow the game
    copied = copy.deepcopy(white)
    copied.sensed(None, [])
    assert copied != white


def test_knowledge_can_be_built_from_what_the_referee_says() -> None:
    rng = np.random.default_rng(3)
    for number in range(20):
        game = BlindGame()
        built = {white: BlindKnowledge(white) for white in (True, False)}
        capture: int | None = None
        while not game.is_over and game.knowledge(True).turn_count < 60:
            white = game.white_to_move
            built[white].opponent_moved(capture)
            square = int(rng.integers(64))
            built[white].sensed(square, game.sense(square))
            requests = built[white].requests()
            assert requests == game.move_actions()
            request = requests[int(rng.integers(len(requests)))] if number % 2 else None
            request = request or requests[int(rng.integers(len(requests)))]
            taken, capture = game.move(request)
            built[white].moved(request, taken, capture)
            assert built[white] == game.knowledge(white)
            own = game.knowledge(white).own_fen.split()[0]
            assert own == _only(game.fen().split()[0], white)


def _only(board: str, white: bool) -> str:
    """The placement with the pieces of one side alone."""
    rows = []
    for row in board.split("/"):
        squares = "".join("." * int(c) if c.isdigit() else c for c in row)
        kept = "".join(c if c.isupper() == white and c != "." else "." for c in squares)
        text, gap = "", 0
        for c in kept + "|":
            if c == ".":
                gap += 1
                continue
            text += str(gap) if gap else ""
            text += c
            gap = 0
        rows.append(text[:-1])
    return "/".join(rows)
