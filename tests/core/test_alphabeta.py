"""The alpha-beta player: limits, settings, stopping, and the signature of the search."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import chess
import numpy as np
import pytest

from rookery._core import (
    Engine,
    Game,
    MoveError,
    NnueNetwork,
    bench,
    mate_moves,
    score_of_value,
    value_of_score,
)
from rookery.bench import alphabeta as speed
from rookery.players.alphabeta import (
    AlphaBetaPlayer,
    thought_of,
    win_draw_loss,
)
from rookery.players.base import Limits, Player
from rookery.players.levels import level_parameters
from rookery.players.registry import make_player
from rookery.players.spec import SpecError
from rookery.players.thinking import Thinker, Thought

SIGNATURE = 4091835
"""Nodes of `bench()`. A change of the search changes it: put the new number here, in
the same commit."""


@pytest.fixture
def player() -> Iterator[AlphaBetaPlayer]:
    made = AlphaBetaPlayer(NnueNetwork.material(), rated=True)
    yield made
    made.close()


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_the_signature_of_the_search() -> None:
    nodes, _ = bench()
    assert nodes == SIGNATURE


MATES_IN_TWO = (
    "8/1p3Qb1/p5pk/P1p1p1p1/1P2P1P1/2P1N2n/5P1P/4qB1K w - - 0 1",
    "3rrk2/2p2pR1/p4n2/1p1PpP2/2p2q1P/3P1BQ1/PPP5/6RK w - - 0 1",
    "5k2/p3Rr2/1p4pp/q4p2/1nbQ1P2/6P1/5N1P/3R2K1 w - - 0 1",
    "r4rk1/4bp2/1Bppq1p1/4p1n1/2P1Pn2/3P2N1/P2Q1PBK/1R5R b - - 0 1",
)


def mates_at_depth(
    depth: int, selective: bool, threads: int = 1, extend_checks: bool = True
) -> list[int | None]:
    """Moves to mate that searches of so many plies announce."""
    engine = Engine(NnueNetwork.material(), 1, 4)
    engine.set_selective(selective, extend_checks)
    engine.set_threads(threads)
    found = []
    for fen in MATES_IN_TWO:
        engine.new_game()
        engine.prepare()
        found.append(mate_moves(engine.search(Game(fen), depth=depth).score))
    return found


def test_a_full_search_sees_every_mate_within_its_depth() -> None:
    assert mates_at_depth(3, selective=False) == [2, 2, 2, 2]
    assert mates_at_depth(3, selective=False, threads=2) == [2, 2, 2, 2]
    assert mates_at_depth(3, selective=False, extend_checks=False) == [2, 2, 2, 2]
    assert mates_at_depth(3, selective=True) != [2, 2, 2, 2]  # pruned or reduced


def test_only_extended_checks_see_a_mate_beyond_the_depth() -> None:
    assert mates_at_depth(2, selective=False) == [2, 2, 2, 2]
    for threads in (1, 2):  # the second worker is made after the setting
        found = mates_at_depth(2, selective=False, threads=threads, extend_checks=False)
        assert found == [None] * 4


def test_players_search_fully_on_request() -> None:
    for name in ("rookery,network=material", "simplified"):
        for search, depth in (("full", 2), ("full", 3), ("fixed", 3)):
            player = make_player(f"{name},depth={depth},search={search}")
            assert player.choose(Game(MATES_IN_TWO[0]), rng()).move == "e3f5"
            player.close()
        player = make_player(f"{name},depth=2,search=fixed")
        assert player.choose(Game(MATES_IN_TWO[0]), rng()).value < 0.9  # no mate in sight
        player.close()
    for search in ("full", "fixed"):
        with pytest.raises(SpecError, match=f"either search={search} or probabilities"):
            make_player(f"rookery,network=material,search={search},probabilities=static")


def test_it_is_a_thinker(player: AlphaBetaPlayer) -> None:
    assert isinstance(player, Player) and isinstance(player, Thinker)


# Limits


def test_nodes_are_never_exceeded(player: AlphaBetaPlayer) -> None:
    for nodes in (1, 2, 50, 1234):
        player.new_game()
        decision = player.choose(Game(), rng(), Limits(nodes=nodes))
        assert decision.details["nodes"] == nodes
        assert Game().is_legal(decision.move) and decision.line[0] == decision.move


def test_own_limits_go_before_those_of_the_match() -> None:
    player = make_player("rookery,network=material,nodes=100")
    decision = player.choose(Game(), rng(), Limits(nodes=5000, depth=9))
    assert decision.details["nodes"] == 100
    deep = make_player("rookery,network=material,depth=3").choose(Game(), rng())
    assert deep.details["depth"] == 3


def test_it_plays_the_same_again() -> None:
    def moves() -> list[tuple[str, object]]:
        player = make_player("rookery,network=material,nodes=3000")
        game = Game()
        for _ in range(12):
            decision = player.choose(game, rng())
            game.push(decision.move)
        return [(decision.move, decision.details["centipawns"]), *((m, 0) for m in game.moves())]

    assert moves() == moves()


def test_a_clock_is_obeyed(player: AlphaBetaPlayer) -> None:
    decision = player.choose(Game(), rng(), Limits(white_time=0.5, black_time=0.01))
    assert isinstance(decision.details["nodes"], int)
    # Nearly no time left is still a move.
    for left in (0.0, 0.001, 0.02):
        fast = player.choose(Game(), rng(), Limits(white_time=left, black_time=left))
        assert Game().is_legal(fast.move)


def test_no_legal_move_is_an_error_and_one_is_no_question(player: AlphaBetaPlayer) -> None:
    with pytest.raises(MoveError, match="no legal move"):
        player.choose(Game("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), rng())
    single = Game("7k/8/8/8/8/8/1r6/K7 w - - 0 1")
    assert player.choose(single, rng(), Limits(white_time=600, black_time=600)).move == "a1b2"
    assert player.choose(single, rng(), Limits(nodes=0)).move == "a1b2"


def test_mates_are_found_for_both_sides(player: AlphaBetaPlayer) -> None:
    for fen, move, mate in (
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "d1d8", 1),
        ("3r2k1/5ppp/8/8/8/8/5PPP/6K1 b - - 0 1", "d8d1", 1),
        ("2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - 0 1", "g3g6", 2),
    ):
        decision = player.choose(Game(fen), rng(), Limits(nodes=300_000))
        assert (decision.move, decision.details["mate"]) == (move, mate)
        assert decision.value == 1.0


def test_the_past_of_the_game_counts(player: AlphaBetaPlayer) -> None:
    """A queen up, but the only move left to try would repeat for the third time."""
    game = Game("7k/8/8/8/8/8/q7/7K b - - 0 1")
    for move in ("a2b2", "h1g1", "b2a2", "g1h1", "a2b2", "h1g1"):
        game.push(move)
    decision = player.think(game, Limits(depth=6), search_moves=["b2a2"])
    assert decision.details["centipawns"] == 0


def test_chess960(player: AlphaBetaPlayer) -> None:
    game = Game("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", True)
    for _ in range(10):
        game.push(player.choose(game, rng(), Limits(nodes=500)).move)


# Thinking aloud


def test_reports_and_lines(player: AlphaBetaPlayer) -> None:
    thoughts: list[Thought] = []
    decision = player.think(Game(), Limits(depth=6), thoughts.append, lines=3)
    assert [thought.depth for thought in thoughts] == [1, 2, 3, 4, 5, 6]
    last = thoughts[-1]
    assert len({line.moves[0] for line in last.lines}) == 3
    values = [line.value for line in last.lines]
    assert values == sorted(values, reverse=True)
    assert decision.move == last.lines[0].moves[0]
    for line in last.lines:
        board = chess.Board()
        for move in line.moves:
            board.push(chess.Move.from_uci(move))  # an illegal one would show in the next check
            assert board.is_valid()
        assert line.win_draw_loss is not None and sum(line.win_draw_loss) == 1000


def test_search_moves(player: AlphaBetaPlayer) -> None:
    decision = player.think(Game(), Limits(depth=4), search_moves=["a2a3", "h2h4"])
    assert decision.move in ("a2a3", "h2h4")
    with pytest.raises(MoveError, match="e2e5"):
        player.think(Game(), Limits(depth=4), search_moves=["e2e5"])


def test_stop_ends_an_endless_search(player: AlphaBetaPlayer) -> None:
    started = threading.Event()
    timer = threading.Thread(target=lambda: (started.wait(), player.stop()))
    timer.start()
    decision = player.think(Game(), Limits(), lambda thought: started.set())
    timer.join()
    assert Game().is_legal(decision.move)
    # What was stopped does not reach into the next search.
    assert player.think(Game(), Limits(depth=5)).details["depth"] == 5
    player.stop()
    assert player.choose(Game(), rng(), Limits(depth=5)).details["depth"] == 5


def test_pondering_waits_for_the_opponent(player: AlphaBetaPlayer) -> None:
    answered = threading.Event()

    def ponder() -> None:
        player.think(Game(), Limits(depth=1), pondering=True)
        answered.set()

    thread = threading.Thread(target=ponder)
    thread.start()
    assert not answered.wait(0.1)
    player.ponderhit()
    thread.join()
    assert answered.is_set()


def test_errors_of_a_report_come_back(player: AlphaBetaPlayer) -> None:
    def report(thought: Thought) -> None:
        raise RuntimeError("the listener left")

    with pytest.raises(RuntimeError, match="the listener left"):
        player.think(Game(), Limits(), report)
    assert player.think(Game(), Limits(depth=2)).details["depth"] == 2


def test_a_second_search_is_refused() -> None:
    engine = Engine(NnueNetwork.material())
    started = threading.Event()
    engine.prepare()
    thread = threading.Thread(
        target=lambda: engine.search(Game(), report=lambda result: started.set())
    )
    thread.start()
    started.wait()
    for forbidden in (lambda: engine.search(Game(), depth=1), lambda: engine.set_hash(1)):
        with pytest.raises(Exception, match="searching"):
            forbidden()
    engine.stop()
    thread.join()


def test_several_threads(player: AlphaBetaPlayer) -> None:
    player.configure("Threads", "3")
    decision = player.choose(Game(), rng(), Limits(nodes=30_000))
    nodes = decision.details["nodes"]
    assert isinstance(nodes, int) and nodes <= 30_000
    assert Game().is_legal(decision.move)


def test_control_c_ends_a_search() -> None:
    code = (
        "from rookery._core import *\n"
        "engine = Engine(NnueNetwork.material())\n"
        "engine.prepare()\n"
        "engine.search(Game(), report=lambda result: print(result.depth, flush=True))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()  # it is searching
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0 and "KeyboardInterrupt" in errors


# Settings and words


def test_settings(player: AlphaBetaPlayer) -> None:
    names = {setting.name for setting in player.settings}
    expected = {"Hash", "Threads", "Move Overhead", "UCI_LimitStrength", "UCI_Elo", "Clear Hash"}
    assert names == expected | {"Level"}
    player.configure("hash", "1")
    player.configure("Move Overhead", "100")
    player.configure("UCI_Elo", "1200")
    player.configure("UCI_LimitStrength", "true")
    weak = player.think(Game(), Limits(nodes=10**6))
    nodes = weak.details["nodes"]
    assert isinstance(nodes, int) and nodes < 1000
    player.configure("UCI_LimitStrength", "false")
    assert player.think(Game(), Limits(nodes=5000)).details["nodes"] == 5000
    player.configure("Clear Hash", "")


def test_the_level_and_the_elo_are_one_scale() -> None:
    def nodes(player: AlphaBetaPlayer) -> object:
        player.new_game()
        return player.think(Game(), Limits(nodes=30_000)).details["nodes"]

    player = AlphaBetaPlayer(NnueNetwork.material(), level=3, rated=True)
    assert {s.name: s.default for s in player.settings}["Level"] == "3"
    assert nodes(player) == level_parameters(3).nodes
    player.configure("Level", "5")
    assert nodes(player) == level_parameters(5).nodes
    player.configure("UCI_Elo", str(level_parameters(2).elo))
    assert nodes(player) == level_parameters(5).nodes  # not asked for yet
    player.configure("UCI_LimitStrength", "true")
    assert nodes(player) == level_parameters(2).nodes  # goes before the level
    player.configure("Level", "0")
    assert nodes(player) == level_parameters(2).nodes
    player.configure("UCI_LimitStrength", "false")
    assert nodes(player) == 30_000
    elo = level_parameters(4).elo
    weak = AlphaBetaPlayer(NnueNetwork.material(), elo=elo, rated=True)
    assert nodes(weak) == level_parameters(4).nodes
    defaults = {s.name: s.default for s in weak.settings}
    assert defaults["UCI_LimitStrength"] == "true"
    assert defaults["UCI_Elo"] == str(level_parameters(4).elo)


def test_no_more_hash_is_offered_than_there_is_memory() -> None:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    (setting,) = [s for s in AlphaBetaPlayer(NnueNetwork.material()).settings if s.name == "Hash"]
    assert setting.high is not None and 16 <= setting.high <= max(16, memory)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Level", "21"),
        ("Level", "-1"),
        ("Hash", "-16"),
        ("Hash", "0"),
        ("Hash", "9" * 30),
        ("Hash", "x"),
        ("Threads", "1000"),
        ("UCI_Elo", "100"),
        ("UCI_LimitStrength", "maybe"),
        ("Contempt", "1"),
    ],
)
def test_bad_settings_change_nothing(player: AlphaBetaPlayer, name: str, value: str) -> None:
    with pytest.raises(ValueError, match=name):
        player.configure(name, value)
    assert player.choose(Game(), rng(), Limits(depth=1)).move


def test_bad_options_are_named() -> None:
    for spec, reason in (
        ("rookery,network=material,deepth=3", "did you mean 'depth'"),
        ("rookery,network=material,nodes=-1", "whole number from 1"),
        ("rookery,network=material,threads=999", "999 threads"),
        ("rookery,network=missing.safetensors", "missing.safetensors"),
    ):
        with pytest.raises(ValueError, match=reason):
            make_player(spec)


def test_playing_needs_no_torch() -> None:
    code = (
        "import sys\n"
        "for name in ('torch', 'safetensors', 'pydantic', 'pyarrow'): sys.modules[name] = None\n"
        "import numpy as np\n"
        "from rookery import Game\n"
        "from rookery.players.registry import make_player\n"
        "print(make_player('rookery,network=material,depth=2')"
        ".choose(Game(), np.random.default_rng(0)).move)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert Game().is_legal(done.stdout.strip())


def test_the_shipped_network_plays() -> None:
    player = make_player("rookery,depth=1")
    assert Game().is_legal(player.choose(Game(), rng()).move)
    player.close()


# Values


def test_values_and_chances() -> None:
    assert value_of_score(100) == pytest.approx(2 / (1 + np.exp(-0.25)) - 1)
    assert value_of_score(31999) == 1.0 and value_of_score(-31998) == -1.0
    assert score_of_value(1.0) == 20_000 and score_of_value(-1.0) == -20_000
    assert all(score_of_value(value_of_score(score)) == score for score in range(-9000, 9000, 37))
    assert mate_moves(31999) == 1 and mate_moves(-31998) == -1 and mate_moves(500) is None
    assert win_draw_loss(0) == (250, 500, 250)
    assert win_draw_loss(31990) == (1000, 0, 0) and win_draw_loss(-31990) == (0, 0, 1000)
    for score in range(-3000, 3000, 37):
        win, draw, loss = win_draw_loss(score)
        assert win + draw + loss == 1000 and min(win, draw, loss) >= 0
        # The curves agree with the expected score that the network was trained for.
        assert (win + draw / 2) / 1000 == pytest.approx(1 / (1 + np.exp(-score / 400)), abs=0.035)


def test_thoughts_name_mates() -> None:
    engine = Engine(NnueNetwork.material())
    engine.prepare()
    result = engine.search(Game("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1"), depth=3)
    line = thought_of(result).lines[0]
    assert (line.mate, line.centipawns, line.value) == (1, None, 1.0)


def test_the_benchmark_has_its_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rookery.bench.measure.interleave.__defaults__", (1, 0.05))
    result = speed.run()
    assert result.value > 1000 and result.unit == "nodes/s"
    assert result.details["bench signature (nodes)"] == SIGNATURE
    assert len(result.comparisons) + len(result.missing) == 1
