"""The UCI engine command by command, with a slow player that can be stopped."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from rookery._core import STARTING_FEN, Game
from rookery.players.base import Capabilities, Decision, Limits
from rookery.players.bots import BotPlayer
from rookery.players.thinking import Setting
from rookery.uci.options import advice
from support.thinkers import SlowThinker
from support.uci_session import Session

MATED = "position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"
STALEMATE = "position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"
BARE_KINGS = "position fen 8/8/4k3/8/8/3K4/8/8 w - - 0 1"


@pytest.fixture
def thinker() -> SlowThinker:
    return SlowThinker()


@pytest.fixture
def session(thinker: SlowThinker):
    with Session(thinker) as talk:
        yield talk


# One answer for every question


@pytest.mark.parametrize(
    "go",
    [
        "go depth 3",
        "go nodes 250",
        "go movetime 5",
        "go wtime 200 btime 200 winc 0 binc 0",
        "go depth 2 searchmoves e2e4",
        "go mate 1",
        "go depth 9999999999",
        "go nodes 0",
    ],
)
def test_a_limited_search_answers_by_itself(session: Session, go: str) -> None:
    if "9999999999" in go:  # clamped to 245 plies
        session.engine._player.depth_seconds = 0.0
    written = session.ask(go)
    assert [line.split()[0] for line in written].count("bestmove") == 1
    assert written[-1].startswith("bestmove ")
    assert any(line.startswith("info depth") and " pv " in line for line in written)


@pytest.mark.parametrize("go", ["go infinite", "go ponder wtime 1000 btime 1000", "go"])
def test_an_endless_search_answers_after_stop_only(session: Session, go: str) -> None:
    session.send(go)
    session.wait("info depth 5")
    session.send("isready")
    session.wait("readyok")  # at once, while it searches
    assert not session.best_moves
    session.send("stop", "stop")
    session.wait("bestmove")
    session.ask("stop", "isready")
    assert len(session.best_moves) == 1


@pytest.mark.parametrize("mode", ["infinite", "ponder", "infinite depth 1", "ponder depth 1"])
def test_an_answer_is_held_back_even_if_the_player_is_done(mode: str) -> None:
    with Session(BotPlayer("greedy")) as session:  # answers at once
        session.send(f"go {mode}")
        session.wait("info depth")
        session.send("isready", "position startpos moves e2e4", "d")
        session.wait("Fen:")
        assert not session.best_moves
        session.send("stop")
        assert Game().is_legal(session.wait("bestmove").split()[1])


def test_a_stop_right_after_go_is_never_lost(session: Session) -> None:
    for _ in range(50):
        session.ask("go infinite", "stop")
    assert len(session.best_moves) == 50


def test_ponderhit_starts_the_clock(session: Session, thinker: SlowThinker) -> None:
    session.send("go ponder movetime 5")
    session.wait("info depth 10 ")  # beyond the time, which does not count yet
    assert not session.best_moves
    session.send("ponderhit")
    session.wait("bestmove")
    assert thinker.asked[-1][4] is True


def test_a_ponderhit_right_after_go_is_never_lost(session: Session) -> None:
    for number in range(50):
        session.send("go ponder depth 1", "ponderhit")
        session.wait("bestmove", number + 1)


def test_idle_stop_and_ponderhit_do_nothing(session: Session) -> None:
    written = session.ask("stop", "ponderhit", "stop")
    assert written == ["info string ponderhit ignored: not pondering"]
    assert session.ask("go ponder", "stop", "ponderhit")[-1].startswith("bestmove")


def test_go_twice_answers_twice_in_order(session: Session) -> None:
    session.send("go depth 20", "position startpos moves e2e4", "go depth 1")
    session.wait("bestmove", 2)
    white, black = session.best_moves
    assert Game().is_legal(white)
    assert not Game().is_legal(black)


def test_go_ends_an_endless_search_before_it(session: Session) -> None:
    session.send("go infinite", "position startpos moves e2e4", "go infinite")
    session.wait("bestmove")
    session.send("go depth 1")
    session.wait("bestmove", 3)
    assert len(session.best_moves) == 3


def test_stop_concerns_every_search_before_it(session: Session) -> None:
    session.ask(*["go movetime 100000"] * 5, "stop")
    assert len(session.best_moves) == 5


def test_a_flood_of_searches_does_not_pile_up(session: Session) -> None:
    session.send(*["go movetime 100000"] * 300)
    session.send("stop")
    session.wait("bestmove", 300)
    assert session.engine.wait_idle(60)
    assert len(session.best_moves) == 300


def test_a_new_position_is_for_the_next_search(session: Session, thinker: SlowThinker) -> None:
    session.send("go infinite", "position startpos moves e2e4 e7e5")
    session.send("stop")
    session.wait("bestmove")
    assert thinker.asked[-1][0] == STARTING_FEN
    session.ask("go depth 1")
    assert thinker.asked[-1][0].startswith("rnbqkbnr/pppp1ppp/8/4p3/4P3")


def test_settings_and_new_games_wait_for_the_search(session: Session, thinker: SlowThinker) -> None:
    session.send("go infinite", "setoption name Hash value 32", "ucinewgame", "isready")
    session.wait("readyok")
    assert thinker.configured == [] and thinker.games == 0
    session.send("stop")
    session.ask("isready")
    assert thinker.configured == [("Hash", "32")] and thinker.games == 1


def test_closing_answers_pending_searches(thinker: SlowThinker) -> None:
    session = Session(thinker)
    session.send("go infinite", "go infinite", "go depth 100000")
    assert session.close()
    assert len(session.best_moves) == 3 and thinker.closed


def test_closing_does_not_wait_for_a_player_that_never_stops() -> None:
    thinker = SlowThinker(deaf=True)
    session = Session(thinker)
    session.send("go infinite")
    session.wait("info depth")
    session.send("go depth 3")
    assert session.close(0.05) is False
    assert len(session.best_moves) == 2
    assert all(Game().is_legal(move) for move in session.best_moves)
    thinker.deaf = False
    assert session.close()
    assert len(session.best_moves) == 2


# What the player is asked


def test_limits_reach_the_player(session: Session, thinker: SlowThinker) -> None:
    session.ask("go wtime 90 btime 60000 winc 10 binc 20 movestogo 7 depth 3 nodes 500")
    limits = thinker.asked[-1][1]
    assert limits == Limits(
        depth=3,
        nodes=500,
        white_time=0.06,  # 30 ms of overhead
        black_time=59.97,
        white_increment=0.01,
        black_increment=0.02,
        moves_to_go=7,
    )


def test_several_lines(session: Session, thinker: SlowThinker) -> None:
    session.ask("setoption name multipv value 3", "setoption name UCI_ShowWDL value true")
    written = session.ask("go depth 1")
    infos = [line for line in written if line.startswith("info depth 1 ")]
    assert [line.split()[6] for line in infos] == ["1", "2", "3"]
    assert all("wdl 400 450 150" in line for line in infos)
    session.ask("position fen 7k/8/8/8/8/8/r7/7K w - - 0 1", "go depth 1")
    assert thinker.asked[-1][2] == 1  # only one legal move


def test_searchmoves(session: Session, thinker: SlowThinker) -> None:
    session.ask("go searchmoves e2e4 e2e5 d2d4 e2e4 depth 1")
    assert thinker.asked[-1][3] == ["e2e4", "d2d4"]
    assert session.best_moves == ["d2d4"]
    assert session.all("info string searchmoves")
    session.ask("go depth 1 searchmoves a1a8 xyz")
    assert thinker.asked[-1][3] is None
    assert len(session.best_moves) == 2


def test_searchmoves_of_a_player_that_does_not_think() -> None:
    with Session(BotPlayer("random")) as session:
        session.ask(*["go searchmoves e2e4 d2d4"] * 20)
        assert set(session.best_moves) == {"e2e4", "d2d4"}


def test_mate_ends_the_search_when_found(session: Session) -> None:
    session.ask("position fen 7k/8/5KQ1/8/8/8/8/8 w - - 0 1", "setoption name MultiPV value 40")
    session.ask("go mate 3 searchmoves g6g7")
    assert session.best_moves == ["g6g7"]
    assert "score mate 1" in session.all("info depth 1 ")[0]
    assert not session.all("info depth 15 ")


# Positions


@pytest.mark.parametrize("position", [MATED, STALEMATE, BARE_KINGS])
@pytest.mark.parametrize("player", [SlowThinker, lambda: BotPlayer("random")])
def test_a_finished_game_has_no_move(position: str, player) -> None:
    with Session(player()) as session:
        session.ask(position, "go depth 1", "go movetime 100000")
        assert session.best_moves == ["(none)", "(none)"]
        score = "mate 0" if position == MATED else "cp 0"
        assert session.all("info depth 0") == [f"info depth 0 score {score}"] * 2


@pytest.mark.parametrize(
    "bad",
    [
        "position",
        "position moves e2e4",
        "position startpos e2e4",
        "position fen",
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "position fen 9/8/8/8/8/8/8/8 w - - 0 1",
        "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR x KQkq - 0 1",
        "position fen \x00\ufffd w - - 0 1",
        "position fen " + "p" * 100_000,
        "position startpos moves e2e5",
        "position startpos moves e2e4 e2e4",
        "position startpos moves 0000",
        "position startpos moves e7e8q",
        "position startpos moves \x00",
        "position startpos moves e2e4 e7e5 moves g1f3 nonsense",
    ],
)
def test_a_bad_position_keeps_the_one_before(
    session: Session, thinker: SlowThinker, bad: str
) -> None:
    session.ask("position startpos moves e2e4 c7c5")
    written = session.ask(bad)
    assert len(written) == 1 and written[0].startswith("info string error")
    assert written[0].isascii() and len(written[0]) < 400
    session.ask("go depth 1")
    assert thinker.asked[-1][0].startswith("rnbqkbnr/pp1ppppp/8/2p5/4P3")


def test_good_positions(session: Session, thinker: SlowThinker) -> None:
    for line, expected in [
        ("position startpos", STARTING_FEN),
        ("position startpos moves", STARTING_FEN),
        ("position fen 4k3/P7/8/8/8/8/8/4K3 w - - moves a7a8Q", "Q3k3/8/8/8/8/8/8/4K3 b - - 0 1"),
        ("position  fen   4k3/8/8/8/8/8/8/4K2R w K -", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"),
    ]:
        assert session.ask(line) == []
        session.ask("go depth 1")
        assert thinker.asked[-1][0] == expected


def test_a_very_long_game(session: Session, thinker: SlowThinker) -> None:
    moves = ["b1c3", "b8c6", "c3b1", "c6b8"] * 3000
    assert session.ask("position startpos moves " + " ".join(moves), "go depth 1")[-1] == (
        "bestmove (none)"  # the same position for the fifth time
    )


def test_chess960_castles_onto_the_rook(session: Session, thinker: SlowThinker) -> None:
    castling = "position fen 4k3/8/8/8/8/8/8/1R2K2R w HB - 0 1 moves e1h1"
    assert session.ask(castling)[0].startswith("info string error")
    session.ask("setoption name UCI_Chess960 value true", castling, "go depth 1")
    assert thinker.asked[-1][0].startswith("4k3/8/8/8/8/8/8/1R3RK1 b")


# Options


@pytest.mark.parametrize(
    ("line", "configured", "said"),
    [
        ("setoption name Hash value 64", [("Hash", "64")], False),
        ("setoption name hASH value -16", [("Hash", "1")], True),
        ("setoption name Hash value 99999999999999999999999", [("Hash", "1024")], True),
        ("setoption name Hash value " + "9" * 10_000, [("Hash", "1024")], True),
        ("setoption name Hash value many", [], True),
        ("setoption name Hash value", [], True),
        ("setoption name Hash value 1_0", [], True),
        ("setoption name Hash", [], True),
        ("setoption name clear   hash", [("Clear Hash", "")], False),
        ("setoption name Style value WILD", [("Style", "wild")], False),
        ("setoption name Style value loud", [], True),
        ("setoption name Note value two words", [("Note", "two words")], False),
        ("setoption name Note value <empty>", [("Note", "")], False),
        ("setoption name Note value bad", [], True),
        ("setoption name Nothing value 1", [], True),
        ("setoption name", [], True),
        ("setoption", [], True),
        ("setoption value 3", [], True),
        ("setoption name MultiPV value 0", [], True),
        ("setoption name UCI_ShowWDL value perhaps", [], True),
        ("setoption name BookFile value \x00", [], False),
        ("setoption name Ponder value true", [], False),
        ("setoption name UCI_EngineAbout value me", [], False),
    ],
)
def test_setoption(
    session: Session, thinker: SlowThinker, line: str, configured: list, said: bool
) -> None:
    written = session.ask(line)
    assert thinker.configured == configured
    assert bool(written) == said
    assert all(text.startswith("info string") and len(text) < 400 for text in written)


@pytest.mark.parametrize("name", ["BookFile", "SyzygyPath", "GaviotaTbPath"])
def test_missing_books_and_tables_are_named(session: Session, name: str) -> None:
    written = session.ask(
        f"setoption name {name} value /no/such place", "setoption name OwnBook value true"
    )
    assert any("/no/such place" in line for line in written)
    assert session.ask("go depth 1")[-1].startswith("bestmove")


def test_more_threads_than_cores_cause_a_remark() -> None:
    setting = Setting("Threads", "spin", "1", 1, 4096)
    assert not list(advice(setting, "1"))
    (remark,) = advice(setting, "4096")
    assert "4096 threads" in remark
    assert not list(advice(Setting("Hash", "spin", "1", 1, 4096), "4096"))


def test_options_for_a_player_that_does_not_think() -> None:
    with Session(BotPlayer("random")) as session:
        session.send("uci")
        offered = " ".join(session.all("option"))
        assert "UCI_Chess960" in offered and "MultiPV" not in offered and "Hash" not in offered


def test_a_player_that_is_still_loading_delays_only_uci() -> None:
    may_load = threading.Event()
    thinker = SlowThinker()

    def load() -> SlowThinker:
        assert may_load.wait(60)
        return thinker

    with Session(load, load=False) as session:
        session.send("isready")
        assert session.lines == ["readyok"]
        session.send("uci", "isready")
        assert session.lines == ["readyok"]
        session.send("setoption name Hash value 8", "setoption name Nothing", "go depth 1")
        may_load.set()
        session.wait("bestmove")
        assert thinker.configured == [("Hash", "8")]
        assert session.all("info string error")
        answer = session.lines[1 : session.lines.index("uciok")]
        assert any("option name Hash " in line for line in answer)
        assert any("UCI_Chess960" in line for line in answer)
        assert session.lines.index("readyok", 1) == len(answer) + 2


# Everything else


@pytest.mark.parametrize(
    "garbage",
    [
        "hello",
        "\x00",
        "\ufffd" * 10,
        "go" + "o" * 1_000_000,
        "bestmove e2e4",
        "Go depth 1",
        "=" * 99,
    ],
)
def test_garbage_is_ignored(session: Session, garbage: str) -> None:
    written = session.ask(garbage, "isready")
    assert written[0].startswith("info string unknown command") and written[1:] == ["readyok"]
    assert written[0].isascii() and len(written[0]) < 200


def test_empty_lines_and_accepted_words(session: Session) -> None:
    assert session.ask("", "   ", "\t", "debug on", "register later", "debug") == []


def test_invalid_arguments_of_go_are_reported(session: Session) -> None:
    written = session.ask("go depth x nodes wtime 100 frobnicate movetime 1")
    assert sum(line.startswith("info string go:") for line in written) == 3
    assert len(session.best_moves) == 1


def test_a_line_of_a_million_words(session: Session) -> None:
    session.ask("go depth 1 " + "x " * 500_000, "go depth 1 searchmoves " + "e2e4 " * 300_000)
    assert len(session.best_moves) == 2 and session.best_moves[1] == "e2e4"
    assert len(session.all("info string go:")) == 6


def test_perft(session: Session) -> None:
    written = session.ask("go perft 3")
    assert "Nodes searched: 8902" in written and "e2e4: 600" in written
    assert "Nodes searched: 1" in session.ask("go perft 0")
    assert "Nodes searched: 4865609" in session.ask("go perft 5")
    session.ask("go perft 60", "isready", "stop")
    assert session.lines[-1] == "info string perft stopped"
    assert not session.best_moves


def test_drawing(session: Session) -> None:
    written = session.ask("position startpos moves e2e4", "d")
    fens = [line for line in written if line.startswith("Fen: ")]
    assert fens == ["Fen: rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"]


class Broken(SlowThinker):
    """Returns a given answer, or raises it."""

    def __init__(self, answer: object) -> None:
        super().__init__()
        self.answer = answer

    def think(self, *args, **kwargs) -> Decision:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[return-value]


@pytest.mark.parametrize(
    "answer", [RuntimeError("no\nnetwork"), Decision("e2e5"), Decision(""), None, MemoryError()]
)
def test_a_player_that_fails_still_yields_a_move(answer: object) -> None:
    with Session(Broken(answer)) as session:
        written = session.ask("go depth 1", "go depth 1")
        assert len(session.best_moves) == 2
        assert all(Game().is_legal(move) for move in session.best_moves)
        assert any(line.startswith("info string error: slow failed") for line in written)


def test_ponder_move_is_told_if_legal(session: Session) -> None:
    session.ask("go depth 1")
    assert session.all("bestmove") == ["bestmove a2a3 ponder a7a5"]
    with Session(Broken(Decision("a2a3", line=("a2a3", "a2a3")))) as broken:
        broken.ask("go depth 1")
        assert broken.all("bestmove") == ["bestmove a2a3"]


class Claimer(BotPlayer):
    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        return Decision(game.legal_moves()[0], 0.0, claims_draw=True, details={"depth": 4})


def test_a_draw_claim_is_reported() -> None:
    with Session(Claimer("random")) as session:
        written = session.ask("go")
        assert written[0].startswith("info depth 4 score cp 0 ")
        assert "info string the player would claim a draw" in written
        assert len(session.best_moves) == 1


# Boards of other sizes


def test_uci_variant_chooses_the_board() -> None:
    with Session(BotPlayer("greedy")) as talk:
        talk.send("uci")
        offered = talk.wait("option name UCI_Variant")
        assert offered.endswith("default chess var chess var 4x4 var 4x5 var gardner var losalamos")
        talk.send("setoption name UCI_Variant value gardner", "position startpos moves a2a3")
        best = talk.ask("go movetime 5")[-1].split()[1]
        game = Game(board="gardner")
        game.push("a2a3")
        assert best in game.legal_moves()


def test_a_chosen_board_is_offered_alone() -> None:
    with Session(BotPlayer("greedy"), board="gardner") as talk:
        talk.send("uci")
        offered = talk.wait("option name UCI_Variant")
        assert offered == "option name UCI_Variant type combo default gardner var gardner"
        assert talk.ask("go movetime 5")[-1].split()[1] in Game(board="gardner").legal_moves()
        talk.ask("position startpos moves a2a3")
        assert talk.ask("d")[-2].startswith("Fen: rnbqk/ppppp/P4/1PPPP/RNBQK b")


class LosAlamosThinker(SlowThinker):
    """Plays on one small board only, as a network does."""

    capabilities = Capabilities(boards=("losalamos",))


def test_a_player_of_one_board_offers_it_alone() -> None:
    thinker = LosAlamosThinker()
    with Session(thinker) as talk:
        talk.send("uci")
        offered = talk.wait("option name UCI_Variant")
        assert offered == "option name UCI_Variant type combo default losalamos var losalamos"
        talk.ask("position startpos moves a2a3", "go depth 2")
        assert thinker.asked[-1][0].startswith("rnqknr/pppppp/6/P5")
        talk.send("setoption name UCI_Variant value gardner")
        assert "not one of losalamos" in talk.wait("info string error")
