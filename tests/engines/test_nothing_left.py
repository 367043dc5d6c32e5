"""Commands that start engines, ended by any signal: no engine, guard or descendant is left."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hostile_engines import BAD_ENGINE, left_over, nothing_left, own_processes
from rookery.engines.find import find_stockfish
from support.needs import needs_stockfish
from support.web_parts import Address, Client

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]
# Forks twice, starts a session, drops its environment, and never answers `go`.
DAEMON = f"{sys.executable} -E -u {BAD_ENGINE} daemon-and-hang"
EPD = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - bm Rd8#;\n"
# Command -> its arguments; ENGINE is the player, PROGRAM the engine's command.
COMMANDS = {
    "arena": ["ENGINE", "random", "--games", "8", "--concurrency", "2"],
    "rate": ["ENGINE", "--games", "8"],
    "suite": ["ENGINE", "suite.epd"],
    "puzzles": ["ENGINE", "--mate", "1", "suite.epd"],
    "endgame": ["KPK", "ENGINE", "--positions", "4", "--against", "random"],
    "data": ["label", "--engine", "PROGRAM", "--lines", "1", "--count", "10", "--out", "labels"],
    "play": ["ENGINE", "--terminal", "--color", "black"],
    "uci": ["ENGINE"],
    "blind": ["arena", "trout", "random"],
}
# All signals to one command, and the one that nobody can catch to all of them; the rest if asked.
CASES = [
    pytest.param(
        command,
        number,
        marks=[] if command == "arena" or number == signal.SIGKILL else pytest.mark.slow,
        id=f"{command}-{number.name}",
    )
    for command in COMMANDS
    for number in SIGNALS
]


@pytest.fixture(autouse=True)
def own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROOKERY_TEST_RUN", "")
    own_processes()
    Path("suite.epd").write_text(EPD)


def wait_until(processes: int, command: subprocess.Popen[bytes]) -> None:
    """Wait for so many engines, guards and descendants."""
    deadline = time.monotonic() + 60
    while len(left_over()) < processes:
        assert command.poll() is None, command.communicate()
        assert time.monotonic() < deadline, left_over()
        time.sleep(0.02)


def needs_reconchess() -> None:
    if importlib.util.find_spec("reconchess") is None:
        pytest.skip("needs reconchess: install rookery[blind]")


def needs_assets() -> None:
    from rookery.web.serve import require_assets

    try:
        require_assets()
    except ValueError as error:
        pytest.skip(str(error))


def as_one_file(command: str) -> Path:
    """A program that runs the command, for callers that know no arguments."""
    script = Path("engine.sh").absolute()
    script.write_text(f"#!/bin/sh\nexec {command}\n")
    script.chmod(0o755)
    return script


def start(words: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "rookery.cli", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # a signal to its group must not reach the tests
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # nohup ignores it
    )


def end(command: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send the signal, wait for the end, and check that nothing is left."""
    command.send_signal(number)
    try:
        command.communicate(timeout=60)
    finally:
        command.kill()
        command.communicate()
    assert nothing_left(), left_over()


@pytest.mark.parametrize(("command", "number"), CASES)
def test_a_signal_leaves_nothing_of_a_daemon(
    command: str, number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    if command == "blind":
        needs_reconchess()
        monkeypatch.setenv("ROOKERY_STOCKFISH", str(as_one_file(DAEMON)))
        monkeypatch.delenv("STOCKFISH_EXECUTABLE", raising=False)
    names = {"ENGINE": f"uci,command={DAEMON},depth=1", "PROGRAM": DAEMON}
    process = start([command, *(names.get(word, word) for word in COMMANDS[command])])
    if command == "uci":
        assert process.stdin is not None
        process.stdin.write(b"go depth 1\n")
        process.stdin.flush()
    wait_until(3, process)  # the guard, the engine and its daemon
    end(process, number)


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, marks=[] if number == signal.SIGKILL else pytest.mark.slow)
        for number in SIGNALS
    ],
    ids=lambda number: number.name,
)
def test_a_signal_to_the_web_server_leaves_nothing(number: signal.Signals) -> None:
    for module in ("starlette", "uvicorn", "websockets"):
        pytest.importorskip(module)
    needs_assets()
    process = start(["play", f"uci,command={DAEMON},depth=1", "--no-browser", "--games", "games"])
    assert process.stdout is not None
    visitor = Client(Address(process.stdout.readline().decode().split()[3]))
    visitor.hello()
    seat = visitor.play(player="given", level="given", color="black")
    wait_until(3, process)
    end(process, number)
    seat.close()


@needs_stockfish
@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_signal_leaves_no_stockfish(number: signal.Signals) -> None:
    process = start(["arena", "stockfish,movetime=100", "stockfish,nodes=1", "--games", "4"])
    wait_until(4, process)
    end(process, number)


@needs_stockfish
def test_a_signal_to_the_whole_group_leaves_nothing() -> None:
    process = start(["arena", "stockfish,movetime=100", "stockfish,nodes=1", "--games", "4"])
    wait_until(4, process)
    os.killpg(process.pid, signal.SIGHUP)  # as a closed terminal does
    process.communicate(timeout=60)
    assert nothing_left(), left_over()


@needs_stockfish
def test_a_forked_copy_of_us_keeps_no_engine_alive() -> None:
    """It has inherited the pipe whose end the guard waits for."""
    program = find_stockfish()
    code = f"""
import os, signal, time
from rookery.engines.process import EngineProcess
engine = EngineProcess([{program!r}])
engine.send("go infinite")
if os.fork() == 0:
    os.close(1)
    time.sleep(20)
    os._exit(0)
print("started", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    process = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, timeout=60, check=False
    )
    assert process.stdout == b"started\n"
    deadline = time.monotonic() + 10
    while any("stockfish" in words and "-c" not in words for words in left_over()):
        assert time.monotonic() < deadline, left_over()
        time.sleep(0.02)
