"""Tree search: against a slow reference, on mates, with bad networks, within its memory."""

from __future__ import annotations

import json
import math
import resource
import zlib
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from rookery import Game
from rookery._core import EvaluationError, HashEvaluator, MctsSearch, MoveError
from rookery.nets.evaluator import FakeEvaluator
from support.paths import SUPPORT
from support.reference.mcts import Options, ReferenceSearch, halving
from support.scripts import words_of

MIDDLEGAME = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"
ENDGAME = "8/8/4k3/8/6p1/8/3K4/1B6 w - - 5 80"
NEARLY_FIFTY = "7k/8/8/3R4/8/8/8/K7 w - - 96 120"
MATES_IN_ONE = [
    ("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1", "d1d8"),
    ("k2r4/8/8/8/8/8/5PPP/6K1 b - - 0 1", "d8d1"),
    ("r1bqkbnr/pppp1ppp/2n5/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 0 1", "h5f7"),
]
MATES_IN_TWO = [
    ("7k/8/8/8/8/8/R7/1R5K w - - 0 1", True),
    ("1r5k/r7/8/8/8/8/8/7K b - - 0 1", False),
]


def search_with(
    search: MctsSearch, evaluator: Any, simulations: int, leaves: int = 1, **settings: Any
) -> None:
    search.begin(simulations, **settings)
    while not search.done:
        if search.gather(leaves):
            answer = evaluator.evaluate(
                search.observations, search.legal_actions, search.legal_offsets
            )
            search.apply(*answer)


def without_fen(tree: dict[str, Any]) -> dict[str, Any]:
    edges = []
    for edge in tree["edges"]:
        one = {key: edge[key] for key in ("move", "visits", "value", "status")}
        if "node" in edge:
            one["node"] = without_fen(edge["node"])
        edges.append(one)
    return {"visits": tree["visits"], "value": tree["value"], "edges": edges}


def assert_same_tree(ours: dict[str, Any], theirs: dict[str, Any], path: str = "") -> None:
    assert ours["visits"] == theirs["visits"], path
    assert ours["value"] == pytest.approx(theirs["value"], abs=1e-12), path
    assert [e["move"] for e in ours["edges"]] == [e["move"] for e in theirs["edges"]], path
    for one, other in zip(ours["edges"], theirs["edges"], strict=True):
        here = f"{path} {one['move']}"
        assert one["visits"] == other["visits"], here
        assert one["status"] == other["status"], here
        assert one["value"] == pytest.approx(other["value"], abs=1e-12), here
        assert ("node" in one) == ("node" in other), here
        if "node" in one:
            assert_same_tree(one["node"], other["node"], here)


class Pair:
    """The native search and the reference with the same network, on the same game."""

    def __init__(self, fen: str, moves: list[str], evaluator: Any, **options: Any) -> None:
        self.evaluator = evaluator
        self.fen = fen
        self.game = Game(fen)
        self.board = chess.Board(fen)
        for move in moves:
            self.game.push(move)
            self.board.push_uci(move)
        # An answer that is known already would not wait for the others of its batch.
        self.native = MctsSearch(evaluator.observation, cache_megabytes=0, **options)
        self.native.set_game(self.game)
        self.reference = ReferenceSearch(
            self.board, self._ask, Options(**options), self._move_order
        )

    def _core_game(self, board: chess.Board) -> Game:
        game = Game(self.fen)
        for move in board.move_stack:
            game.push(move.uci())
        return game

    def _move_order(self, board: chess.Board) -> list[str]:
        return list(self._core_game(board).legal_moves())

    def _ask(self, board: chess.Board) -> tuple[dict[str, float], float]:
        game = self._core_game(board)
        legal = game.legal_actions("az4672")
        dtype = np.uint8 if self.evaluator.observation == "tactical70" else np.float32
        observation = game.encode(self.evaluator.observation).astype(dtype)[np.newaxis]
        logits, values = self.evaluator.evaluate(observation, legal, np.array([0, len(legal)]))
        return dict(zip(game.legal_moves(), logits.tolist(), strict=True)), float(values[0])

    def compare(self, simulations: int, leaves: int = 1) -> None:
        search_with(self.native, self.evaluator, simulations, leaves)
        self.reference.run(simulations, leaves)
        assert_same_tree(without_fen(self.native.tree()), self.reference.as_dict())


LOTS_OF_HISTORY = ["d2d3", "e6e5", "d3d2", "e5e6", "d2d3", "e6e5"]


@pytest.mark.parametrize(
    ("fen", "moves", "options"),
    [
        (chess.STARTING_FEN, [], {}),
        (MIDDLEGAME, ["e1g1", "e8c8"], {}),
        (MIDDLEGAME, [], {"c_init": 2.0, "c_base": 20000, "c_factor": 1.0, "draw_visits": 1.0}),
        (ENDGAME, LOTS_OF_HISTORY, {}),
        (ENDGAME, LOTS_OF_HISTORY, {"twofold_draw": False}),
        (NEARLY_FIFTY, [], {"fpu_reduction": 0.0, "root_fpu_reduction": 0.5}),
        (MATES_IN_TWO[0][0], [], {}),
        (MATES_IN_TWO[1][0], [], {"proofs": False}),
        (MIDDLEGAME, [], {"gumbel_actions": 16}),
        (ENDGAME, LOTS_OF_HISTORY, {"gumbel_actions": 4, "c_scale": 0.1}),
    ],
)
def test_the_tree_is_the_reference_s_tree(
    fen: str, moves: list[str], options: dict[str, Any]
) -> None:
    # Sequential halving is defined for one leaf at a time.
    for leaves in (1,) if "gumbel_actions" in options else (1, 6):
        Pair(fen, moves, FakeEvaluator("planes22"), **options).compare(300, leaves)


def test_history_planes_are_those_of_the_line() -> None:
    Pair(chess.STARTING_FEN, ["e2e4", "e7e5", "g1f3"], FakeEvaluator("planes119")).compare(60)


def test_a_network_that_looks_the_same_everywhere_gives_ties_in_order() -> None:
    flat = FakeEvaluator(function=lambda _, legal: (np.zeros(len(legal)), 0.0))
    Pair(MIDDLEGAME, [], flat).compare(200)


def test_the_halving_schedule_spends_every_simulation() -> None:
    assert halving(4, 8) == [0, 0, 0, 0, 1, 1, 2, 2]
    assert halving(1, 3) == [0, 1, 2]
    assert all(len(halving(m, n)) == n for m in (2, 3, 16) for n in (1, 7, 50))


@pytest.mark.parametrize(("fen", "mate"), MATES_IN_ONE)
@pytest.mark.parametrize("gumbel", [0, 16])
def test_mate_in_one_is_found_and_proven(fen: str, mate: str, gumbel: int) -> None:
    search = MctsSearch("planes22", gumbel_actions=gumbel)
    search.set_game(Game(fen))
    search_with(search, FakeEvaluator(), 400)
    best = search.root_edges()[search.best_edge()]
    assert (best["move"], best["status"], best["mate_plies"]) == (mate, "won", 1)
    assert search.root_value == 1.0
    target = search.policy_target()
    assert target[search.best_edge()] == 1.0 and target.sum() == 1.0


@pytest.mark.parametrize(("fen", "white"), MATES_IN_TWO)
def test_mate_in_two_is_proven_for_both_colours(fen: str, white: bool) -> None:
    search = MctsSearch("")
    game = Game(fen)
    search.set_game(game)
    search.begin(20_000)
    assert search.run(HashEvaluator())
    assert search.simulations < 20_000  # a proof ends the search
    best = search.root_edges()[search.best_edge()]
    line = search.line(search.best_edge())
    assert best["status"] == "won" and best["mate_plies"] == len(line) >= 3
    for move in line:
        game.push(move)
    assert game.outcome() == ("checkmate", white)


def test_the_mated_side_knows_it_and_resists() -> None:
    search = MctsSearch("")
    search.set_game(Game("7k/R7/1R6/8/8/8/8/7K b - - 0 1"))
    search.begin(5000)
    search.run(HashEvaluator())
    assert search.root_value == -1.0
    assert {edge["status"] for edge in search.root_edges()} == {"lost"}


def test_files_of_mates_are_solved(data_dir: Path) -> None:
    for name, moves in (("mate_in_1.fen", 1), ("mate_in_2.fen", 2)):
        lines = (data_dir / "mates" / name).read_text().splitlines()
        fens = [line.split("#")[0].strip() for line in lines]
        fens = [" ".join(fen.split()[:6]) for fen in fens if fen][:8]
        proven = 0
        for fen in fens:
            # A network that knows nothing must not lead the search astray: look at everything.
            search = MctsSearch("", c_init=100.0, policy_temperature=100.0)
            search.set_game(Game(fen))
            search.begin(100_000)
            search.run(HashEvaluator())
            best = search.root_edges()[search.best_edge()]
            # A proof need not be the shortest one, but a mate on the board is always seen.
            proven += best["status"] == "won" and (moves > 1 or best["mate_plies"] == 1)
        assert proven == len(fens), name


def test_a_move_keeps_its_part_of_the_tree() -> None:
    search = MctsSearch("planes22", cache_megabytes=0)
    game = Game(MIDDLEGAME)
    search.set_game(game)
    search_with(search, FakeEvaluator(), 500)
    best = search.root_edges()[search.best_edge()]
    [kept] = [e["node"] for e in search.tree()["edges"] if e["move"] == best["move"]]
    game.push(best["move"])
    search.set_game(game)
    assert without_fen(search.tree()) == without_fen(kept)
    before = search.nodes
    search_with(search, FakeEvaluator(), 100)
    assert search.nodes <= before + 100
    assert search.tree()["visits"] == kept["visits"] + 100
    search.set_game(Game())
    search.begin(0)
    assert not search.done  # nothing is known about another game


def test_a_repetition_that_began_before_the_new_root_is_no_draw_any_more() -> None:
    """After Kd3 Ke5 Kd2 Ke6 the position stands again; from a root inside that cycle it is new."""
    game = Game(ENDGAME)
    search = MctsSearch("", cache_megabytes=0)
    search.set_game(game)
    search.begin(20_000)
    search.run(HashEvaluator())

    def repeats(tree: dict[str, Any], depth: int = 1) -> list[int]:
        found = [depth for e in tree["edges"] if e["status"] == "repeat"]
        for edge in tree["edges"]:
            if "node" in edge:
                found += repeats(edge["node"], depth + 1)
        return found

    assert repeats(search.tree())
    best = search.root_edges()[search.best_edge()]["move"]
    game.push(best)
    search.set_game(game)
    assert all(depth >= 4 for depth in repeats(search.tree()))


def test_noise_changes_the_root_and_follows_the_seed() -> None:
    def visits(seed: int, noise: bool) -> list[int]:
        search = MctsSearch("planes22", noise_share=0.5)
        search.set_game(Game(MIDDLEGAME))
        search_with(search, FakeEvaluator(), 200, noise=noise, seed=seed)
        edges = search.root_edges()
        assert sum(e["root_prior"] for e in edges) == pytest.approx(1.0)
        return [edge["visits"] for edge in edges]

    assert visits(1, True) == visits(1, True) != visits(2, True)
    assert visits(1, False) == visits(2, False)


def test_gumbel_noise_considers_different_moves() -> None:
    def considered(seed: int) -> set[str]:
        search = MctsSearch("planes22", gumbel_actions=4)
        search.set_game(Game(MIDDLEGAME))
        search_with(search, FakeEvaluator(), 16, gumbel_scale=1.0, seed=seed)
        edges = search.root_edges()
        assert sum(e["visits"] for e in edges) == 16
        assert search.policy_target().sum() == pytest.approx(1.0)
        return {e["move"] for e in edges if e["visits"]}

    assert all(len(considered(seed)) == 4 for seed in range(5))
    assert len(set().union(*(considered(seed) for seed in range(5)))) > 4


def test_gumbel_targets_follow_the_completed_values() -> None:
    pair = Pair(MIDDLEGAME, [], FakeEvaluator(), gumbel_actions=8)
    pair.compare(64)
    scores = np.array(pair.reference.scores(with_gumbel=False))
    expected = np.exp(scores - scores.max())
    np.testing.assert_allclose(pair.native.policy_target(), expected / expected.sum(), rtol=1e-5)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("where", ["logits", "value"])
def test_a_network_that_answers_nonsense_is_refused(bad: float, where: str) -> None:
    search = MctsSearch("planes22")
    search.set_game(Game())
    search.begin(10)
    count = search.gather(1)
    logits = np.zeros(len(search.legal_actions), np.float32)
    values = np.zeros(count, np.float32)
    (logits if where == "logits" else values)[0] = bad
    with pytest.raises(EvaluationError, match="NaN or an infinity"):
        search.apply(logits, values)
    search_with(search, FakeEvaluator(), 10)  # it can be used again
    assert search.simulations == 10


def test_odd_roots() -> None:
    search = MctsSearch("planes22")
    with pytest.raises(MoveError, match="over"):
        search.set_game(Game("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"))  # stalemate: no legal move
    search.set_game(Game())
    with pytest.raises(ValueError, match="evaluated yet"):
        search.root_edges()


def test_one_legal_move_and_no_simulations() -> None:
    search = MctsSearch("planes22")
    game = Game("k7/8/1K6/8/8/8/8/7R b - - 0 1")
    assert game.legal_count() == 1
    search.set_game(game)
    search_with(search, FakeEvaluator(), 50)
    assert search.root_edges()[search.best_edge()]["move"] == "a8b8"
    search.set_game(Game())
    search_with(search, FakeEvaluator(), 0)
    edges = search.root_edges()
    assert search.best_edge() == int(np.argmax([edge["prior"] for edge in edges]))
    assert search.policy_target().sum() == pytest.approx(1.0)


def test_only_the_moves_asked_for_are_searched() -> None:
    for gumbel in (0, 16):
        search = MctsSearch("planes22", gumbel_actions=gumbel)
        search.set_game(Game())
        search_with(search, FakeEvaluator(), 50, only=["a2a3", "h2h4"])
        visited = {e["move"] for e in search.root_edges() if e["visits"]}
        assert visited <= {"a2a3", "h2h4"} and visited
        assert search.root_edges()[search.best_edge()]["move"] in visited
    with pytest.raises(MoveError, match="e2e5"):
        search.begin(5, only=["e2e5"])


def test_a_full_memory_still_answers() -> None:
    search = MctsSearch("", megabytes=1, cache_megabytes=0)
    search.set_game(Game(MIDDLEGAME))
    search.begin(30_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert search.run(HashEvaluator())
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert search.full
    assert search.simulations == 30_000
    assert sum(edge["visits"] for edge in search.root_edges()) == 30_000
    assert search.nodes < 1500
    assert grown < 16 * 1024  # KiB


def test_the_cache_tells_clocks_and_repetitions_apart() -> None:
    """The same placement with other counters is another question."""

    def asked(fen: str, moves: list[str]) -> float:
        game = Game(fen)
        for move in moves:
            game.push(move)
        search.set_game(game)
        hits = search.cache_hits
        search_with(search, FakeEvaluator("planes22"), 0)
        return search.cache_hits - hits

    search = MctsSearch("planes22")
    plain = "8/8/4k3/8/6p1/8/3K4/1B6 w - - 5 80"
    assert asked(plain, []) == 0
    assert asked(plain.replace("5 80", "6 80"), []) == 0  # another clock
    assert asked(plain.replace("5 80", "5 81"), []) == 1  # planes22 does not see the move number
    assert asked(plain.replace("5 80", "1 78"), ["d2d3", "e6e5", "d3d2", "e5e6"]) == 0


def test_options_are_checked() -> None:
    for options, text in (
        ({"c_puct": 1}, "no option 'c_puct'"),
        ({"c_base": 0}, "c_base"),
        ({"noise_share": 2}, "noise_share"),
        ({"megabytes": 0}, "megabytes"),
    ):
        with pytest.raises(ValueError, match=text):
            MctsSearch("planes22", **options)
    with pytest.raises(ValueError, match="planes23"):
        MctsSearch("planes23")
    search = MctsSearch("planes22")
    search.set_game(Game())
    with pytest.raises(ValueError, match="simulations"):
        search.begin(-1)
    search.begin(1)
    search.gather(1)
    with pytest.raises(ValueError, match="3 logits"):
        search.apply(np.zeros(3, np.float32), np.zeros(1, np.float32))


def test_golden_trees() -> None:
    """Trees of the hash evaluator must not change unless the search is meant to change."""
    path = SUPPORT / "golden" / "mcts_trees.json"
    golden = json.loads(path.read_text())
    for case in golden:
        search = MctsSearch("", **case["options"])
        search.set_game(Game(case["fen"]))
        search.begin(case["simulations"], **case["settings"])
        search.run(HashEvaluator(), case["leaves"])
        assert tree_digest(search) == case["digest"], case["fen"]
        edges = search.root_edges()
        assert {e["move"]: e["visits"] for e in edges if e["visits"]} == case["visits"]


def test_gathered_leaves_may_be_abandoned() -> None:
    search = MctsSearch("planes22")
    search.set_game(Game())
    search.begin(50)
    search.run(HashEvaluator())
    search.begin(1000)
    for _ in range(20):
        assert search.gather(200) > 0
    assert search.simulations == 0
    search.begin(100)
    assert search.run(HashEvaluator(), 1, 20.0) and search.simulations == 100


# Six threads call everything on one search. Without a guard this crashes, so it has a process of
# its own.
MANY_THREADS = """
import threading, time
from rookery._core import Game, HashEvaluator, MctsSearch

search, games, seen = MctsSearch("planes22"), [Game()], {}
for move in ("e2e4", "e7e5", "g1f3"):
    games.append(games[-1].copy())
    games[-1].push(move)
end = time.monotonic() + 2

def call(number):
    steps = [
        lambda: search.set_game(games[number % len(games)]),
        lambda: search.begin(10_000),
        lambda: search.run(HashEvaluator(), 8, 0.01),
        lambda: (search.gather(200), search.observations.sum(), search.legal_actions.sum()),
        search.root_edges,
        search.tree,
        search.policy_target,
        lambda: (search.done, search.simulations, search.nodes, search.max_depth),
        search.forget,
        search.stop,
    ]
    at = number
    while time.monotonic() < end:
        at += number + 1
        try:
            steps[at % len(steps)]()
        except (RuntimeError, ValueError) as error:
            seen[str(error)] = type(error).__name__

threads = [threading.Thread(target=call, args=(n,)) for n in range(6)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(seen["another thread is using this search; only stop() may be called meanwhile"])
search.set_game(games[0])
search.begin(100)
print(search.run(HashEvaluator()), search.simulations)
"""


def test_calls_from_several_threads_are_errors_not_crashes() -> None:
    assert words_of(MANY_THREADS) == ["RuntimeError", "True", "100"]


def tree_digest(search: MctsSearch) -> int:
    """A number for the moves, visits and rounded values of a whole tree."""

    def words(tree: dict[str, Any]) -> list[Any]:
        return [
            [e["move"], e["visits"], round(e["value"], 6), e["status"], words(e.get("node", {}))]
            for e in tree.get("edges", ())
        ]

    return zlib.crc32(json.dumps(words(search.tree())).encode())
