"""Endgames against exact truth."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rookery._core import Game
from rookery.data.tablebases import find_tablebases
from rookery.engines.faults import EngineFault
from rookery.exams.defence import held_positions
from rookery.exams.endgames import (
    EndgameResult,
    Follower,
    Outcome,
    Referee,
    play_out,
)
from rookery.exams.endings import (
    EndgamePosition,
    all_positions,
    kpk_levels,
    parse_ending,
    sample_positions,
    with_truth,
)
from rookery.exams.questions import Questions
from rookery.players.base import Decision, Limits
from rookery.players.bots import RandomPlayer
from rookery.players.tablebase import CachedTables, TablebasePlayer, rank_moves


@pytest.fixture(scope="module")
def tables() -> CachedTables:
    found = find_tablebases()
    if "KPvK" not in found.endings():
        pytest.skip("needs endgame tables: install Debian's gaviotatb")
    return CachedTables(found)


def sample(ending: str, count: int, tables: CachedTables, seed: int = 0) -> list[EndgamePosition]:
    fens = sample_positions(ending, count, np.random.default_rng(seed))
    return with_truth(fens, ending, tables)


def test_names_of_endings() -> None:
    assert parse_ending("KPK") == parse_ending("kpk") == parse_ending("KPvK") == "KPvK"
    assert parse_ending("KRPvKR") == "KRPvKR" and parse_ending("KQKR") == "KQvKR"
    for wrong in ("", "K", "KP", "PK", "KXK", "KPKPK"):
        with pytest.raises(ValueError, match="not two kings"):
            parse_ending(wrong)


def test_kpk_has_its_known_number_of_positions() -> None:
    # 81,664 with the pawn on the files a to d (counted from the Gaviota tables), twice.
    count = sum(1 for _ in all_positions("KPvK"))
    assert count == 163_328


def test_four_pieces_are_too_many() -> None:
    with pytest.raises(ValueError, match="--positions 1000"):
        next(all_positions("KRPvK"))


@pytest.mark.parametrize("goal", ["promotion", "mate"])
def test_tables_win_every_won_position(goal: str, tables: CachedTables) -> None:
    player = TablebasePlayer(find_tablebases())
    rng = np.random.default_rng(0)
    follower = Follower(lambda game: player.choose(game, rng).move, Referee(tables, goal))
    result = EndgameResult("KPvK", "tablebase", "perfect", goal, "follow")
    for position in sample("KPvK", 300, tables):
        result.add(follower.outcome(position))
    player.close()
    summary = result.to_json()
    assert summary["won"] == summary["won_positions"] > 150  # type: ignore[operator]
    assert summary["won_from_drawn"] == 0
    assert summary["moves_kept_win"] == 1.0
    if goal == "mate":
        # Against the longest resistance the shortest mates take exactly as long as promised.
        assert summary["length_ratio"] == 1.0


def test_following_agrees_with_playing_out(tables: CachedTables) -> None:
    attacker, defender = TablebasePlayer(find_tablebases()), TablebasePlayer(find_tablebases())
    referee = Referee(tables, "mate")
    rngs = (np.random.default_rng(1), np.random.default_rng(2))
    follower = Follower(lambda game: attacker.choose(game, rngs[0]).move, referee)
    for position in sample("KRvK", 25, tables):
        followed = follower.outcome(position)
        played = play_out(position, attacker, defender, referee, rngs, 100)
        assert (followed.won, followed.moves) == (played.won, played.moves)
        assert played.moves == (position.distance + 1) // 2
    attacker.close()
    defender.close()


def test_a_player_that_walks_in_circles_does_not_win(tables: CachedTables) -> None:
    # King moves only, the first of the alphabet: never a pawn move, so the games repeat.
    def choose(game: Game) -> str:
        kings = [m for m in sorted(game.legal_moves()) if game.piece_at(_square(m)) == "K"]
        return kings[0] if kings else game.legal_moves()[0]

    follower = Follower(choose, Referee(tables, "promotion"))
    outcomes = [follower.outcome(position) for position in sample("KPvK", 60, tables)]
    assert not any(outcome.won for outcome in outcomes if outcome.end == "repetition")
    assert any(outcome.end == "repetition" for outcome in outcomes)


def _square(move: str) -> int:
    return "abcdefgh".index(move[0]) + 8 * (int(move[1]) - 1)


def test_every_defence_is_at_least_as_hard_as_the_longest(tables: CachedTables) -> None:
    # Pushes the pawn whenever it can: wins races, but not against every defence.
    def choose(game: Game) -> str:
        pushes = [m for m in game.legal_moves() if game.piece_at(_square(m)) == "P"]
        return max(pushes) if pushes else sorted(game.legal_moves())[0]

    positions = [p for p in sample("KPvK", 150, tables, seed=3) if p.result > 0]
    longest = Follower(choose, Referee(tables, "promotion"))
    worst = Follower(choose, Referee(tables, "promotion"), every_reply=True)
    won_longest = {p.fen for p in positions if longest.outcome(p).won}
    won_worst = {p.fen for p in positions if worst.outcome(p).won}
    assert won_worst <= won_longest
    assert won_worst


def test_levels_come_close_to_the_paper(tables: CachedTables) -> None:
    pytest.importorskip("gymnasium")
    levels = kpk_levels()
    rng = np.random.default_rng(5)
    for level, share in (("easy", 0.98), ("intermediate", 0.74), ("hard", 0.40)):
        placements = [p for p, found in levels.items() if found == level]
        chosen = rng.permutation(len(placements))[:400]
        fens = iter(f"{placements[i]} w - - 0 1" for i in chosen)
        positions = with_truth(fens, "KPvK", tables)
        assert all(position.level == level for position in positions)
        won = sum(position.result > 0 for position in positions) / len(positions)
        assert won == pytest.approx(share, abs=0.08)


def test_results_are_counted_by_level() -> None:
    result = EndgameResult("KPvK", "x", "perfect", "promotion", "play out")
    won = EndgamePosition("a", 1, 9, "dtm", "easy")
    drawn = EndgamePosition("b", 0, 0, "dtm", "hard")
    result.add(Outcome(won, won=True, moves=4, good_moves=4, judged_moves=4))
    result.add(Outcome(won, won=False, good_moves=1, judged_moves=2, end="stalemate"))
    result.add(Outcome(drawn, won=True, moves=9))
    result.add(Outcome(won, fault="defender crash"))  # the opponent's: not counted
    result.add(Outcome(drawn, fault="attacker crash", own_fault=True))  # the player's: failed
    summary = result.to_json()
    assert (summary["positions"], summary["won_positions"], summary["won"]) == (4, 2, 1)
    assert summary["win_rate"] == 0.5 and summary["mean_moves"] == 4
    assert summary["won_from_drawn"] == 1 and summary["drawn_positions"] == 2
    assert summary["faults"] == summary["opponent_faults"] == 1
    assert summary["fault_example"] == "defender crash"
    assert summary["moves_kept_win"] == 5 / 6
    levels = summary["levels"]
    assert set(levels) == {"easy", "hard"}  # type: ignore[call-overload]
    assert levels["easy"]["win_rate"] == 0.5  # type: ignore[index]
    assert summary["failures"] == ["a (stalemate)"]


def test_tables_hold_every_draw(tables: CachedTables) -> None:
    drawn = [p.fen for p in sample("KPvK", 120, tables, seed=9) if p.result == 0]
    referee = Referee(tables, "promotion")

    def best(game: Game) -> str:
        ranked = rank_moves(game, tables)
        assert ranked
        return max(ranked, key=lambda move: ranked[move])

    held, asked, good = held_positions(drawn, best, referee)
    assert held == set(drawn) and good == asked > 0

    def worst(game: Game) -> str:
        ranked = rank_moves(game, tables)
        assert ranked
        return min(ranked, key=lambda move: ranked[move])

    held, asked, good = held_positions(drawn, worst, referee)
    assert len(held) < len(drawn) / 2 and good < asked


def test_random_player_converts_some(tables: CachedTables) -> None:
    referee = Referee(tables, "promotion")
    outcomes = [
        play_out(
            position,
            RandomPlayer(),
            RandomPlayer(),
            referee,
            (np.random.default_rng(n), np.random.default_rng(n + 1000)),
            100,
        )
        for n, position in enumerate(sample("KPvK", 60, tables))
    ]
    rate = np.mean([outcome.won for outcome in outcomes if outcome.position.result > 0])
    assert 0.1 < rate < 0.9


def test_four_piece_endings(tables: CachedTables, data_dir: Path) -> None:
    player = TablebasePlayer(find_tablebases())
    rng = np.random.default_rng(0)
    for ending, goal in (("KRPvK", "promotion"), ("KQvKR", "mate")):
        referee = Referee(tables, goal)
        follower = Follower(lambda game: player.choose(game, rng).move, referee)
        for position in sample(ending, 5, tables):
            assert follower.outcome(position).won == (position.result > 0)
    player.close()


class Failing(RandomPlayer):
    """Raises, or answers with nonsense, at its n-th move (0: before the game)."""

    def __init__(self, at: int, error: Callable[[], Exception] | None = None) -> None:
        super().__init__()
        self.at = at
        self.error = error
        self.asked = 0

    def new_game(self) -> None:
        if self.at == 0:
            raise self.error() if self.error else RuntimeError("not today")

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        self.asked += 1
        if self.asked >= self.at:
            if self.error is not None:
                raise self.error()
            return Decision("a1a1")
        return super().choose(game, rng, limits)


@pytest.mark.parametrize("examined", [0, 1])
@pytest.mark.parametrize("failing", [0, 1])
@pytest.mark.parametrize("at", [0, 1, 2])
@pytest.mark.parametrize("error", [None, RuntimeError, lambda: EngineFault("crash", "gone")])
def test_the_right_side_is_blamed(
    examined: int,
    failing: int,
    at: int,
    error: Callable[[], Exception] | None,
    tables: CachedTables,
) -> None:
    position = EndgamePosition("8/8/8/8/8/k7/6P1/7K w - - 0 1", 1, 20, "dtm", "")
    white = Failing(at, error) if failing == 0 else RandomPlayer()
    black = Failing(at, error) if failing == 1 else RandomPlayer()
    rngs = (np.random.default_rng(0), np.random.default_rng(1))
    outcome = play_out(position, white, black, Referee(tables, "mate"), rngs, 50, examined)
    assert outcome.fault.startswith(("attacker", "defender")[failing]) and not outcome.won
    assert outcome.own_fault == (failing == examined)
    if at and error is None:
        assert "illegal" in outcome.fault


class Shuffling(RandomPlayer):
    """Moves its king to and fro."""

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        pairs = ("h1h2", "h2h1", "a3a4", "a4a3")
        return Decision(next(move for move in pairs if game.is_legal(move)))


@pytest.mark.parametrize(("history", "end"), [(True, "threefold_repetition"), (False, "60 moves")])
def test_without_history_only_the_number_of_moves_ends_a_shuffle(
    history: bool, end: str, tables: CachedTables
) -> None:
    position = EndgamePosition("8/8/8/8/8/k7/6P1/7K w - - 0 1", 1, 20, "dtm", "")
    rngs = (np.random.default_rng(0), np.random.default_rng(1))
    referee = Referee(tables, "promotion", history)
    outcome = play_out(position, Shuffling(), Shuffling(), referee, rngs, 60)
    assert outcome.end == end and not outcome.won


def test_a_follower_survives_a_failing_player(tables: CachedTables) -> None:
    questions = Questions(Failing(1, lambda: RuntimeError("no idea")), np.random.default_rng(0))
    follower = Follower(questions, Referee(tables, "promotion"))
    result = EndgameResult("KPvK", "x", "perfect", "promotion", "follow")
    for position in sample("KPvK", 20, tables):
        result.add(follower.outcome(position))
    summary = result.to_json()
    assert summary["positions"] == 20 and summary["won"] == 0
    assert questions.faults > 0 and questions.example == "error: RuntimeError: no idea"
    assert 0 < summary["faults"] <= 20  # type: ignore[operator]


def test_a_reply_that_resets_the_clock_helps_only_itself() -> None:
    from rookery.exams.endgames import _Node, _Verdict

    follower = Follower(lambda game: "", None)  # type: ignore[arg-type]
    follower._verdicts = {
        "quiet": _Verdict(True, 50, 99, "checkmate"),
        "capture": _Verdict(True, 50, 99, "checkmate"),
    }

    def judge(*following: tuple[str, bool], zeroing: bool = False) -> _Verdict:
        return follower._judge(_Node(True, True, following, False, zeroing, ""))

    # Two more plies than the fifty moves allow, unless the move or the reply starts them anew.
    assert not judge(("quiet", False)).win
    assert judge(("capture", True)).win and judge(("capture", True)).stretch == 2
    assert not judge(("capture", True), ("quiet", False)).win
    assert judge(("quiet", False), zeroing=True).win
    assert judge(("quiet", False), zeroing=True).stretch == 1
