"""Players that need no engine: bots, tables, books, mixtures, people."""

from __future__ import annotations

import io
from collections.abc import Iterator

import numpy as np
import pytest

from rookery._core import Game, MoveError, NnueNetwork
from rookery.data.books import book_paths
from rookery.data.tablebases import find_tablebases
from rookery.engines.faults import EngineFault, clean
from rookery.players.base import Capabilities, Decision, capabilities_of
from rookery.players.bots import BotPlayer, RandomPlayer
from rookery.players.human import HumanPlayer
from rookery.players.mixed import BookPlayer, MixedPlayer
from rookery.players.registry import make_player
from rookery.players.spec import SpecError
from rookery.players.tablebase import TablebasePlayer

RNG = np.random.default_rng


def choices(player: object, fen: str, tries: int = 40) -> set[str]:
    return {player.choose(Game(fen), RNG(seed)).move for seed in range(tries)}  # type: ignore[attr-defined]


def test_greedy_takes_the_most_valuable_piece() -> None:
    fen = "4k3/8/8/2q1r3/3P4/8/8/1K6 w - - 0 1"
    assert choices(BotPlayer("greedy"), fen) == {"d4c5"}


def test_greedy_safe_does_not_hang_its_queen() -> None:
    # The pawn is guarded: taking it with the queen loses her.
    fen = "4k3/2p5/3p4/8/8/3Q4/8/4K3 w - - 0 1"
    assert "d3d6" not in choices(BotPlayer("greedy-safe"), fen)
    assert "d3d6" in choices(BotPlayer("greedy"), fen)


def test_greedy_safe_mates_in_one() -> None:
    assert choices(BotPlayer("greedy-safe"), "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1") == {"d1d8"}


def test_greedy_safe_avoids_stalemate() -> None:
    # Qg6 would stalemate; there are many better moves.
    assert "c6g6" not in choices(BotPlayer("greedy-safe"), "7k/8/2Q5/8/8/8/8/K7 w - - 0 1", 80)


def test_bots_are_reproducible() -> None:
    player = BotPlayer("random")
    assert player.choose(Game(), RNG(3)) == player.choose(Game(), RNG(3))
    assert len(choices(player, Game().fen(), 200)) == 20
    with pytest.raises(ValueError, match="greedy-safe"):
        BotPlayer("clever")


def test_mixed_share_of_random_moves() -> None:
    fen = "4k3/8/8/2q1r3/3P4/8/8/1K6 w - - 0 1"
    game = Game(fen)
    player = MixedPlayer(BotPlayer("greedy"), 0.5)
    rng = RNG(1)
    captures = sum(player.choose(game, rng).move == "d4c5" for _ in range(600))
    expected = 600 * (0.5 + 0.5 / game.legal_count())
    assert captures == pytest.approx(expected, abs=60)
    assert choices(MixedPlayer(BotPlayer("greedy"), 0.0), fen) == {"d4c5"}
    with pytest.raises(ValueError, match="outside"):
        MixedPlayer(BotPlayer("greedy"), 1.5)


@pytest.fixture
def table_player() -> Iterator[TablebasePlayer]:
    tables = find_tablebases()
    if "KRvK" not in tables.endings():
        pytest.skip("needs endgame tables: install Debian's gaviotatb")
    player = TablebasePlayer(tables)
    yield player
    player.close()


def test_tables_mate_as_fast_as_possible(table_player: TablebasePlayer) -> None:
    game = Game("8/8/8/3k4/8/8/8/R3K3 w - - 0 1")
    probe = table_player.tables.probe(game)
    assert probe is not None
    rng = RNG(0)
    while game.outcome() is None:
        game.push(table_player.choose(game, rng).move)
    assert game.outcome() == ("checkmate", True)
    assert game.ply == probe.distance


def test_tables_refuse_what_they_do_not_know(table_player: TablebasePlayer) -> None:
    with pytest.raises(MoveError, match="no endgame table"):
        table_player.choose(Game(), RNG(0))
    helped = TablebasePlayer(find_tablebases(), RandomPlayer())
    assert Game().is_legal(helped.choose(Game(), RNG(0)).move)
    helped.close()


def test_book_then_inner_player() -> None:
    if not book_paths():
        pytest.skip("needs an opening book: install Debian's gnuchess-book")
    player = BookPlayer(BotPlayer("greedy"), None)
    decision = player.choose(Game(), RNG(0))
    assert decision.details.get("book") is True
    ending = Game("4k3/8/8/2q1r3/3P4/8/8/1K6 w - - 0 1")
    assert player.choose(ending, RNG(0)).move == "d4c5"
    player.close()


def person(*lines: str) -> tuple[HumanPlayer, io.StringIO]:
    answers = iter(lines)
    output = io.StringIO()

    def ask(prompt: str) -> str:
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    return HumanPlayer(ask, output, unicode_pieces=False), output


@pytest.mark.parametrize("typed", ["e2e4", "e4"])
def test_a_person_may_type_either_notation(typed: str) -> None:
    player, _ = person(typed)
    assert player.choose(Game(), RNG(0)).move == "e2e4"


def test_a_person_is_asked_again() -> None:
    player, output = person("e5", "", "moves", "draw", "Nf3")
    assert player.choose(Game(), RNG(0)).move == "g1f3"
    text = output.getvalue()
    assert "'e5' is not a legal move" in text and "no draw to claim" in text and "Nh3" in text


def test_a_person_may_resign_or_leave() -> None:
    for lines in (("quit",), ()):
        player, _ = person(*lines)
        with pytest.raises(EngineFault):
            player.choose(Game(), RNG(0))


def test_a_person_sees_the_board_from_its_side() -> None:
    player, output = person("e5")
    game = Game()
    game.push("e2e4")
    player.choose(game, RNG(0))
    lines = output.getvalue().splitlines()
    assert "last move: e2e4" in lines[0]
    # Turned by half a circle, so that the king stands to the left of the queen.
    assert lines[1] == "1 R N B K Q B N R"
    assert lines[4] == "4 . . . P . . . ." and lines[-1] == "  h g f e d c b a"


class Plain:
    """A user's player with nothing but the protocol."""

    name = "plain"

    def choose(self, game: Game, rng: np.random.Generator, limits: object = None) -> Decision:
        return Decision(game.legal_moves()[0])

    def new_game(self) -> None: ...

    def close(self) -> None: ...


def test_players_state_their_capabilities_and_plain_ones_have_the_defaults() -> None:
    plain = Plain()
    assert capabilities_of(plain) == Capabilities()
    mixed = MixedPlayer(plain, 0.5)
    assert capabilities_of(mixed) == Capabilities(parts=(plain,))
    assert capabilities_of(BotPlayer("greedy")).native_bot == "greedy"
    for options, timed in (("", None), (",nodes=5", False), (",movetime=0.1", True)):
        engine = make_player(f"rookery,network=material{options}")
        assert capabilities_of(engine).timed is timed
        assert capabilities_of(MixedPlayer(engine, 0.5)).timed is timed
        engine.close()


def test_evidence_is_printable() -> None:
    assert clean("a\x1b[31m\nb\x00") == "a?[31m?b?"
    assert len(clean("x" * 5000)) == 300
    with pytest.raises(ValueError, match="unknown fault kind"):
        EngineFault("mystery", "")


@pytest.mark.parametrize("name", ["rookery", "giraffe"])
def test_a_plain_search_of_depth_one_plays_the_best_value(name: str) -> None:
    player = make_player(f"{name},search=plain")
    game = Game("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 0 4")
    assert player.choose(game, RNG(1)).move == "f3f7"  # mate
    game = Game()
    value = player.choose(game, RNG(1)).value
    replies = []
    for move in game.legal_moves():
        game.push(move)
        replies.append(_value(name, game))
        game.pop()
    assert value == pytest.approx(-min(replies), abs=1e-5)
    with pytest.raises(SpecError, match="search=plain has a depth and no nodes"):
        make_player(f"{name},search=plain,nodes=10")


def _value(name: str, game: Game) -> float:
    from rookery.players.alphabeta import read_evaluator

    evaluator = read_evaluator(name)
    if isinstance(evaluator, NnueNetwork):
        return float(np.tanh(evaluator.evaluate(game) / 800))
    return float(evaluator.values([game])[0])
