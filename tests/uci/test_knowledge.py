"""Book and endgame tables behind UCI options."""

from __future__ import annotations

import pytest

from rookery._core import Game
from rookery.data.books import book_paths, find_book
from rookery.data.paths import search_folders
from rookery.data.tablebases import GAVIOTA_FOLDERS, SYZYGY_FOLDERS
from support.thinkers import SlowThinker
from support.uci_session import Session

WON = "8/8/8/8/8/2k5/1r6/K7 b - - 0 1"


def _tables(kind: str, usual: tuple[str, ...], pattern: str) -> str:
    for folder in search_folders(f"tablebases/{kind}", usual):
        if any(folder.glob(pattern)):
            return str(folder)
    if kind == "syzygy":
        pytest.skip("needs the data folder: Syzygy tables in tablebases/syzygy")
    pytest.skip("needs endgame tables: install Debian's gaviotatb")


@pytest.fixture
def tables(request: pytest.FixtureRequest) -> str:
    """The option with the path."""
    if request.param == "gaviota":
        return "GaviotaTbPath value " + _tables("gaviota", GAVIOTA_FOLDERS, "krk.gtb.cp4")
    return "SyzygyPath value " + _tables("syzygy", SYZYGY_FOLDERS, "KRvK.rtbw")


def test_book_moves_come_first_if_wanted() -> None:
    if not book_paths():
        pytest.skip("needs an opening book: install Debian's gnuchess-book")
    with find_book() as book:
        known = {entry.move for entry in book.moves(Game())}
    thinker = SlowThinker()
    with Session(thinker) as session:
        session.ask("go depth 1")
        session.ask("setoption name OwnBook value true", *["go depth 1"] * 10)
        assert len(thinker.asked) == 1
        assert set(session.best_moves[1:]) <= known
        assert session.all("info string move from book")
        # Analysis wants the player's opinion, and so does a position outside the book.
        session.ask("go depth 1 searchmoves a2a3")
        session.ask("position startpos moves a2a3 h7h5 a3a4 h5h4", "go depth 1")
        session.ask("setoption name OwnBook value false", "position startpos", "go depth 1")
        assert len(thinker.asked) == 4


@pytest.mark.parametrize("tables", ["gaviota", "syzygy"], indirect=True)
def test_tables_know_the_move(tables: str) -> None:
    thinker = SlowThinker()
    with Session(thinker) as session:
        session.ask(f"setoption name {tables}")
        assert session.all("info string tables of up to")
        game = Game(WON)
        while game.outcome() is None:
            assert game.ply < 80
            session.ask(f"position fen {WON} moves {' '.join(game.moves())}", "go depth 1")
            game.push(session.best_moves[-1])
        assert game.outcome() == ("checkmate", False)
        assert thinker.asked == []
        session.ask("position startpos", "go depth 1", "setoption name MultiPV value 2")
        session.ask(f"position fen {WON}", "go depth 1")
        assert len(thinker.asked) == 2
