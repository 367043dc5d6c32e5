"""The review of a game: what a move costs, and how accurate a player was."""

from __future__ import annotations

import pytest

from rookery._core import STARTING_FEN, Game
from rookery.base.scales import value_of_centipawns
from rookery.players.thinking import Line
from rookery.report.review import (
    BLUNDER,
    MOST_SECOND,
    SECOND_NODES,
    Judgement,
    Verdict,
    final_verdict,
    judge,
    look_again,
    move_accuracy,
    player_accuracy,
    review,
    second_looks,
    verdict_of_line,
)


def verdict(centipawns: int, *line: str) -> Verdict:
    return Verdict(value_of_centipawns(centipawns), centipawns, None, line)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (20, -20, ""),  # nothing changed
        (20, 50, "inaccuracy"),
        (0, 100, "mistake"),
        (0, 250, "blunder"),
        (-400, 1200, "blunder"),  # worse, then lost
        (900, -800, ""),  # still winning: what is decided counts little
        (700, 0, "missed win"),
        (700, 400, "blunder"),  # not even drawn
    ],
)
def test_what_a_move_costs_is_measured_in_winning_chances(
    before: int, after: int, kind: str
) -> None:
    """`after` is the opponent's score: what the mover has then is its negative."""
    assert judge(verdict(before, "e2e4"), verdict(after), "d2d4").kind == kind


def test_the_engines_own_move_is_never_an_error() -> None:
    found = judge(verdict(0, "e2e4"), verdict(900), "e2e4")
    assert found == Judgement("", 0.0, 0, 100.0)


def test_two_hundred_centipawns_in_an_even_position_are_a_blunder() -> None:
    found = judge(verdict(0, "e2e4"), verdict(200), "d2d4")
    assert found.loss >= BLUNDER and found.centipawns == 200


def test_winning_chances_are_those_of_lichess() -> None:
    for centipawns, chance in ((0, 50.0), (100, 59.1), (-300, 24.9), (900, 96.5)):
        assert verdict(centipawns).chance == pytest.approx(chance, abs=0.05)


def test_accuracy_follows_its_formula() -> None:
    assert move_accuracy(0.0) == pytest.approx(100.0, abs=0.01)
    assert move_accuracy(10.0) == pytest.approx(63.6, abs=0.1)
    assert move_accuracy(100.0) == 0.0
    assert player_accuracy([]) is None
    both = [Judgement("", 0.0, 0, 100.0), Judgement("blunder", 20.0, 300, 40.0)]
    assert player_accuracy(both) == 70.0


def test_mates_and_finished_games_are_certain() -> None:
    assert verdict_of_line(Line(("a1a2",), 0.97, None, 3)).chance == 100.0
    assert verdict_of_line(Line(("a1a2",), -0.97, None, -2)).chance == 0.0
    mate = Game()
    for move in ("f2f3", "e7e5", "g2g4", "d8h4"):
        mate.push(move)
    assert final_verdict(Game()) is None
    found = final_verdict(mate)
    assert found is not None and found.value == -1.0  # the side to move has lost
    stalemate = final_verdict(Game("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"))
    assert stalemate is not None and stalemate.value == 0.0


def test_a_game_is_reviewed_from_its_end_with_its_history() -> None:
    seen: list[int] = []

    def evaluate(game: Game, nodes: int) -> Verdict:
        seen.append(game.ply)
        return verdict(0, game.legal_moves()[0])

    moves = ["f2f3", "e7e5", "g2g4", "d8h4"]
    verdicts, judged = review(STARTING_FEN, moves, evaluate)
    assert seen == [3, 2, 1, 0] and len(verdicts) == 5
    assert judged[2].kind == ""  # nobody saw the mate coming
    assert verdicts[4].chance == 0.0 and judged[3].loss == 0.0


def test_a_move_that_the_engine_regrets_is_looked_at_again() -> None:
    moves = ["e2e4", "e7e5", "d1h5", "b8c6"]
    asked: list[tuple[int, int]] = []

    def evaluate(game: Game, nodes: int) -> Verdict:
        """At first it would play Qh5 itself, and only sees afterwards that this loses."""
        asked.append((game.ply, nodes))
        if game.ply == 3:
            return verdict(400, "b8c6")
        better = game.ply == 2 and nodes == SECOND_NODES
        return verdict(0 if game.ply < 3 else -400, "g1f3" if better else "d1h5")

    _, judged = review(STARTING_FEN, moves, evaluate)
    assert asked[5:] == [(3, SECOND_NODES), (2, SECOND_NODES)]
    assert judged[2].kind == "blunder"
    asked.clear()
    _, judged = review(STARTING_FEN, moves, evaluate, second=False)
    assert len(asked) == 5 and judged[2].kind == ""


def test_second_looks_are_few_and_where_there_is_doubt() -> None:
    verdicts = [verdict(0, "e2e4"), verdict(300, "e7e5")] * 30
    found = second_looks(verdicts, ["d2d4"] * 59)
    assert found == sorted(found, reverse=True) and len(found) == MOST_SECOND
    clear = [verdict(0, "e2e4"), verdict(900, "e7e5")]
    assert second_looks(clear, ["d2d4"]) == []
    assert second_looks(clear, ["e2e4"]) == [0]  # the engine's own move
    assert look_again([6, 5, 2]) == [7, 6, 5, 3, 2]
