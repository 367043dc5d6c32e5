"""The UCI engine in other people's programs: polyglot, and xboard on a display without a screen.

xboard speaks its own protocol and starts polyglot to translate it, so its part in the first test
is played by the test itself, and in the second by xboard.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import chess
import chess.pgn
import pytest

from rookery.engines.find import GAMES_FOLDER
from rookery.uci.options import general_settings
from support.paths import PROJECT

PATIENCE = 120  # seconds
ENGINE = f"{shlex.quote(sys.executable)} -m rookery.cli uci"
POSITION = "r3k3/1P4pp/8/8/8/8/p5PP/4K2R w Kq - 0 1"
WHITE_SEED, BLACK_SEED = 75, 76  # a game with a promotion and castling, and mate at ply 15


def program(name: str) -> str:
    found = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), GAMES_FOLDER]))
    if found is None:
        pytest.skip(f"needs {name}: install Debian's {name.lower()}")
    return found


GUIDE = (PROJECT / "docs" / "chess-guis.md").read_text(encoding="utf-8")


def test_the_guide_names_every_general_option() -> None:
    table = GUIDE[GUIDE.index("| option |") : GUIDE.index("Book and tables answer")]
    named = set(re.findall(r"`([^`]+)`", table))
    assert named == {setting.name for setting in general_settings((), True, "", None)}


def test_the_python_of_the_guide_runs() -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert chess.Move.from_uci(done.stdout.strip()) in chess.Board().legal_moves


class XboardSide:
    """The graphical program's end of the xboard protocol."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
        )
        self.seen: list[str] = []

    def send(self, *lines: str) -> None:
        assert self.process.stdin
        self.process.stdin.write("".join(f"{line}\n" for line in lines))
        self.process.stdin.flush()

    def wait(self, *starts: str) -> str:
        assert self.process.stdout
        for line in self.process.stdout:
            self.seen.append(line.rstrip())
            if line.startswith(starts):
                return line.rstrip()
        raise AssertionError(f"none of {starts} in {self.seen[-20:]}")

    def close(self) -> None:
        self.send("quit")
        assert self.process.wait(PATIENCE) == 0


def test_a_game_through_polyglot(tmp_path: Path) -> None:
    command = [program("polyglot"), "-noini", "-ec", f"{ENGINE} greedy-safe"]
    side = XboardSide(command, tmp_path)
    side.send("xboard", "protover 2")
    feature = side.wait("feature ")
    while "done=1" not in feature:
        feature = side.wait("feature ")
    side.send("new", "level 40 1 0", "post", "hard")  # "hard" is xboard's word for pondering
    board = chess.Board()
    while not board.is_game_over() and board.ply() < 40:
        ours = sorted(board.legal_moves, key=lambda move: move.uci())[board.ply() % 3 - 1]
        side.send("time 6000", "otim 6000", f"usermove {ours.uci()}")
        board.push(ours)
        answer = side.wait("move ", "1-0", "0-1", "1/2-1/2", "Illegal", "tellusererror")
        if not answer.startswith("move "):
            break
        move = chess.Move.from_uci(answer.split()[1])
        assert move in board.legal_moves
        board.push(move)
    assert board.ply() > 10
    side.close()


@pytest.fixture
def display(tmp_path: Path):
    """A display without a screen; its name."""
    reading, writing = os.pipe()
    server = subprocess.Popen(
        [program("Xvfb"), "-displayfd", str(writing), "-nolisten", "tcp"],
        pass_fds=[writing],
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    with os.fdopen(reading) as pipe:
        number = pipe.readline().strip()
    if not number:
        pytest.skip("needs Xvfb, which does not start on this machine")
    yield f":{number}"
    server.terminate()
    server.wait()


def test_a_game_in_xboard(tmp_path: Path, display: str) -> None:
    program("polyglot")  # xboard starts it by itself
    start = tmp_path / "start.fen"
    start.write_text(POSITION + "\n")
    games = tmp_path / "games.pgn"
    words = [program("xboard"), "-fUCI", "-fcp", f"{ENGINE} greedy-safe --seed {WHITE_SEED}"]
    words += ["-sUCI", "-scp", f"{ENGINE} greedy-safe --seed {BLACK_SEED}", "-mg", "1", "-tc", "2"]
    words += ["-inc", "0", "-sgf", str(games), "-lpf", str(start), "-soundProgram", ""]
    path = os.pathsep.join([os.environ.get("PATH", ""), GAMES_FOLDER])
    environment = os.environ | {"DISPLAY": display, "HOME": str(tmp_path), "PATH": path}
    xboard = subprocess.Popen(
        words,
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        game = _wait_for_game(games)
    finally:
        # After a match xboard may show a message and wait for somebody who reads it.
        os.killpg(xboard.pid, signal.SIGKILL)
        xboard.wait()
    assert not game.errors and game.headers["Result"] == "1-0"
    assert game.headers["White"].startswith("Rookery ")
    board = game.end().board()
    assert board.is_checkmate()
    moves = [move.uci() for move in game.mainline_moves()]
    assert {"e1g1", "b7a8q"} <= set(moves)


def _wait_for_game(path: Path) -> chess.pgn.Game:
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        time.sleep(0.1)
        if path.exists():
            with path.open() as file:
                game = chess.pgn.read_game(file)
            if game is not None and game.headers["Result"] != "*":
                return game
    raise AssertionError(f"no game in {PATIENCE} s")
