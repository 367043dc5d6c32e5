"""Fuzz the UCI engine: no crash, no hang, and one bestmove for every go.

    python benchmarks/uci_fuzz.py --lines 1000000 --driver "tests/support/uci_driver.py quick"
    python benchmarks/uci_fuzz.py --lines 200000 --player rookery --seed 7
    python benchmarks/uci_fuzz.py --lines 1000000 --all

`--all` plays every kind of player in turn: each that `rookery players` names, with the options that
make it another one (a level, a tree search, a value network, a modifier), except the person.

Every session starts `rookery uci` and sends valid, invalid and absurd lines without waiting for
answers, except now and then for `readyok`. Then all searches are stopped; there must be one
`bestmove` per `go`, legal in the position of that `go`. The session ends by `quit`, by closing the
input during a search, or by closing the output; the process must exit within a second.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import random
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field

from rookery._core import Game
from rookery.players.registry import make_player, named_kinds
from rookery.uci.commands import read_go, read_position

SESSION_LINES = 20_000
HANG_SECONDS = 120.0  # silence that counts as a hang while output is expected
WAIT_SHARE = 0.1  # share of writes after which the client waits for `readyok`
END_SECONDS = 1.0  # from `quit` or the end of input or output to the end of the process
MOVES = [
    "e2e4",
    "e7e5",
    "g1f3",
    "b8c6",
    "f1b5",
    "a7a6",
    "e1g1",
    "e1h1",
    "a7a8q",
    "0000",
    "e2e5",
    "x",
]
FENS = [
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1",  # checkmate
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",  # stalemate
    "8/8/4k3/8/8/3K4/8/8 w - - 0 1",  # bare kings
    "r6r/3k4/8/8/8/8/3K4/R6R w - - 99 80",
    "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",  # 218 moves
]
NUMBERS = ["0", "1", "2", "3", "5", "-1", "-9223372036854775809", "9223372036854775808", "1e9", "x"]
NUMBERS += ["", "99999999999999999999999999", "0x10", "1_0", "nan", "\u0663"]
OPTIONS = [
    "Hash",
    "Threads",
    "MultiPV",
    "Ponder",
    "Move Overhead",
    "UCI_ShowWDL",
    "OwnBook",
    "Style",
]
OPTIONS += [
    "SyzygyPath",
    "BookFile",
    "UCI_Chess960",
    "UCI_Elo",
    "UCI_LimitStrength",
    "Level",
    "Clear Hash",
    "?",
]
# Small values only: this tests the protocol, not the cost of Hash or Threads.
EXPENSIVE = ("hash", "threads")


def fuzz_lines(rng: random.Random, count: int) -> Iterator[bytes]:
    """Yield lines without newline; none is `quit`."""
    makers: list[tuple[int, Callable[[random.Random], bytes]]] = [
        (14, _go),
        (14, _position),
        (10, _setoption),
        (10, lambda r: b"stop"),
        (6, lambda r: r.choice([b"isready", b"ponderhit", b"ucinewgame", b"d", b"debug on"])),
        (1, lambda r: r.choice([b"uci", b"register later", b""])),
        (20, _garbage),
        (25, _damaged),
    ]
    weights = [weight for weight, _ in makers]
    for _ in range(count):
        make = rng.choices(makers, weights)[0][1]
        line = make(rng).replace(b"\n", b" ")
        yield b"" if line.split()[:1] == [b"quit"] else line


def _go(rng: random.Random) -> bytes:
    words = ["go"]
    for _ in range(rng.randrange(4)):
        word = rng.choice(["infinite", "ponder", "depth", "nodes", "movetime", "wtime", "btime"])
        word = (
            word if rng.random() < 0.7 else rng.choice(["winc", "mate", "movestogo", "searchmoves"])
        )
        words.append(word)
        if word == "searchmoves":
            words += rng.choices(MOVES, k=rng.randrange(4))
        elif word not in ("infinite", "ponder"):
            words.append(rng.choice(NUMBERS))
    if rng.random() < 0.02:
        words += ["perft", rng.choice(["1", "2", "3", "60"])]
    return " ".join(words).encode()


def _position(rng: random.Random) -> bytes:
    words = ["position", *(["startpos"] if rng.random() < 0.5 else ["fen", rng.choice(FENS)])]
    if rng.random() < 0.5:
        words.append("moves")
        if rng.random() < 0.5:
            words += MOVES[: rng.randrange(8)]
        else:
            words += rng.choices(MOVES, k=rng.randrange(6))
    return " ".join(words).encode()


def _setoption(rng: random.Random) -> bytes:
    name = rng.choice(OPTIONS)
    value = rng.choice([*NUMBERS, "true", "false", "<empty>", "/nowhere", "\x00"])
    if name.lower() in EXPENSIVE:
        value = rng.choice(["1", "-16", "x"])
    return f"setoption name {name} value {value}".encode()


def _garbage(rng: random.Random) -> bytes:
    size = rng.randrange(200_000) if rng.random() < 0.0005 else rng.randrange(1, 60)
    return rng.randbytes(size)


def _damaged(rng: random.Random) -> bytes:
    """Add, remove or change a byte or word of a valid line."""
    line = bytearray(rng.choice([_go, _position, _setoption])(rng))
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(line))
        kind = rng.randrange(4)
        if kind == 0:
            line[at] = rng.randrange(256)
        elif kind == 1:
            del line[at]
        elif kind == 2:
            line[at:at] = b" " + rng.choice(MOVES).encode() + b" "
        else:
            line[at:] = b""
        if not line:
            break
    return bytes(line) if b"Hash" not in line and b"Threads" not in line else b"stop"


@dataclass
class Report:
    """The result of one or more sessions."""

    lines: int = 0
    searches: int = 0
    best_moves: int = 0
    sessions: int = 0
    seconds: float = 0.0
    slowest_end: float = 0.0  # seconds from the end of a session to the end of the process
    problems: list[str] = field(default_factory=list)

    def add(self, other: Report) -> None:
        """Add another report to this one."""
        self.lines += other.lines
        self.searches += other.searches
        self.best_moves += other.best_moves
        self.sessions += other.sessions
        self.seconds += other.seconds
        self.slowest_end = max(self.slowest_end, other.slowest_end)
        self.problems += other.problems


class Model:
    """The client's view: the position of each `go`."""

    def __init__(self) -> None:
        """Start with the initial position."""
        self.game = Game()
        self.chess960 = False
        self.asked: list[Game] = []

    def sent(self, line: bytes) -> None:
        """Process one line."""
        words = line.decode("utf-8", "replace").split()
        if words[:1] == ["position"]:
            with contextlib.suppress(ValueError):
                self.game = read_position(words[1:], self.chess960)
        elif words[:1] == ["go"] and read_go(words[1:])[0].perft is None:
            self.asked.append(self.game)
        elif [word.lower() for word in words[:4]] == ["setoption", "name", "uci_chess960", "value"]:
            value = " ".join(words[4:]).lower()
            if words[0] == "setoption" and value in ("true", "false"):
                self.chess960 = value == "true"


class Client:
    """A running engine; a thread collects its output."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start it."""
        self.process = subprocess.Popen(
            list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.best_moves: list[str] = []
        self.ready = 0
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith((b"bestmove", b"readyok")):
                with self._news:
                    if line.startswith(b"readyok"):
                        self.ready += 1
                    else:
                        self.best_moves.append(line.split()[1].decode())
                    self._news.notify_all()

    def send(self, *lines: bytes) -> None:
        """Write lines."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(line + b"\n" for line in lines))
        self.process.stdin.flush()

    def wait(self, done: Callable[[], bool]) -> bool:
        """Wait until `done`; returns False after a hang."""
        with self._news:
            return self._news.wait_for(done, HANG_SECONDS)

    def join(self) -> None:
        """Wait for the rest of the output."""
        self._reader.join(HANG_SECONDS)


def session(command: Sequence[str], lines: int, seed: int) -> Report:
    """Run one engine process from start to end."""
    rng = random.Random(seed)
    report = Report(sessions=1)
    began = time.monotonic()
    client, model = Client(command), Model()
    ready = 0
    try:
        for burst in _bursts(fuzz_lines(rng, lines), rng):
            client.send(*burst)
            report.lines += len(burst)
            for line in burst:
                model.sent(line)
                ready += line.split() == [b"isready"]
            if rng.random() < WAIT_SHARE:
                client.send(b"isready")
                ready += 1
                if not client.wait(lambda expected=ready: client.ready >= expected):  # type: ignore[misc]
                    raise TimeoutError(f"no readyok number {ready}")
        client.send(b"stop", b"isready")
        if not client.wait(lambda: client.ready > ready):
            raise TimeoutError("no last readyok")
        _end(client, model, rng, report)
    except (TimeoutError, BrokenPipeError) as error:
        report.problems.append(f"seed {seed}, line {report.lines}: {error!r}")
    finally:
        client.process.kill()
    report.searches, report.best_moves = len(model.asked), len(client.best_moves)
    report.problems += [f"seed {seed}: {text}" for text in compare(model, client.best_moves)]
    report.seconds = time.monotonic() - began
    return report


def _bursts(lines: Iterator[bytes], rng: random.Random) -> Iterator[list[bytes]]:
    """Group lines into writes: single lines, or many at once."""
    while burst := list(itertools.islice(lines, rng.choice([1, 3, 30, 300]))):
        yield burst


def _end(client: Client, model: Model, rng: random.Random, report: Report) -> None:
    """End the session in one of the ways that clients do."""
    process = client.process
    assert process.stdin is not None
    way = rng.choice(["quit", "quit in a search", "end of input in a search"])
    if way != "quit":
        client.send(b"go infinite")
        model.asked.append(model.game)
    began = time.monotonic()
    if way.startswith("quit"):
        client.send(b"quit")
    else:
        process.stdin.close()
    try:
        status = process.wait(HANG_SECONDS)
    except subprocess.TimeoutExpired:
        report.problems.append(f"does not end after {way}")
        return
    report.slowest_end = time.monotonic() - began
    client.join()
    assert process.stderr is not None
    errors = process.stderr.read().decode("utf-8", "replace")
    if status or errors:
        report.problems.append(f"status {status} after {way}: {errors[-500:]}")


def compare(model: Model, best_moves: Sequence[str]) -> Iterator[str]:
    """Yield the errors in the answers."""
    if len(best_moves) != len(model.asked):
        yield f"{len(best_moves)} bestmove for {len(model.asked)} go"
        return
    for number, (game, move) in enumerate(zip(model.asked, best_moves, strict=True)):
        over = game.outcome() is not None
        if (move != "(none)") if over else not game.is_legal(move):
            yield f"bestmove {move} of go number {number} in {game.fen()!r}"


# Besides the names: the same programs with options that make them another kind of player.
VARIANTS = [
    "rookery,level=3",
    "rookery,network=material",
    "rookery,threads=2",
    "alphazero,simulations=0",
    "alphazero,gumbel=8",
    "ppo,simulations=30",
    "greedy,random=0.3",
    "rookery,nodes=50,book=auto",
    "sunfish,nodes=200,native=true",
]
NOT_FUZZED = ("human",)  # reads the standard input that belongs to UCI
# A program behind a player cannot be stopped: without a limit of its own it would search as long as
# the absurd limits of the fuzz allow.
BOUNDED = {
    **{name: f"{name},nodes=100" for name in ("stockfish", "fairy-stockfish")},
    "sunfish": "sunfish,nodes=5",
    **{name: f"{name},movetime=0.002" for name in ("gnuchess", "phalanx", "hoichess", "fairymax")},
}
# Programs, and others of which a search takes milliseconds, get a tenth of the lines.
SLOW = (*BOUNDED, "uci", "solver")


def all_players() -> list[str]:
    """Every kind of player that starts here; the others are named on standard error."""
    engine = [sys.executable, "-m", "rookery.cli", "uci", "random"]
    found = []
    for name in [*(kind.name for kind in named_kinds()), *VARIANTS]:
        player = BOUNDED.get(name, name)
        player = f"uci,command={shlex.join(engine)}" if name == "uci" else player
        try:
            if name not in NOT_FUZZED:
                make_player(player).close()
                found.append(player)
        except (ValueError, OSError, ImportError) as error:
            print(f"without {name}: {error}", file=sys.stderr)
    return found


def main() -> int:
    """Run sessions until the lines are used up."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--player", action="append", help="player, repeatable; default: greedy-safe and random"
    )
    parser.add_argument("--all", action="store_true", help="every kind of player in turn")
    parser.add_argument("--session", type=int, default=SESSION_LINES, help="lines of a session")
    parser.add_argument(
        "--driver",
        help="additional engine command, such as tests/support/uci_driver.py quick",
    )
    args = parser.parse_args()
    rookery = [sys.executable, "-m", "rookery.cli", "uci"]
    players = args.player or (all_players() if args.all else ["greedy-safe", "random"])
    commands = [[*rookery, player] for player in players]
    if args.driver:
        commands.append([sys.executable, *shlex.split(args.driver)])
    total, number = Report(), 0
    while total.lines < args.lines and not total.problems:
        command = commands[number % len(commands)]
        slow = command[-1].partition(",")[0] in SLOW
        size = min(args.session // (10 if slow else 1), args.lines - total.lines)
        total.add(session(command, size, args.seed + number))
        number += 1
        print(
            f"{total.lines} lines, {total.searches} searches, {total.seconds:.0f} s, {command[-1]}",
            file=sys.stderr,
        )
    print(json.dumps({"players": len(commands), **asdict(total)}, indent=2))
    return 1 if total.problems or total.slowest_end > END_SECONDS else 0


if __name__ == "__main__":
    sys.exit(main())
