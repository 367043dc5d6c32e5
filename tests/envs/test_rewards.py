from __future__ import annotations

import struct

import chess
import chess.polyglot
import numpy as np
import pytest

from rookery import Game
from rookery.data import books, tablebases
from rookery.data.books import Book
from rookery.data.tablebases import Probe, find_tablebases
from rookery.envs import rewards as rewards_module
from rookery.envs.chess_env import ChessEnv
from rookery.envs.episode import Episode
from rookery.envs.rewards import PRESETS, Distance, InterimRewards, Ply, Rewards, rewards_of
from rookery.envs.vector import ChessVectorEnv
from support.needs import needs_tables


class FakeTables:
    """Answers with the probes it was given, by the first field of the FEN."""

    available = True

    def __init__(self, probes: dict[str, Probe]) -> None:
        self._probes = probes

    def probe(self, game: Game, metric: str | None = None) -> Probe | None:
        return self._probes.get(game.fen().split()[0])

    def describe(self) -> str:
        return "two invented tables"

    def tells(self, metric: str) -> bool:
        return any(probe.metric == metric for probe in self._probes.values())


@pytest.fixture
def book(tmp_path):
    key = chess.polyglot.zobrist_hash(chess.Board())
    path = tmp_path / "e4.bin"
    path.write_bytes(struct.pack(">QHHI", key, chess.E4 | chess.E2 << 6, 1, 0))
    with Book(path) as opened:
        yield opened


def begin(**options) -> Episode:
    episode = Episode(**options)
    episode.begin(np.random.default_rng(0))
    return episode


def test_presets_are_those_of_the_papers() -> None:
    version1 = PRESETS["salisch2023-v1"]
    assert (version1.win, version1.loss, version1.draw) == (100, -100, 0)
    assert (PRESETS["salisch2023-v2"].win, PRESETS["salisch2023-v2"].loss) == (1000, -1000)
    version3 = PRESETS["salisch2023-v3"]
    assert (version3.win, version3.book, version3.tablebase, version3.move) == (1000, 10, 10, 0)
    table3 = PRESETS["kanis2016"]
    assert (table3.win, table3.draw, table3.illegal, table3.move) == (10, -10, -10, -1)
    assert rewards_of({"win": 3}) == Rewards(win=3.0)
    assert rewards_of("003") == table3  # as recipes of old runs name it


@pytest.mark.parametrize("name", PRESETS)
def test_the_documented_table_is_true(name: str) -> None:
    (row,) = [
        [cell.strip() for cell in line.split("|")][2:-1]
        for line in (rewards_module.__doc__ or "").splitlines()
        if line.startswith(f"| `{name}`")
    ]
    sizes = PRESETS[name]
    columns = ("win", "draw", "loss", "move", "illegal", "book", "tablebase")
    assert [float(cell) for cell in row] == [getattr(sizes, column) for column in columns]


def test_book_moves_are_rewarded_right_away(book: Book) -> None:
    rewards = {"book": 10.0, "win": 1000.0}
    episode = begin(rewards=rewards, book=book)
    assert episode.play("e2e4").reward == 10.0
    assert episode.play("e7e5").reward == 0.0
    episode = begin(rewards=rewards, book=book)
    assert episode.play("d2d4").reward == 0.0


def test_the_book_is_asked_about_the_position_before_the_move(book: Book) -> None:
    interim = InterimRewards(Rewards(book=10.0), book=book)
    assert interim.book_reward(Game(), "e2e4") == 10.0
    assert interim.book_reward(Game(), "d2d4") == 0.0
    later = Game()
    later.push("g1f3")
    assert interim.book_reward(later, "e7e5") == 0.0


def test_tablebase_progress_is_compared_with_the_number_stored_last() -> None:
    start = "8/8/8/8/8/1k6/7R/K7 w - - 0 1"
    moves = ["h2h3", "b3c4", "h3h4", "c4c5", "h4h3"]
    game = Game(start)
    positions = [start.split()[0]]
    for move in moves:
        game.push(move)
        positions.append(game.fen().split()[0])
    # Plies to go as the side to move sees them: White's moves reach 18, 16 and then 16 again.
    numbers = [20, 18, 17, 16, 15, 16]
    probes = {
        position: Probe(2 if ply % 2 == 0 else -2, number, "dtm")
        for ply, (position, number) in enumerate(zip(positions, numbers, strict=True))
    }
    episode = begin(
        rewards={"tablebase": 10.0, "move": -1.0}, tablebases=FakeTables(probes), start=[start]
    )
    assert [episode.play(move).reward for move in moves] == [9.0, -1.0, 9.0, -1.0, -1.0]


def test_only_a_won_position_earns_and_a_lost_win_is_forgotten() -> None:
    interim = InterimRewards(Rewards(tablebase=10.0))

    def reward(before: int | None, after: int | None, side: bool) -> float:
        numbers = [None if plies is None else Distance("dtm", plies) for plies in (before, after)]
        return interim.tablebase_reward(*numbers, side)

    assert reward(20, 19, True) == 10.0
    assert reward(18, 19, True) == 0.0  # not below the 19 stored before
    assert reward(18, 17, True) == 10.0
    assert reward(16, None, True) == 0.0  # gave the win away
    assert reward(None, None, True) == 0.0
    assert reward(30, 29, True) == 10.0  # won again: compared with itself
    assert reward(30, 29, False) == 10.0  # the other side has its own number
    interim.new_game()
    assert reward(20, 21, True) == 0.0


def test_distances_of_different_metrics_are_not_compared() -> None:
    interim = InterimRewards(Rewards(tablebase=10.0))

    def reward(before: tuple[str, int], after: tuple[str, int]) -> float:
        return interim.tablebase_reward(Distance(*before), Distance(*after), True)

    assert reward(("dtz", 30), ("dtm", 20)) == 0.0  # a capture into another kind of table
    assert reward(("dtm", 19), ("dtm", 18)) == 10.0  # there it goes on
    interim.new_game()
    assert reward(("dtz", 9), ("dtz", 8)) == 10.0
    # The opponent captured: the position before the move replaces the 8 of the other kind.
    assert reward(("dtm", 25), ("dtm", 24)) == 10.0
    assert reward(("dtm", 23), ("dtz", 2)) == 0.0
    assert interim.distances == {True: Distance("dtz", 2)}


def test_the_metric_is_an_option() -> None:
    start = "8/8/8/8/8/1k6/7R/K7 w - - 0 1"
    tables = FakeTables({start.split()[0]: Probe(2, 20, "dtm")})
    asked = []
    tables.probe = lambda game, metric=None: asked.append(metric)  # type: ignore[method-assign]
    for metric in (None, "dtm"):
        episode = begin(
            rewards={"tablebase": 1.0}, tablebases=tables, start=[start], tablebase_metric=metric
        )
        episode.play("h2h3")
        assert set(asked) == {metric} and episode.switched_off == []
        asked.clear()
    with pytest.warns(UserWarning, match=r"no table tells the distance 'dtz' \(two invented"):
        episode = begin(
            rewards={"tablebase": 1.0}, tablebases=tables, start=[start], tablebase_metric="dtz"
        )
    assert len(episode.switched_off) == 1
    episode.play("h2h3")
    assert asked == []
    with pytest.raises(ValueError, match="tablebase_metric is 'dtw'"):
        begin(tablebase_metric="dtw")


class Closable:
    available = True
    closed = 0

    def close(self) -> None:
        self.closed += 1


def test_an_episode_closes_what_it_opened(book: Book, monkeypatch) -> None:
    pytest.importorskip("pettingzoo", reason="needs pettingzoo: the extra 'envs'")
    from rookery.envs.aec import ChessAECEnv

    found = Closable(), Closable()
    monkeypatch.setattr("rookery.envs.episode.find_book", lambda: found[0])
    monkeypatch.setattr("rookery.envs.episode.find_tablebases", lambda: found[1])
    for make in (ChessEnv, ChessAECEnv):
        before = [closable.closed for closable in found]
        env = make(rewards={"book": 1.0, "tablebase": 1.0})
        assert [closable.closed for closable in found] == before
        env.close()
        assert [closable.closed - 1 for closable in found] == before
    given = Closable()
    episode = Episode(rewards={"book": 1.0, "tablebase": 1.0}, book=book, tablebases=given)
    episode.close()
    assert given.closed == 0 and len(book) == 1


@needs_tables
def test_real_tables_reward_the_way_to_mate() -> None:
    tables = find_tablebases()
    start = "8/8/8/3k4/8/8/8/KR6 w - - 0 1"
    with tables:
        episode = begin(rewards={"tablebase": 10.0}, tablebases=tables, start=[start])
        earned = []
        while not episode.over:
            best = best_move(episode.game, tables)
            turn = episode.play(best)
            if turn.mover:
                earned.append(turn.reward)
    assert episode.termination is not None and episode.termination.reason == "checkmate"
    assert earned[:-1] == [10.0] * (len(earned) - 1)
    assert earned[-1] == 11.0  # the mating move is progress as well, and wins


def best_move(game: Game, tables) -> str:
    """The move with the shortest mate, or the longest for the losing side."""
    scores = {}
    for move in game.legal_moves():
        game.push(move)
        probe = tables.probe(game)
        game.pop()
        scores[move] = probe.distance - 1000 * (probe.result == -1)
    return (min if game.turn else max)(scores, key=lambda move: scores[move])


def test_missing_data_switches_interim_rewards_off_visibly(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("ROOKERY_DATA", str(tmp_path))
    monkeypatch.delenv("SYZYGY_PATH", raising=False)
    for module, name in (
        (books, "USUAL_FOLDERS"),
        (tablebases, "GAVIOTA_FOLDERS"),
        (tablebases, "SYZYGY_FOLDERS"),
    ):
        monkeypatch.setattr(module, name, ())
    with pytest.warns(UserWarning) as caught:
        episode = begin(rewards="salisch2023-v3")
    said = [str(warning.message) for warning in caught]
    assert said == episode.switched_off
    assert "book moves are off" in said[0] and "gnuchess-book" in said[0]
    assert "tablebase progress are off" in said[1] and "gaviotatb" in said[1]
    assert episode.play("e2e4").reward == 0.0


def test_both_sides_get_the_result() -> None:
    episode = begin(rewards="salisch2023-v1", start=["k7/8/1K6/8/8/8/8/7R w - - 0 1"])
    turn = episode.play("h1h8")
    assert (turn.mover, turn.reward, turn.other_reward) == (True, 100.0, -100.0)


def test_a_function_of_rewards() -> None:
    plies = []

    def half(ply: Ply, side: bool) -> float:
        plies.append((ply.move, ply.mover, side, ply.legal))
        return 0.5 * Rewards(win=4.0, move=-1.0, illegal=-6.0).of_ply(ply, side)

    mate = "k7/8/1K6/8/8/8/8/7R w - - 0 1"
    episode = Episode(rewards=half)
    episode.begin(np.random.default_rng(1), mate)
    turn = episode.act(0)
    assert (turn.reward, turn.other_reward, turn.legal) == (-3.0, 0.0, False)
    turn = episode.play("h1h8")
    assert (turn.reward, turn.other_reward) == (1.5, -0.5)
    assert plies == [("", True, True, False), ("", True, False, False),
                     ("h1h8", True, True, True), ("h1h8", True, False, True)]  # fmt: skip
    with pytest.raises(ValueError, match="many games at once"):
        ChessVectorEnv(2, rewards=half)
    env = ChessEnv(rewards=half, color="white")
    env.reset(options={"fen": mate})
    assert env.step(env.episode.game.action_of("h1h8"))[1] == 1.5
