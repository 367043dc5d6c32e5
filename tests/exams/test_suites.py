"""EPD suites and puzzles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rookery._core import Game
from rookery.data.puzzles import Puzzle, read_puzzles
from rookery.engines.faults import EngineFault
from rookery.exams.puzzles import (
    PuzzleAnswer,
    puzzle_rating,
    run_puzzles,
    summarise_puzzles,
)
from rookery.exams.suites import parse_line, read_suite, run_suite, summarise_suite
from rookery.players.base import Decision, Limits
from rookery.players.bots import RandomPlayer

MATE = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - -"


class Knows:
    """Plays given moves by position, else the first legal one."""

    name = "knows"

    def __init__(self, moves: dict[str, str], fault: bool = False) -> None:
        self.moves = moves
        self.fault = fault

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        if self.fault:
            raise EngineFault("crash", "gone")
        return Decision(self.moves.get(game.epd(), min(game.legal_moves())))

    def new_game(self) -> None: ...

    def close(self) -> None: ...


def test_keys_in_san_uci_and_with_marks() -> None:
    assert parse_line(f'{MATE} bm Rd8#; id "m1";').best == {"d1d8"}
    assert parse_line(f"{MATE} bm d1d8;").best == {"d1d8"}
    assert parse_line(f"{MATE} bm Rd8+! h3;").best == {"d1d8", "h2h3"}
    line = parse_line(f'{MATE} 0 1 am Kf1; id "x; y";')
    assert line.avoid == {"g1f1"} and line.best == frozenset() and line.name == "x; y"


def test_points_of_the_strategic_test_suite() -> None:
    line = f'{MATE} bm Rd8+; id "S"; c8 "10 3"; c9 "d1d8 h2h3"; c0 "Rd8+=10, h3=3";'
    position = parse_line(line)
    assert position.points == {"d1d8": 10, "h2h3": 3}
    answers = run_suite(lambda: Knows({Game(position.fen).epd(): "h2h3"}), [position], Limits())
    summary = summarise_suite("x", answers)
    assert (summary["solved"], summary["points"], summary["max_points"]) == (0, 3, 10)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"{MATE} bm Qd8;", "'Qd8' is illegal"),
        (f'{MATE} id "no key";', "neither"),
        ("8/8/8 w - - bm Kd1;", "8/8/8"),
        (f"{MATE} bm #x;", "not a mate"),
    ],
)
def test_bad_lines_are_named(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.epd"
    path.write_text(f"{MATE} bm Rd8#;\n{line}\n")
    with pytest.raises(ValueError, match=message) as caught:
        read_suite(path)
    assert "bad.epd" in str(caught.value) and "line 2" in str(caught.value)


def test_a_folder_is_no_suite(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="it is a folder; name a file"):
        read_suite(tmp_path)


def test_a_suite_survives_a_crashing_player() -> None:
    positions = [parse_line(f"{MATE} bm Rd8#;")] * 3
    answers = run_suite(lambda: Knows({}, fault=True), positions, Limits())
    summary = summarise_suite("x", answers)
    assert (summary["total"], summary["solved"], summary["faults"]) == (3, 0, 3)


LICHESS = """\
PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags
aaaaa,5rk1/1p3ppp/pq3b2/8/8/1P1Q1N2/P4PPP/3R2K1 w - - 2 27,d3d6 f8d8 d6d8 f6d8,1447,73,96,9,short,x,
bbbbb,7k/8/8/8/8/8/1q4PP/6K1 w - - 0 1,h2h3 b2b1,900,80,90,9,mate mateIn1,x,
"""


def test_lichess_puzzles(tmp_path: Path) -> None:
    path = tmp_path / "puzzles.csv"
    path.write_text(LICHESS)
    puzzles = read_puzzles(path)
    assert [len(puzzle.line) for puzzle in puzzles] == [3, 1]
    assert puzzles[0].fen.split()[1] == "b"  # the opponent's first move has been played
    solver = {
        Game(puzzles[0].fen).epd(): "f8d8",
        "3r2k1/1p3ppp/pq1Q1b2/8/8/1P3N2/P4PPP/3R2K1 w - -": "a2a3",
    }
    after = Game(puzzles[0].fen)
    after.push("f8d8")
    after.push("d6d8")
    solver[after.epd()] = "f6d8"
    answers = run_puzzles(lambda: Knows(solver), puzzles, Limits())
    assert [answer.solved for answer in answers] == [True, False]
    # Half of a line is not enough.
    del solver[after.epd()]
    answers = run_puzzles(lambda: Knows(solver), puzzles, Limits())
    assert not answers[0].solved and answers[0].found == 1


def test_any_mate_is_right() -> None:
    puzzle = Puzzle("two mates", "k7/8/1K6/8/8/8/6R1/7R w - - 0 1", ("h1h8",), 800.0, ("mateIn1",))
    answers = run_puzzles(lambda: Knows({Game(puzzle.fen).epd(): "g2g8"}), [puzzle], Limits())
    assert answers[0].solved


def test_solver_first_files(tmp_path: Path) -> None:
    path = tmp_path / "mates.csv"
    path.write_text(f"fen,mate,solution_uci,title\n{MATE} 0 1,1,d1d8,Back rank\n")
    (puzzle,) = read_puzzles(path)
    assert puzzle.line == ("d1d8",) and puzzle.rating is None and puzzle.name == "Back rank"


def test_puzzle_rating_recovers_the_truth() -> None:
    from rookery.arena.elo import expected_score

    rng = np.random.default_rng(0)
    answers = []
    for _ in range(4000):
        rating = float(rng.uniform(600, 2600))
        puzzle = Puzzle("", "", (), rating, ())
        answers.append(PuzzleAnswer(puzzle, bool(rng.random() < expected_score(1700 - rating)), 0))
    found = puzzle_rating(answers)
    assert found is not None
    rating, low, high = found
    assert low < 1700 < high and high - low < 60 and rating == pytest.approx(1700, abs=30)
    for solved in (True, False):
        extreme = puzzle_rating([PuzzleAnswer(a.puzzle, solved, 0) for a in answers])
        assert extreme is not None and -2000 < extreme[0] < 6000
    assert puzzle_rating([]) is None


def test_bands_and_themes() -> None:
    answers = [
        PuzzleAnswer(Puzzle("", "", (), 950.0, ("fork", "short")), True, 1),
        PuzzleAnswer(Puzzle("", "", (), 1010.0, ("fork",)), False, 0),
    ]
    summary = summarise_puzzles("x", answers)
    assert summary["bands"] == {
        "0800-0999": {"total": 1, "solved": 1, "rate": 1.0},
        "1000-1199": {"total": 1, "solved": 0, "rate": 0.0},
    }
    assert summary["themes"]["fork"] == {"total": 2, "solved": 1, "rate": 0.5}  # type: ignore[index]


def test_bad_puzzle_files(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="needs the columns FEN and Moves"):
        read_puzzles(path)
    path.write_text("no table " * 1000)
    with pytest.raises(ValueError, match="needs the columns FEN and Moves") as caught:
        read_puzzles(path)
    assert len(str(caught.value)) < 400
    path.write_text("FEN,Moves,Rating\nnonsense,e2e4 e7e5,1000\n")
    with pytest.raises(ValueError, match="line 2"):
        read_puzzles(path)
    path.write_text(f"FEN,Moves,Rating\n{MATE} 0 1,d1d8 e7e5,1000\n")
    with pytest.raises(ValueError, match="line 2"):
        read_puzzles(path)
    with pytest.raises(ValueError, match="no such file"):
        read_puzzles(tmp_path / "none.csv")


def test_limit_draws_by_the_seed(data_dir: Path) -> None:
    path = data_dir / "puzzles" / "lichess_puzzles.csv.gz"
    first = read_puzzles(path, 50, seed=1)
    assert first == read_puzzles(path, 50, seed=1) != read_puzzles(path, 50, seed=2)
    assert len(first) == 50


def test_every_public_suite_and_puzzle_file_runs(data_dir: Path) -> None:
    files = sorted((data_dir / "epd").glob("*.epd"))
    assert files
    for path in files:
        positions = read_suite(path)
        assert len(positions) > 20
        answers = run_suite(RandomPlayer, positions, Limits())
        assert not any(answer.fault for answer in answers)
    for path in sorted((data_dir / "puzzles").glob("*.csv.gz")):
        puzzles = read_puzzles(path)
        assert len(puzzles) > 2000
        answers = run_puzzles(RandomPlayer, puzzles, Limits())
        assert 0 < sum(answer.solved for answer in answers) < len(answers) / 10


def test_an_illegal_move_does_not_count_as_avoiding() -> None:
    position = parse_line(f"{MATE} am Kf1;")
    epd = Game(position.fen).epd()
    for move, solved, faults in (("h2h3", 1, 0), ("g1f1", 0, 0), ("a1a8", 0, 1), ("", 0, 1)):
        answers = run_suite(lambda move=move: Knows({epd: move}), [position], Limits())  # type: ignore[misc]
        summary = summarise_suite("x", answers)
        assert (summary["solved"], summary["faults"]) == (solved, faults)


def test_errors_of_python_players_are_their_faults() -> None:
    class Broken(Knows):
        def choose(
            self, game: Game, rng: np.random.Generator, limits: Limits | None = None
        ) -> Decision:
            raise RuntimeError("no idea")

    position = parse_line(f"{MATE} bm Rd8#;")
    (answer,) = run_suite(lambda: Broken({}), [position], Limits())
    assert not answer.solved and answer.fault == "error: RuntimeError: no idea"
    puzzle = Puzzle("p", f"{MATE} 0 1", ("d1d8",), 800.0, ())
    (solution,) = run_puzzles(lambda: Broken({}), [puzzle], Limits())
    assert not solution.solved and "no idea" in solution.fault


def test_line_numbers_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    good = f"{MATE} 0 1,h2h3 g8h8 d1d8,1000\n"
    path.write_text("FEN,Moves,Rating\n" + 40 * good + "nonsense,e2e4 e7e5,1000\n")
    with pytest.raises(ValueError, match="line 42"):
        read_puzzles(path)
    caught = []
    for seed in range(20):
        try:
            read_puzzles(path, 5, seed)
        except ValueError as error:
            caught.append(str(error))
    assert caught and all("line 42" in text for text in caught)
