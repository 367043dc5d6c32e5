"""The UCI engine as a process: a real client, the end of its input and output, signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import chess
import chess.engine
import pytest

from rookery.players.levels import level_parameters
from support.paths import SUPPORT
from support.uci_session import require_shipped_engine

DRIVER = [sys.executable, str(SUPPORT / "uci_driver.py")]
ROOKERY = [sys.executable, "-m", "rookery.cli", "uci"]
PLAYERS = ("slow", "stuck", "deaf", "loading", "failing")  # of the driver
PATIENCE = 60  # seconds; everything here takes less than one on an idle machine


class Process:
    """A started engine with blocking reads."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.input, self.output = self.process.stdin, self.process.stdout

    def send(self, data: bytes) -> None:
        self.input.write(data)
        self.input.flush()

    def read_until(self, start: bytes) -> list[bytes]:
        lines = []
        for line in self.output:
            lines.append(line)
            if line.startswith(start):
                return lines
        raise AssertionError(f"no {start!r} in {lines[-10:]}; {self.process.stderr.read()!r}")

    def searching(self) -> Process:
        self.send(b"go infinite\n")
        self.read_until(b"info depth 3")
        return self

    def end(self) -> int:
        return self.process.wait(PATIENCE)


@pytest.fixture
def start():
    started: list[Process] = []

    def begin(*command: str) -> Process:
        words = [*DRIVER, *command] if command[0] in PLAYERS else list(command)
        started.append(Process(words))
        return started[-1]

    yield begin
    for one in started:
        one.process.kill()
        one.process.wait()
        for pipe in (one.input, one.output, one.process.stderr):
            pipe.close()


# python-chess as the client


@pytest.fixture(params=["driver", "greedy-safe", "rookery"])
def client(request: pytest.FixtureRequest):
    if request.param == "rookery":
        require_shipped_engine()
    command = DRIVER if request.param == "driver" else [*ROOKERY, request.param]
    engine = chess.engine.SimpleEngine.popen_uci(command, timeout=PATIENCE)
    yield engine
    engine.quit()


def test_a_game_through_python_chess(client: chess.engine.SimpleEngine) -> None:
    board = chess.Board()
    while not board.is_game_over() and board.ply() < 60:
        limit = chess.engine.Limit(white_clock=1.0, black_clock=1.0, white_inc=0.01, black_inc=0.01)
        result = client.play(board, limit, game="one", ponder=board.ply() % 4 == 0)
        assert result.move in board.legal_moves
        board.push(result.move)
    client.ping()


def test_analysis_through_python_chess(client: chess.engine.SimpleEngine) -> None:
    board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 2 3")
    several = "MultiPV" in client.options
    with client.analysis(board, multipv=3 if several else None) as analysis:
        for number, info in enumerate(analysis):
            assert info["pv"][0] in board.legal_moves
            if number >= (10 if several else 0):
                break
    limit = chess.engine.Limit(depth=3, nodes=2000)
    infos = client.analyse(board, limit, multipv=3 if several else 1)
    assert len(infos) == (3 if several else 1)
    assert len({info["pv"][0] for info in infos}) == len(infos)
    restricted = client.play(board, limit, root_moves=[chess.Move.from_uci("f3f7")])
    assert restricted.move == chess.Move.from_uci("f3f7")


def test_chess960_through_python_chess(client: chess.engine.SimpleEngine) -> None:
    board = chess.Board.from_chess960_pos(111)
    for _ in range(20):
        result = client.play(board, chess.engine.Limit(depth=1, nodes=100))
        assert result.move in board.legal_moves
        board.push(result.move)


def test_finished_games_through_python_chess(client: chess.engine.SimpleEngine) -> None:
    board = chess.Board("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1")
    assert client.play(board, chess.engine.Limit(depth=1)).move is None


# The process


def test_a_player_that_loads_slowly_offers_all_its_options(start) -> None:
    engine = start("loading")
    engine.send(b"uci\nisready\n")
    lines = engine.read_until(b"readyok")
    assert any(b"name Hash " in line for line in lines[: lines.index(b"uciok\n")])
    engine.send(b"setoption name Hash value 4\ngo depth 2\n")
    assert engine.read_until(b"bestmove")[-1] == b"bestmove a2a3 ponder a7a5\n"


def test_the_end_of_the_input_waits_for_the_answer_to_uci(start) -> None:
    engine = start("loading")
    engine.send(b"uci\n")
    engine.input.close()
    assert any(b"name Hash " in line for line in engine.read_until(b"uciok"))
    assert engine.end() == 0


def test_quit_answers_what_waits_for_the_player(start) -> None:
    engine = start("loading")
    engine.send(b"uci\ngo infinite\nquit\n")
    lines = engine.output.read().splitlines()
    assert lines.index(b"uciok") < len(lines) - 1
    assert lines[-1].startswith(b"bestmove a2a3")  # of the player, not just any legal move
    assert engine.end() == 0


def test_quit_without_a_question_does_not_wait_for_the_player(start) -> None:
    engine = start("loading")
    engine.send(b"isready\nquit\n")
    assert engine.output.read() == b"readyok\n"
    assert engine.end() == 0


def test_a_board_that_the_player_does_not_know_is_refused() -> None:
    require_shipped_engine()
    done = subprocess.run(
        [*ROOKERY, "rookery", "--board", "gardner"],
        input=b"uci\n", capture_output=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and b"not on gardner" in done.stderr


def test_a_player_that_fails_to_load_ends_the_process(start) -> None:
    engine = start("failing")
    output, errors = engine.process.communicate(timeout=PATIENCE)
    assert engine.process.returncode == 1
    assert b"info string error: the network is missing; train one" in output
    assert errors == b"rookery: error: the network is missing; train one\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nobody"], b"unknown player 'nobody'"),
        (["human"], b"human"),
        (["random", "--seed", "-1"], b"--seed"),
        (["random,fast=1"], b"no option 'fast'"),
    ],
)
def test_invalid_arguments_are_refused(words: list[str], message: bytes) -> None:
    done = subprocess.run(
        [*ROOKERY, *words], input=b"", capture_output=True, timeout=PATIENCE, check=False
    )
    # The end of the input may be seen before or after the error of the player.
    assert done.returncode == 1 and message in done.stderr


def test_seeds_repeat_sessions() -> None:
    script = b"position startpos\ngo\nposition startpos moves e2e4\ngo\nisready\nquit\n"
    outputs = [
        subprocess.run(
            [*ROOKERY, "random", "--seed", "5"], input=script, capture_output=True, timeout=PATIENCE
        ).stdout
        for _ in range(2)
    ]
    moves = [[line for line in out.splitlines() if line.startswith(b"best")] for out in outputs]
    assert len(moves[0]) == 2 and moves[0] == moves[1]


@pytest.mark.parametrize("player", ["slow", "stuck", "deaf"])
def test_the_end_of_the_input_ends_the_search(start, player: str) -> None:
    engine = start(player)
    engine.send(b"go infinite\n")
    if player != "stuck":
        engine.read_until(b"info depth 3")
    engine.input.close()
    rest = engine.output.read()
    assert engine.end() == 0
    assert rest.count(b"bestmove") == 1


def test_quit_in_the_middle_of_a_search(start) -> None:
    engine = start("slow").searching()
    engine.send(b"go depth 100000\nquit\nuci\n")
    rest = engine.output.read()
    assert engine.end() == 0
    assert rest.count(b"bestmove") == 2 and b"uciok" not in rest


def test_the_process_ends_when_its_output_is_closed(start) -> None:
    engine = start("slow").searching()
    engine.output.close()
    assert engine.end() == 0
    assert engine.process.stderr.read() == b""


def test_an_idle_process_ends_when_its_output_is_closed(start) -> None:
    engine = start("slow")
    engine.send(b"isready\n")
    engine.read_until(b"readyok")
    engine.output.close()
    assert engine.end() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("player", ["slow", "stuck"])
def test_signals_end_it_cleanly(start, number: signal.Signals, player: str) -> None:
    engine = start(player)
    engine.send(b"isready\ngo infinite\n")
    engine.read_until(b"info depth 3" if player == "slow" else b"readyok")
    engine.send(b"isready\n")
    engine.read_until(b"readyok")
    os.kill(engine.process.pid, number)
    rest, errors = engine.process.communicate(timeout=PATIENCE)
    assert engine.process.returncode == 128 + number
    assert rest.count(b"bestmove") == 1 and errors == b""


def test_invalid_bytes_are_survived(start) -> None:
    engine = start("slow")
    junk = b"\xff\xfe\x00\x80\n" + b"A" * 1_000_000 + b"\n" + b"B" * 3_000_000 + b"\n\x00\n\r\n"
    junk += b"position fen \xff\xff\xff\nsetoption name Note value \x00\xff\ngo depth \xff\n"
    engine.send(junk + b"stop\nisready\n")
    lines = engine.read_until(b"readyok")
    assert all(len(line) < 400 for line in lines)
    assert b"info string a line longer than 2097152 bytes is ignored\n" in lines
    engine.send(b"position startpos\ngo depth 2\n")
    assert engine.read_until(b"bestmove")[-1] == b"bestmove a2a3 ponder a7a5\n"


def test_what_a_player_prints_stays_out_of_the_protocol(start, tmp_path: Path) -> None:
    script = tmp_path / "chatty.py"
    script.write_text(
        "from rookery.players.bots import RandomPlayer\n"
        "from rookery.uci.stream import serve\n"
        "class Chatty(RandomPlayer):\n"
        "    def choose(self, *arguments):\n"
        "        print('hello')\n"
        "        return super().choose(*arguments)\n"
        "serve(Chatty)\n"
    )
    engine = start(sys.executable, str(script))
    output, errors = engine.process.communicate(b"go\nisready\n", timeout=PATIENCE)
    assert b"hello" not in output and errors == b"hello\n"


def test_the_level_of_our_engine() -> None:
    command = [*ROOKERY, "rookery,network=material"]
    with chess.engine.SimpleEngine.popen_uci(command, timeout=PATIENCE) as client:
        offered = client.options["Level"]
        assert (offered.type, offered.default, offered.min, offered.max) == ("spin", 0, 0, 20)
        board, limit = chess.Board(), chess.engine.Limit(nodes=50_000)
        client.configure({"Level": 2})
        with client.analysis(board, limit) as weak:
            infos = [info for info in weak if "pv" in info]
        assert infos[-1]["nodes"] <= level_parameters(2).nodes
        # One line was asked for; how many the level compares is its own affair.
        depths = [info["depth"] for info in infos if not info.get("lowerbound")]
        assert len(depths) == len(set(depths))
        client.configure({"Level": 0})
        assert client.analyse(board, limit)["nodes"] > 10_000


def test_a_launcher_starts_the_engine_from_anywhere(start, tmp_path: Path) -> None:
    file = tmp_path / "new folder" / "my engine"
    assert not file.parent.exists()
    words = [*ROOKERY, "greedy-safe", "--seed", "3", "--launcher", str(file)]
    done = subprocess.run(words, capture_output=True, timeout=PATIENCE, check=True)
    assert str(file).encode() in done.stdout
    engine = start(str(file))
    engine.send(b"uci\nposition startpos\ngo\n")
    assert b"greedy-safe" in b"".join(engine.read_until(b"bestmove"))
    again = subprocess.run(words, capture_output=True, timeout=PATIENCE, check=False)
    assert again.returncode == 1 and b"exists already" in again.stderr
    wrong = [*ROOKERY, "nobody", "--launcher", str(tmp_path / "other")]
    assert subprocess.run(wrong, capture_output=True, timeout=PATIENCE).returncode == 1
    assert not (tmp_path / "other").exists()
