"""Any order of commands and any bytes: every go gets exactly one legal bestmove, in order."""

from __future__ import annotations

import sys

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from support.paths import SUPPORT
from support.thinkers import SlowThinker
from support.uci_session import Session, require_shipped_engine
from uci_fuzz import Model, all_players, compare, session

DRIVER = str(SUPPORT / "uci_driver.py")
GAMES = ["", "e2e4", "e2e4 e7e5 g1f3", "f2f3 e7e5 g2g4 d8h4"]  # the last one is mate


class AnyOrder(RuleBasedStateMachine):
    """A client that sends commands in any order, and what it may rely on."""

    def __init__(self) -> None:
        super().__init__()
        self.thinker = SlowThinker(depth_seconds=0.0005)
        self.session = Session(self.thinker)
        self.model = Model()
        self.endless = False  # whether the last search can only be ended by a stop
        self.pondering = False
        self.ready = 0
        self.settings: list[tuple[str, str]] = []
        self.new_games = 0

    def send(self, line: str) -> None:
        self.session.send(line)
        self.model.sent(line.encode())

    @rule(moves=st.sampled_from(GAMES))
    def position(self, moves: str) -> None:
        self.send(f"position startpos moves {moves}")

    @rule(bad=st.sampled_from(["position startpos moves e2e5", "position fen x", "position"]))
    def bad_position(self, bad: str) -> None:
        self.send(bad)

    @rule(go=st.sampled_from(["go depth 2", "go nodes 300", "go movetime 1", "go wtime 40"]))
    def go(self, go: str) -> None:
        self.send(go)
        self.endless = self.pondering = False

    @rule(go=st.sampled_from(["go infinite", "go", "go infinite depth 1"]))
    def go_endless(self, go: str) -> None:
        self.send(go)
        # A game that is over, or a bare `go`, needs no stop if there is nothing to search.
        self.endless, self.pondering = "infinite" in go, False

    @rule(limit=st.sampled_from(["depth 1", "movetime 1", "wtime 9 btime 9"]))
    def go_ponder(self, limit: str) -> None:
        self.send(f"go ponder {limit}")
        self.endless = self.pondering = True

    @precondition(lambda self: self.pondering)
    @rule()
    def ponderhit(self) -> None:
        self.send("ponderhit")
        self.endless = self.pondering = False

    @rule()
    def stop(self) -> None:
        self.send("stop")
        self.endless = self.pondering = False
        if self.model.asked:
            self.session.wait("bestmove", len(self.model.asked))

    @rule()
    def stray_ponderhit(self) -> None:
        if not self.pondering:
            self.send("ponderhit")

    @rule(size=st.integers(1, 64))
    def setoption(self, size: int) -> None:
        self.send(f"setoption name Hash value {size}")
        self.settings.append(("Hash", str(size)))

    @rule()
    def ucinewgame(self) -> None:
        self.send("ucinewgame")
        self.new_games += 1

    @rule()
    def isready(self) -> None:
        self.send("isready")
        self.ready += 1
        self.session.wait("readyok", self.ready)

    @rule(garbage=st.text(min_size=1, max_size=20))
    def garbage(self, garbage: str) -> None:
        if garbage.split()[:1] != ["quit"]:
            self.send(garbage.replace("\n", " "))

    @invariant()
    def no_answer_too_many(self) -> None:
        answers = len(self.session.best_moves)
        assert answers <= len(self.model.asked) - self.endless

    def teardown(self) -> None:
        self.session.send("stop")
        assert self.session.engine.wait_idle(60)
        best_moves = self.session.best_moves
        assert self.session.close()
        assert list(compare(self.model, best_moves)) == []
        assert self.session.best_moves == best_moves
        assert self.thinker.configured == self.settings
        assert self.thinker.games == self.new_games


AnyOrder.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
test_any_order = AnyOrder.TestCase


@pytest.mark.parametrize(
    ("player", "lines"), [("greedy-safe", 10_000), ("quick", 10_000), ("rookery", 3000)]
)
def test_a_flood_of_lines(player: str, lines: int) -> None:
    command = [sys.executable, "-m", "rookery.cli", "uci", player]
    if player == "quick":
        command = [sys.executable, DRIVER, player]
    elif player == "rookery":
        require_shipped_engine()
    report = session(command, lines, seed=11)
    assert report.problems == []
    assert report.lines == lines and report.best_moves == report.searches > lines / 10


@pytest.mark.slow
def test_every_kind_of_player_takes_any_lines() -> None:
    players = all_players()
    assert len(players) > 15
    for player in players:
        report = session([sys.executable, "-m", "rookery.cli", "uci", player], 150, seed=5)
        assert report.problems == [], player
        assert report.best_moves == report.searches > 0, player
