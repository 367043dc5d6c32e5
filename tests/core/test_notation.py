"""Standard algebraic notation and PGN of a game, against python-chess; forced mates."""

from __future__ import annotations

import io

import chess
import chess.pgn
import pytest

from rookery import Game, MoveError
from rookery._core import find_mate, play_random_plies
from support.uci_session import Session, require_shipped_engine

AMBIGUOUS = [
    "4k3/8/8/1N3N2/8/8/8/1N2KN2 w - - 0 1",
    "6k1/Q7/8/8/Q6Q/8/8/K7 w - - 0 1",
    "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    "2n1n2k/1P1P4/8/2pP4/8/8/8/K7 w - c6 0 1",
    "3rkr2/8/8/8/8/8/8/2R1K2R w - - 0 1",  # a pinned rook needs no mention
    "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
]


def check_position(game: Game) -> None:
    board = chess.Board(game.fen(), chess960=game.chess960)
    for uci in game.legal_moves():
        move = board.parse_uci(uci)
        san = board.san(move)
        assert game.san(uci) == san
        for text in (san, san.rstrip("+#"), san.replace("=", ""), f"{san}!?", board.lan(move)):
            after = game.copy()
            after.push_san(text.replace("-", "") if "O" not in text else text)
            assert after.moves()[-1] == uci, text


@pytest.mark.parametrize("fen", AMBIGUOUS)
def test_notation_of_difficult_positions(fen: str) -> None:
    check_position(Game(fen))
    check_position(Game(chess.Board(fen).mirror().fen()))


@pytest.mark.parametrize("seed", range(12))
def test_notation_and_pgn_of_random_games(seed: int) -> None:
    chess960 = seed % 3 == 0
    start = chess.Board.from_chess960_pos(seed * 79).fen() if chess960 else chess.STARTING_FEN
    game = Game(start, chess960)
    while game.outcome() is None and game.ply < 200:
        check_position(game)
        play_random_plies(game, 7, seed)
    read = chess.pgn.read_game(io.StringIO(game.pgn(White="Anna", Event='a "test"')))
    assert read is not None and not read.errors
    assert read.headers["White"] == "Anna" and read.headers["Event"] == "a 'test'"
    board = read.end().board()
    assert [board.uci(move) for move in board.move_stack] == game.moves()
    assert board.fen(en_passant="legal") == game.fen()
    outcome = game.outcome()
    expected = "*" if outcome is None else {True: "1-0", False: "0-1", None: "1/2-1/2"}[outcome[1]]
    assert read.headers["Result"] == expected


@pytest.mark.parametrize("text", ["Nd2", "Ke3", "", "e9", "N" * 50, "O-O", "e4", "\x00", "\u00e9"])
def test_what_is_no_move_is_an_error(text: str) -> None:
    game = Game("4k3/8/8/8/8/8/1N3N2/4K3 w - - 0 1")  # both knights reach d1
    with pytest.raises(MoveError):
        game.push_san(text)
    with pytest.raises(MoveError):
        game.push_san("Nd1")
    game.push_san("Nbd1")
    assert game.moves() == ["b2d1"]


# Position, moves to mate, first move
MATES = [
    ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", 2, "a1a6"),  # P. Morphy: a quiet sacrifice
    ("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1", 1, "d1d8"),
    ("7k/8/8/8/8/8/R7/1R5K w - - 0 1", 2, None),
    ("r2qkb1r/pp2nppp/3p4/2pNN1B1/2BnP3/3P4/PPP2PPP/R2bK2R w KQkq - 1 1", 2, "d5f6"),  # Legal
    ("1k5r/pP3ppp/3p2b1/1BN1n3/1Q2P3/P1B5/KP3P1P/7q w - - 1 1", 3, None),
    ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 3, "f6a6"),
]


@pytest.mark.parametrize(("fen", "moves", "first"), MATES)
def test_the_shortest_mate_is_found(fen: str, moves: int, first: str | None) -> None:
    for position in (fen, chess.Board(fen).mirror().fen()):
        line, _, complete = find_mate(Game(position), moves)
        assert complete and len(line) == 2 * moves - 1
        game = Game(position)
        for move in line:
            game.push(move)
        assert game.outcome() == ("checkmate", Game(position).turn)
        assert find_mate(Game(position), moves - 1)[0] == []
    if first is not None:
        assert find_mate(Game(fen), moves)[0][0] == first


def test_mates_that_the_fifty_moves_prevent_are_none() -> None:
    assert find_mate(Game("7k/8/8/8/8/8/R7/1R5K w - - 98 90"), 2)[0]
    assert find_mate(Game("7k/8/8/8/8/8/R7/1R5K w - - 99 90"), 2)[0] == []


def test_a_mate_search_ends_at_its_limits() -> None:
    line, nodes, complete = find_mate(Game(), 20, nodes=10_000)
    assert line == [] and not complete and nodes <= 10_001
    assert find_mate(Game(), 20, stopping=lambda: True)[0] == []
    with pytest.raises(MoveError):
        find_mate(Game(), 2, only=["e2e5"])


@pytest.mark.parametrize("player", ["rookery", "alphazero"])
def test_go_mate_finds_morphys_mate(player: str) -> None:
    require_shipped_engine()
    from rookery.players.registry import make_player

    with Session(lambda: make_player(player)) as session:
        lines = session.ask(f"position fen {MATES[0][0]}", "go mate 2")
        assert lines[-1].startswith("bestmove a1a6")
        assert "score mate 2" in lines[-2]
        lines = session.ask(f"position fen {MATES[0][0]}", "go mate 2 searchmoves a1a2 nodes 2000")
        assert lines[-1].startswith("bestmove a1a2")
