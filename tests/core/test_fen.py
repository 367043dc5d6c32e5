"""FEN in and out: what is refused, what is put right, and nothing that crashes."""

from __future__ import annotations

import random

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

import board_families
from rookery import STARTING_FEN, FenError, Game

BOARD = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"

# name: (FEN, what the message must name)
BAD = {
    "empty": ("", ""),
    "spaces": ("     ", ""),
    "placement only": (BOARD, BOARD),
    "three fields": (f"{BOARD} w KQkq", "KQkq"),
    "seven fields": (f"{BOARD} w KQkq - 0 1 x", ""),
    "no white king": ("8/8/4k3/8/8/8/8/8 w - - 0 1", "White"),
    "no black king": ("8/8/4K3/8/8/8/8/8 w - - 0 1", "Black"),
    "two white kings": ("8/8/4k3/8/8/8/8/K6K w - - 0 1", "White"),
    "two black kings": ("k6k/8/8/8/8/8/8/K7 w - - 0 1", "Black"),
    "white pawn on rank 8": ("P6k/8/8/8/8/8/8/K7 w - - 0 1", "a8"),
    "white pawn on rank 1": ("7k/8/8/8/8/8/8/K5P1 w - - 0 1", "g1"),
    "black pawn on rank 1": ("7k/8/8/8/8/8/8/K5p1 w - - 0 1", "g1"),
    "black pawn on rank 8": ("p6k/8/8/8/8/8/8/K7 w - - 0 1", "a8"),
    "nine pawns": ("7k/8/8/8/8/P7/PPPPPPPP/K7 w - - 0 1", "9"),
    "seventeen pieces": ("7k/8/8/8/8/N7/PPPPPPPP/RNBQKBNR w - - 0 1", "17"),
    "side not to move in check": ("4k3/8/8/8/8/8/8/4RK2 w - - 0 1", "check"),
    "kings side by side": ("8/8/8/3kK3/8/8/8/8 w - - 0 1", "check"),
    "seven ranks": ("8/8/4k3/8/8/8/4K3 w - - 0 1", "4K3"),
    "nine ranks": ("8/8/4k3/8/8/8/4K3/8/8 w - - 0 1", "4K3"),
    "short rank": ("7/8/4k3/8/8/8/4K3/8 w - - 0 1", "7"),
    "long rank": ("8p/8/4k3/8/8/8/4K3/8 w - - 0 1", "8p"),
    "long rank in digits": ("44p/8/4k3/8/8/8/4K3/8 w - - 0 1", "44p"),
    "nine": ("9/8/4k3/8/8/8/4K3/8 w - - 0 1", "9"),
    "zero": ("80/8/4k3/8/8/8/4K3/8 w - - 0 1", "0"),
    "two digits in a row": ("44/8/4k3/8/8/8/4K3/8 w - - 0 1", "44"),
    "unknown piece": ("7x/8/4k3/8/8/8/4K3/8 w - - 0 1", "x"),
    "trailing slash": ("8/8/4k3/8/8/8/4K3/8/ w - - 0 1", "/"),
    "backslashes": (BOARD.replace("/", "\\") + " w KQkq - 0 1", ""),
    "side": (f"{BOARD} x KQkq - 0 1", "'x'"),
    "side in capitals": (f"{BOARD} W KQkq - 0 1", "'W'"),
    "castling letters": (f"{BOARD} w KQxq - 0 1", "x"),
    "castling right twice": (f"{BOARD} w KKkq - 0 1", "K"),
    "castling and dash": (f"{BOARD} w K- - 0 1", "-"),
    "no rook on h1": ("4k3/8/8/8/8/8/8/R3K3 w K - 0 1", "K"),
    "no rook on a8": ("4k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "q"),
    "king not on e1": ("4k3/8/8/8/8/8/8/R4K1R w KQ - 0 1", ""),
    "enemy rook on h1": ("4k3/8/8/8/8/5N2/5PP1/4K1Nr w K - 0 1", "K"),
    "chess960 rights in a standard game": ("4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1", "chess960"),
    "en passant square": (f"{BOARD} w KQkq z9 0 1", "z9"),
    "en passant rank 0": (f"{BOARD} w KQkq e0 0 1", "e0"),
    "en passant half": (f"{BOARD} w KQkq e 0 1", "'e'"),
    "negative clock": (f"{BOARD} w KQkq - -1 1", "-1"),
    "negative move number": (f"{BOARD} w KQkq - 0 -5", "-5"),
    "fractional clock": (f"{BOARD} w KQkq - 0.5 1", "0.5"),
    "clock in letters": (f"{BOARD} w KQkq - ten 1", "ten"),
    "plus sign": (f"{BOARD} w KQkq - +1 1", "+1"),
    "hexadecimal": (f"{BOARD} w KQkq - 0x1 1", "0x1"),
    "clock overflow": (f"{BOARD} w KQkq - 4294967297 1", "4294967297"),
    "move number overflow": (f"{BOARD} w KQkq - 0 18446744073709551617", "18446744073709551617"),
    "NUL": (f"{BOARD} w KQkq - 0 1\0", ""),
    "NUL inside": (BOARD[:5] + "\0" + BOARD[5:] + " w KQkq - 0 1", ""),
    "newline": (f"{BOARD} w\nKQkq - 0 1", ""),
    "tab": (f"{BOARD}\tw\tKQkq\t-\t0\t1", ""),
    "arabic digits": (f"{BOARD} w KQkq - \u0663 1", ""),
    "fullwidth digits": (BOARD.replace("8", "\uff18") + " w KQkq - 0 1", ""),
    "fullwidth letters": (f"{BOARD} \uff57 KQkq - 0 1", ""),
    "no-break space": (f"{BOARD}\u00a0w KQkq - 0 1", ""),
    "superscript": (f"{BOARD} w KQkq - \u00b2 1", ""),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_fens_are_refused(name: str) -> None:
    fen, named = BAD[name]
    for chess960 in (False, True):
        if chess960 and name in ("chess960 rights in a standard game", "king not on e1"):
            continue
        with pytest.raises(FenError) as caught:
            Game(fen, chess960=chess960)
        if not chess960:
            assert named in str(caught.value)
        assert len(str(caught.value)) < 500
        assert "\n" not in str(caught.value)


def test_fen_error_is_a_value_error() -> None:
    assert issubclass(FenError, ValueError)


@pytest.mark.parametrize("unit", ["8/", "a", " ", "9999999", "\0", "\u00e9", f"{STARTING_FEN} "])
def test_ten_megabytes_are_refused(unit: str) -> None:
    with pytest.raises(FenError) as caught:
        Game(unit * (10_000_000 // len(unit)))
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("value", [5, b"8/8/8/8/8/8/8/8 w - - 0 1", ["w"]])
def test_other_types_are_type_errors(value: object) -> None:
    with pytest.raises(TypeError):
        Game(value)  # type: ignore[arg-type]


def test_lone_surrogates_are_refused() -> None:
    with pytest.raises((ValueError, TypeError)):
        Game("\ud800 w - - 0 1")


@pytest.mark.parametrize(
    "fen",
    [
        STARTING_FEN,
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 7 31",
        "4k3/8/8/8/8/8/8/4K2R w K - 0 1",
        "8/8/8/8/k2p3R/8/8/K7 b - - 99 5949",
        "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
    ],
)
def test_round_trip(fen: str) -> None:
    game = Game(fen)
    assert game.fen() == fen
    assert game.epd() == " ".join(fen.split()[:4])
    assert game.start_fen == fen
    assert repr(game) == f"Game('{fen}')"
    assert game.turn == (fen.split()[1] == "w")


def test_the_counters_may_be_left_out() -> None:
    assert Game(f"{BOARD} w KQkq -").fen() == STARTING_FEN
    assert Game(f"{BOARD} w KQkq - 3").fen() == f"{BOARD} w KQkq - 3 1"


def test_move_number_zero_becomes_one() -> None:
    assert Game(f"{BOARD} w KQkq - 0 0").fullmove_number == 1


@pytest.mark.parametrize(
    ("fen", "expected"),
    [
        ("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w KQkq - 0 1", "KQkq"),
        ("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1", "KQkq"),
        ("1r2krr1/8/8/8/8/8/8/1R2KRR1 w FBfb - 0 1", "FQfq"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1", "KQkq"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w AHqk - 0 1", "KQkq"),
    ],
)
def test_castling_letters_of_chess960(fen: str, expected: str) -> None:
    game = Game(fen, chess960=True)
    assert game.fen().split()[2] == expected
    assert game.fen() == chess.Board(fen, chess960=True).fen()
    assert Game(game.fen(), chess960=True).key == game.key


def test_shredder_letters_in_a_standard_game() -> None:
    assert Game("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1").fen().split()[2] == "KQkq"


# --- en passant squares that allow nothing are dropped ------------------------------------------


@pytest.mark.parametrize(
    ("placement", "square"),
    [
        (f"{BOARD} w KQkq", "e3"),  # wrong side
        (f"{BOARD} w KQkq", "e6"),  # no pawn was pushed
        (f"{BOARD} w KQkq", "a1"),
        (f"{BOARD} w KQkq", "h8"),
        ("rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq", "e6"),  # nobody can capture
        ("rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq", "d6"),
        ("8/8/8/8/k2pP2R/8/8/4K3 b - ", "e3"),  # pinned on the rank
        ("4k3/8/4r3/3Pp3/8/8/8/3QK3 w - ", "d6"),
        ("k7/8/8/r2pP2K/8/8/8/8 w - ", "d6"),  # pinned on the rank, White
        ("7k/8/2b5/3Pp3/8/5K2/8/8 w - ", "e6"),  # pinned on the diagonal
        ("4k3/4n3/8/3Pp3/8/8/8/4K3 w -", "e6"),  # the pawn cannot have come from e7
        ("4k3/8/4n3/3Pp3/8/8/8/4K3 w -", "e6"),  # the square is occupied
        ("4r2k/8/8/3Pp3/8/8/8/4KB2 w -", "d6"),
    ],
)
def test_useless_en_passant_squares_are_dropped(placement: str, square: str) -> None:
    with_square = Game(f"{placement} {square} 0 1")
    without = Game(f"{placement} - 0 1")
    assert with_square.fen() == without.fen()
    assert with_square.key == without.key
    assert sorted(with_square.legal_moves()) == sorted(without.legal_moves())


@pytest.mark.parametrize(
    "fen",
    [
        "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
        "8/8/8/1k6/3Pp3/8/8/4KQ2 b - d3 0 1",  # the pushed pawn gives check
        "7k/8/8/3Pp3/8/8/8/3RK3 w - e6 0 1",  # a pin along the file would not matter
        "7k/8/8/3Pp3/2K2b2/8/8/8 w - e6 0 1",
    ],
)
def test_possible_en_passant_squares_are_kept(fen: str) -> None:
    game = Game(fen)
    assert game.fen() == fen == chess.Board(fen).fen()
    assert game.key != Game(fen.replace(f" {fen.split()[3]} ", " - ")).key


# --- fuzzing ------------------------------------------------------------------------------------

# python-chess's complaints that make a position unusable; it only warns of the others.
REFUSED = (
    chess.STATUS_NO_WHITE_KING
    | chess.STATUS_NO_BLACK_KING
    | chess.STATUS_TOO_MANY_KINGS
    | chess.STATUS_TOO_MANY_WHITE_PAWNS
    | chess.STATUS_TOO_MANY_BLACK_PAWNS
    | chess.STATUS_PAWNS_ON_BACKRANK
    | chess.STATUS_TOO_MANY_WHITE_PIECES
    | chess.STATUS_TOO_MANY_BLACK_PIECES
    | chess.STATUS_BAD_CASTLING_RIGHTS
    | chess.STATUS_OPPOSITE_CHECK
    | chess.STATUS_EMPTY
)


def python_chess_accepts(fen: str) -> chess.Board | None:
    try:
        board = chess.Board(fen)
    except ValueError:
        return None
    board.ep_square = board._valid_ep_square()
    return None if board.status() & REFUSED else board


def stricter_in_form(fen: str, board: chess.Board) -> bool:
    """python-chess reads it and we refuse: missing fields, doubled rights, six digits."""
    fields = fen.split()
    if len(fields) < 4:
        return True
    rights = 0 if fields[2] == "-" else len(fields[2])
    return rights != chess.popcount(board.castling_rights) or max(map(len, fields[4:])) > 5


def lenient_form(fen: str) -> str:
    """We read it and python-chess refuses: rights in any order, useless en passant squares."""
    fields = fen.split()
    fields[2] = "".join(sorted(fields[2]))
    fields[3] = "-"
    return " ".join(fields)


def compare_with_python_chess(fen: str) -> None:
    expected = python_chess_accepts(fen)
    try:
        game = Game(fen)
    except FenError:
        assert expected is None or stricter_in_form(fen, expected), fen
        return
    expected = expected or python_chess_accepts(lenient_form(fen))
    assert expected is not None, f"accepted {fen!r}"
    assert game.fen() == expected.fen()
    assert sorted(game.legal_moves()) == sorted(move.uci() for move in expected.legal_moves)


@given(st.text(max_size=200))
def test_any_text_is_refused(text: str) -> None:
    with pytest.raises(FenError):
        Game(text)


@given(st.text(alphabet="pnbrqkPNBRQK12345678/ wbKQkqabcdefgh-0123456789", max_size=90))
def test_text_of_fen_letters(text: str) -> None:
    compare_with_python_chess(text)


def mutate(fen: str, rng: random.Random) -> str:
    """Change, remove, double or swap a character or a field."""
    letters = "pnbrqkPNBRQK12345678/ wbKQkqabcdefgh-0123456789"
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(fen)) if fen else 0
        kind = rng.randrange(5)
        if kind == 0:
            fen = fen[:at] + rng.choice(letters) + fen[at + 1 :]
        elif kind == 1:
            fen = fen[:at] + fen[at + 1 :]
        elif kind == 2:
            fen = fen[:at] + rng.choice(letters) + fen[at:]
        elif kind == 3:
            other = rng.randrange(len(fen)) if fen else 0
            characters = list(fen)
            if characters:
                characters[at], characters[other] = characters[other], characters[at]
            fen = "".join(characters)
        else:
            fields = fen.split(" ")
            chosen = rng.randrange(len(fields))
            fields[chosen] = rng.choice(["-", "w", "b", "KQkq", "e3", "e6", "d6", "0", "100", "7k"])
            fen = " ".join(fields)
    return fen


def test_mutated_fens_agree_with_python_chess() -> None:
    rng = random.Random(4)
    families = ["standard", "castling", "pawns", "endgame"]
    for number in range(6000):
        board = board_families.draw(families[number % len(families)], rng)
        compare_with_python_chess(mutate(board.fen(), rng))
