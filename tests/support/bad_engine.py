"""A UCI engine that misbehaves on purpose: `python bad_engine.py MISBEHAVIOUR [LOG]`.

It starts fast: the position is kept as text, and python-chess is imported only when the first legal
move is due. Every line that it receives is appended to LOG.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    import chess

MODE = sys.argv[1] if len(sys.argv) > 1 else "honest"
LOG = sys.argv[2] if len(sys.argv) > 2 else ""


def raw(data: bytes) -> None:
    """Write bytes without any buffer."""
    os.write(1, data)


def say(text: str) -> None:
    """Write a line."""
    raw(text.encode() + (b"\r" if MODE == "carriage-returns" else b"\n"))


def sleep_forever() -> NoReturn:
    """Do nothing until killed."""
    while True:
        time.sleep(3600)


def board_of(position: str) -> chess.Board:
    """Set up the position of a `position fen` command."""
    import chess

    fen, _, moves = position.partition(" moves ")
    board = chess.Board(fen.removeprefix("position fen "))
    for move in moves.split():
        board.push_uci(move)
    return board


def legal_move(position: str) -> str:
    """Return the alphabetically first legal move."""
    return min(move.uci() for move in board_of(position).legal_moves)


def opponents_move(position: str) -> str:
    """Return a move of the side that is not to move."""
    import chess

    board = board_of(position)
    board.push(chess.Move.null())
    return next(iter(board.legal_moves)).uci()


def spawn_children(new_session: bool) -> None:
    """Start processes that outlive the engine unless they are ended with it."""
    for _ in range(2):
        subprocess.Popen(["sleep", "600"], start_new_session=new_session)


def spawn_daemon() -> None:
    """Start a process that has left parent, group, session and environment."""
    mark = os.environ.get("ROOKERY_TEST_RUN", "0")  # by which the test finds it
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for stream in range(3):
                os.close(stream)
            os.execve("/bin/sleep", ["sleep", f"600.{mark}"], {})
        os._exit(0)
    os.wait()


def start() -> None:
    """Misbehave before the first command."""
    if MODE.startswith("daemon"):
        spawn_daemon()
    if MODE == "daemon-and-exit":
        sys.exit(3)
    if MODE == "exit-at-start":
        sys.exit(3)
    if MODE == "ignores-signals":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if MODE == "grandchildren":
        spawn_children(new_session=False)
    if MODE == "escaped-grandchildren":
        spawn_children(new_session=True)
    if MODE == "closes-stdin":
        os.close(0)
        sleep_forever()
    if MODE == "chatter-before-uci":
        say("I am an engine. Hello!\n\nCopyright nobody; version 1")


def answer_uci() -> None:
    """Answer `uci`."""
    if MODE == "no-uciok":
        say("id name Bad")
        sleep_forever()
    if MODE == "flood-at-uci":
        while True:
            raw(b"info string hello\n" * 4096)
    say("id name Bad " + MODE)
    say("option name UCI_Chess960 type check default false")
    if MODE == "malformed-options":
        say("option name")
        say("option name Hash type spin default min max")
        say("option")
    say("uciok")


def answer_ready() -> None:
    """Answer `isready`."""
    if MODE == "no-readyok":
        sleep_forever()
    if MODE == "crash-at-ready":
        os.kill(os.getpid(), signal.SIGSEGV)
    say("readyok")


def answer_go(position: str, go_count: int) -> None:
    """Answer `go`: the misbehaviours of a search, one branch each."""
    if MODE == "crash-on-go":
        print("assertion failed: everything", file=sys.stderr, flush=True)
        os.abort()
    elif MODE == "crash-later" and go_count == 3:
        os._exit(7)
    elif MODE in ("hang", "daemon-and-hang"):
        sleep_forever()
    elif MODE == "busy-hang":
        while True:
            pass
    elif MODE == "closes-stdout":
        os.close(1)
        sleep_forever()
    elif MODE == "slow":
        time.sleep(0.45)
        say("bestmove " + legal_move(position))
    elif MODE == "trickle":
        raw(b"bestmove")
        while True:
            raw(b" ")
            time.sleep(0.02)
    elif MODE == "endless-line":
        while True:
            raw(b"x" * 65536)
    elif MODE == "flood-stdout":
        while True:
            raw(b"info depth 1 score cp 1 pv e2e4\n" * 2048)
    elif MODE == "flood-stderr":
        while True:
            os.write(2, b"error: the sky is falling\n" * 2048)
    elif MODE == "invalid-utf8":
        raw(b"info string \xff\xfe\xc3\x28 \x80\n\xff\xff\xff\n")
        say("bestmove " + legal_move(position))
    elif MODE == "invalid-utf8-move":
        raw(b"bestmove \xff\xfe\x00\x01\n")
    elif MODE == "illegal":
        say("bestmove a1h8")
    elif MODE == "null-move":
        say("bestmove 0000")
    elif MODE == "none-move":
        say("bestmove (none)")
    elif MODE == "empty-move":
        say("bestmove")
    elif MODE == "garbage-move":
        say("bestmove zzzz; rm -rf / #")
    elif MODE == "san-move":
        say("bestmove Nf3")
    elif MODE == "upper-case":
        say("bestmove " + legal_move(position).upper())
    elif MODE == "opponents-move":
        say("bestmove " + opponents_move(position))
    elif MODE == "stale-move":
        # The move of the very first position, every time.
        global first_answer
        first_answer = first_answer or legal_move(position)
        say("bestmove " + first_answer)
    elif MODE == "two-bestmoves":
        say("bestmove " + legal_move(position))
        say("bestmove h1h8")
    elif MODE == "late-second-bestmove":
        say("bestmove " + legal_move(position))
        time.sleep(0.01)
        say("bestmove a8a1")
    elif MODE == "exit-after-bestmove":
        say("bestmove " + legal_move(position))
        sys.exit(0)
    elif MODE == "eats-memory":
        hoard = []
        try:
            while True:
                hoard.append(bytearray(64 << 20))
        except MemoryError:
            os._exit(1)
    elif MODE == "malformed-info":
        for text in ("info depth", "info score cp", "info score mate x pv", "info multipv", "info"):
            say(text)
        say("info depth 99999999999999999999 nodes -5 score cp nan")
        say("bestmove " + legal_move(position) + " ponder")
    elif MODE == "escape-codes":
        say("info string \x1b[2J\x1b]0;owned\x07")
        say("bestmove \x1b[31m")
    elif MODE == "huge-move":
        say("bestmove " + "e2e4" * 50000)
    else:
        say("bestmove " + legal_move(position))


first_answer = ""


def main() -> None:
    """Answer commands until `quit`."""
    start()
    position = "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    go_count = 0
    for line in sys.stdin:
        words = line.split()
        if LOG:
            with open(LOG, "a") as stream:
                stream.write(line)
        if not words:
            continue
        if words[0] == "uci":
            answer_uci()
        elif words[0] == "isready":
            answer_ready()
        elif words[0] == "position":
            position = line.strip()
        elif words[0] == "go":
            go_count += 1
            answer_go(position, go_count)
        elif words[0] == "quit":
            if MODE in ("ignores-quit", "ignores-signals"):
                sleep_forever()
            return
    if MODE in ("ignores-quit", "ignores-signals"):
        sleep_forever()  # nor does it end when its input does


if __name__ == "__main__":
    main()
