"""The player that searches with a network: limits, stopping, telling, words to players."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rookery import Game
from rookery._core import MoveError
from rookery.nets import make_network
from rookery.nets.evaluator import FakeEvaluator, TorchEvaluator
from rookery.nets.model_file import describe, save_model
from rookery.nets.native import network_evaluator
from rookery.players.base import Decision, Limits, Player
from rookery.players.mcts import MctsPlayer, MctsSettings, centipawns_of
from rookery.players.registry import make_player
from rookery.players.spec import SpecError
from rookery.players.thinking import Thinker, Thought

torch.set_num_threads(1)
RNG = np.random.default_rng(1)
MATE = "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1"


def squares() -> Any:
    return make_network(
        "squares", "tactical70", "az4672", {"width": 16, "key_width": 8},
        torch.Generator().manual_seed(1),
    )  # fmt: skip


def player(**settings: Any) -> MctsPlayer:
    return MctsPlayer(network_evaluator(squares()), MctsSettings(**settings))


def test_it_is_a_player_and_a_thinker() -> None:
    assert isinstance(player(), Player)
    assert isinstance(player(), Thinker)


@pytest.mark.parametrize("native", [True, False])
def test_simulations_are_kept_and_mates_found(native: bool) -> None:
    evaluator = network_evaluator(squares()) if native else TorchEvaluator(squares())
    one = MctsPlayer(evaluator, MctsSettings(simulations=50))
    decision = one.choose(Game(), RNG)
    assert decision.move in Game().legal_moves()
    assert decision.line[0] == decision.move
    visits = decision.details["visits"]
    assert isinstance(visits, dict) and sum(visits.values()) <= 50
    again = one.choose(Game(), RNG, Limits(simulations=10))
    assert again.details["simulations"] == 10
    mate = one.choose(Game(MATE), RNG)
    assert (mate.move, mate.value, mate.line) == ("d1d8", 1.0, ("d1d8",))


def test_moves_are_the_same_every_time_without_temperature_and_vary_with_it() -> None:
    sure, curious = player(simulations=40), player(simulations=40, temperature=1.0)

    def moves(who: MctsPlayer) -> set[str]:
        found = set()
        for _ in range(12):
            who.new_game()
            found.add(who.choose(Game(), RNG).move)
        return found

    assert len(moves(sure)) == 1
    assert len(moves(curious)) > 1
    assert curious.choose(Game(MATE), RNG).move == "d1d8"  # a proof is not gambled with


def test_time_limits_end_a_search() -> None:
    one = player()
    quick = one.choose(Game(), RNG, Limits(movetime=0.02))
    assert quick.details["simulations"] >= 1  # type: ignore[operator]
    clock = Limits(white_time=0.5, white_increment=0.0, black_time=100.0)
    assert one.choose(Game(), RNG, clock).move in Game().legal_moves()
    assert one._budget(Game(), clock, False)[1] == pytest.approx(0.5 / 30)
    assert one.choose(Game(), RNG, Limits(movetime=0.0)).move in Game().legal_moves()
    assert one.choose(Game(), RNG, Limits(simulations=0)).move in Game().legal_moves()


@pytest.mark.parametrize("native", [True, False])
def test_a_dead_draw_does_not_hold_up_the_clock(native: bool) -> None:
    """Soon every simulation ends in a known draw, and the network is not asked any more."""
    evaluator = network_evaluator(squares()) if native else TorchEvaluator(squares())
    blocked = Game("8/8/4k3/8/p1p1p1p1/P1P1P1P1/4K3/8 w - - 97 100")
    one = MctsPlayer(evaluator, MctsSettings())
    decisions: list[Decision] = []

    def search(limits: Limits, endless: bool) -> threading.Thread:
        def work() -> None:
            decisions.append(one.think(blocked, limits, pondering=endless))

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        return thread

    timed = search(Limits(movetime=0.05), False)
    timed.join(20.0)
    assert not timed.is_alive()
    stopped = search(Limits(), True)
    stopped.join(0.05)
    assert stopped.is_alive()
    one.stop()
    stopped.join(20.0)
    assert not stopped.is_alive()
    assert [abs(decision.value or 0.0) < 0.5 for decision in decisions] == [True, True]


def test_its_own_simulations_hold_under_the_clock_of_a_match() -> None:
    clock = Limits(white_time=600.0, black_time=600.0)
    for limits in (Limits(movetime=60.0), clock, Limits(simulations=5000), Limits(nodes=5000)):
        decision = player(simulations=30).choose(Game(), RNG, limits)
        assert decision.details["simulations"] == 30, limits
    # and its own time under a match of simulations
    decision = player(movetime=0.05).choose(Game(), RNG, Limits(simulations=10**8))
    assert 0 < int(str(decision.details["simulations"])) < 10**8


def test_few_moves_to_the_time_control_get_more_time_each() -> None:
    one = player()
    left = Limits(white_time=10.0, black_time=10.0)
    soon = Limits(white_time=10.0, black_time=10.0, moves_to_go=2)
    assert one._budget(Game(), left, False) == (None, pytest.approx(10 / 30))
    assert one._budget(Game(), soon, False) == (None, pytest.approx(5.0))


def test_an_endless_search_is_stopped_from_another_thread() -> None:
    for evaluator in (network_evaluator(squares()), FakeEvaluator()):
        one = MctsPlayer(evaluator, MctsSettings(megabytes=4))
        seen: list[Thought] = []
        decisions: list[Any] = []

        def think(one: MctsPlayer = one, seen: Any = seen, decisions: Any = decisions) -> None:
            decisions.append(one.think(Game(), Limits(), seen.append, lines=3, pondering=True))

        thread = threading.Thread(target=think)
        thread.start()
        while not seen:  # the first report comes after half a second
            thread.join(0.05)
        one.stop()
        thread.join(20)
        assert not thread.is_alive()
        [decision] = decisions
        assert decision.move in Game().legal_moves()
        last = seen[-1]
        assert len(last.lines) == 3 and last.nodes > 0
        assert len(last.notes) == 20
        assert last.lines[0].moves[0] == decision.move
        assert sum(note.prior or 0 for note in last.notes) == pytest.approx(1.0, abs=1e-4)


def test_ponderhit_starts_the_clock() -> None:
    one = player(megabytes=4)
    found: list[Any] = []
    limits = Limits(simulations=5)
    thread = threading.Thread(
        target=lambda: found.append(one.think(Game(), limits, pondering=True))
    )
    thread.start()
    thread.join(0.3)
    assert thread.is_alive()  # far more than five simulations by now, but the limit waits
    one.ponderhit()
    thread.join(20)
    assert found and found[0].details["simulations"] >= 5


def test_thoughts_tell_mates_and_only_the_moves_asked_for() -> None:
    one = player()
    seen: list[Thought] = []
    one.think(Game(MATE), Limits(simulations=100), seen.append)
    assert seen[-1].lines[0].mate == 1 and seen[-1].lines[0].value == 1.0
    decision = one.think(Game(MATE), Limits(simulations=30), search_moves=["a1a2", "a1b1"])
    assert decision.move in ("a1a2", "a1b1")
    with pytest.raises(MoveError, match="no legal move"):
        one.think(Game("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), Limits(simulations=3))


def test_settings_change_between_searches() -> None:
    one = player()
    for name, value in (("Simulations", "7"), ("Hash", "2"), ("temperature", "0.5")):
        one.configure(name, value)
    assert one.search_settings == MctsSettings(simulations=7, megabytes=2, temperature=0.5)
    assert one.choose(Game(), RNG).details["simulations"] == 7
    with pytest.raises(ValueError, match="did you mean 'Hash'"):
        one.configure("Hesh", "3")
    with pytest.raises(ValueError, match="Hash = '-3'"):
        one.configure("Hash", "-3")


def test_words_become_searching_players(tmp_path: Path) -> None:
    path = tmp_path / "net.safetensors"
    save_model(path, squares())
    made = make_player(f"{path},simulations=20,temperature=0.2,c_init=2")
    assert isinstance(made, MctsPlayer) and made.native is not None
    assert made.search_settings.c_init == 2.0
    assert made.choose(Game(), RNG).move in Game().legal_moves()
    assert not isinstance(make_player(str(path)), MctsPlayer)  # the policy alone
    for options, text in (
        ("simulations=-1", "simulations='-1'"),
        ("simulations=5,movetme=1", "did you mean 'movetime'"),
        ("simulations=5,temperature=hot", "temperature='hot'"),
    ):
        with pytest.raises(SpecError, match=text):
            make_player(f"{path},{options}")
    unbounded = make_network("mlp", "vector66", "az4672", {"hidden": [4]})
    save_model(tmp_path / "mlp.safetensors", unbounded)
    with pytest.raises(SpecError, match="without bounds"):
        make_player(f"{tmp_path}/mlp.safetensors,simulations=5")


def test_values_as_centipawns() -> None:
    assert centipawns_of(0.0) == 0
    assert centipawns_of(0.5) == -centipawns_of(-0.5) > 50
    assert centipawns_of(1.0) > 5000


MATES_IN_TWO = [  # a move and its mirror image for the other colour
    ("7k/8/5K2/8/8/8/8/6R1 w - - 0 1", {"f6f7"}),
    ("6r1/8/8/8/8/5k2/8/7K b - - 0 1", {"f3f2"}),
]


@pytest.mark.parametrize("name", ["alphazero", "pepper"])
def test_the_shipped_player_searches_and_sees_mates(name: str) -> None:
    shipped = make_player(name)
    assert isinstance(shipped, MctsPlayer)
    for fen, first_moves in MATES_IN_TWO:
        shipped.new_game()
        decision = shipped.choose(Game(fen), RNG, Limits(simulations=800))
        assert decision.value is not None and decision.value > 0.99, fen
        assert decision.move in first_moves, fen


@pytest.mark.parametrize(
    ("algorithm", "searches"), [("alphazero", True), ("supervised", True), ("ppo", False)]
)
def test_the_algorithm_says_whether_a_network_searches(
    algorithm: str, searches: bool, tmp_path: Path
) -> None:
    path = tmp_path / "model.safetensors"
    network = squares()
    save_model(path, network, describe(network, {"algorithm": algorithm}))
    assert isinstance(make_player(str(path)), MctsPlayer) is searches


def test_networks_of_alphazero_search_unless_told_not_to() -> None:
    assert not isinstance(make_player("alphazero,simulations=0"), MctsPlayer)
    assert isinstance(make_player("alphazero,simulations=5"), MctsPlayer)
    assert isinstance(make_player("pepper"), MctsPlayer)
    policy = make_player("pepper,simulations=0")
    assert not isinstance(policy, MctsPlayer)
    assert policy.choose(Game(), RNG).move in Game().legal_moves()
    assert not isinstance(make_player("ppo"), MctsPlayer)


def test_a_search_says_why_it_ended_and_a_temperature_gets_all_simulations() -> None:
    sure, curious = player(simulations=300), player(simulations=300, temperature=1.0)
    won = Game("6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1")
    assert sure.choose(won, RNG).details["ended"] == "proven"
    one_good = Game("k7/8/8/8/8/8/7q/K6R w - - 0 1")  # the queen can be taken
    decided = sure.choose(one_good, RNG).details
    drawn = curious.choose(one_good, RNG).details
    assert drawn["ended"] == "simulations" and drawn["simulations"] == 300
    assert sum(drawn["visits"].values()) >= 300  # type: ignore[attr-defined]
    if decided["ended"] == "decided":
        assert decided["simulations"] < 300  # type: ignore[operator]
    else:
        assert decided["simulations"] == 300
    assert player(movetime=0.01).choose(Game(), RNG).details["ended"] == "time"
