"""Sizes that cannot be had: one clear error, what was there stays, and never a crash.

Each case runs in a process of its own whose address space is limited.
"""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

LIMIT = 4 << 30  # bytes of address space
TOO_MUCH = 18079  # MiB; allowed by every range, but more than the limit

BEFORE = """
import resource
import numpy as np
from rookery import _core
from rookery._core import Game

def attempt(work):
    try:
        work()
        print("done")
    except (MemoryError, ValueError) as error:
        print(f"{type(error).__name__}: {error}")

def arrays():
    shapes = (768, 16), (16,), (8, 32), (8,)
    return tuple(np.full(shape, 0.01, np.float32) for shape in shapes)

def leave_only(mebibytes):  # of address space
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (mebibytes << 20),) * 2)

network = _core.NnueNetwork.material()
"""

# Code -> the lines that it prints.
CASES = {
    "hash": (
        f"engine = _core.Engine(network, 1, 16)\n"
        f"attempt(lambda: engine.set_hash({TOO_MUCH}))\n"
        f"print(engine.search(Game(), depth=6).depth)",
        [
            f"MemoryError: there is no memory for a hash table of {TOO_MUCH} MiB; "
            "a hash table of 16 MiB stays in use",
            "6",
        ],
    ),
    "hash of a new engine": (
        f"attempt(lambda: _core.Engine(network, 1, {TOO_MUCH}))",
        [f"MemoryError: there is no memory for a hash table of {TOO_MUCH} MiB"],
    ),
    "threads": (
        "engine = _core.Engine(network, 1, 16)\n"
        "leave_only(100)\n"
        "attempt(lambda: engine.set_threads(256))\n"
        "print(engine.search(Game(), depth=6).depth)",
        ["MemoryError: there is no memory for 255 more threads", "6"],
    ),
    "threads that do not start": (
        "engine = _core.Engine(network, 200, 16)\n"
        "leave_only(100)\n"
        "print(engine.search(Game(), depth=6).depth)",
        ["6"],
    ),
    "perft": (
        f"attempt(lambda: _core.PerftTable({TOO_MUCH}))",
        [f"MemoryError: there is no memory for a perft table of {TOO_MUCH} MB"],
    ),
    "tree": (
        f"attempt(lambda: _core.MctsSearch('', megabytes={TOO_MUCH}))",
        [f"MemoryError: there is no memory for a search tree of {TOO_MUCH} MB"],
    ),
    "evaluation cache": (
        f"attempt(lambda: _core.MctsSearch('', cache_megabytes={TOO_MUCH}))\n"
        "attempt(lambda: _core.MctsSearch('', cache_megabytes=2**45))",
        [
            f"MemoryError: there is no memory for an evaluation cache of {TOO_MUCH} MB",
            f"ValueError: option cache_megabytes is {2**45}; it must be in 0 .. 65536",
        ],
    ),
    "simulations of a Gumbel search by the clock": (
        "search = _core.MctsSearch('', gumbel_actions=16)\n"
        "search.set_game(Game())\n"
        "search.begin(2**31 - 1)\n"
        "attempt(lambda: search.run(_core.HashEvaluator(), 1, 0.01))\n"
        "print(search.simulations > 0)",
        ["done", "True"],
    ),
    "vector games": (
        "attempt(lambda: _core.VectorGames(10_000_000))\n"
        "attempt(lambda: _core.VectorGames(2**31 - 1))",
        [
            "MemoryError: there is no memory for 10000000 games",
            "MemoryError: there is no memory for 2147483647 games",
        ],
    ),
    "threads of vector games": (
        "leave_only(100)\nattempt(lambda: _core.VectorGames(1000, threads=256))",
        ["done"],
    ),
    "self-play": (
        "attempt(lambda: _core.SelfPlay(65536))\n"
        "attempt(lambda: _core.SelfPlay(1, simulations=2**31 - 1))",
        [
            "MemoryError: there is no memory for the trees of 65536 games",
            "ValueError: simulations must be in 1 .. 10000000",
        ],
    ),
    "engines of a data generator": (
        "attempt(lambda: _core.DataGenerator(arrays(), 1, threads=100_000))",
        ["MemoryError: there is no memory for the engines of 100000 threads"],
    ),
    "threads of a data generator": (
        "generator = _core.DataGenerator(arrays(), 1, soft_nodes=20, max_plies=10, threads=200)\n"
        "leave_only(100)\n"
        "print(generator.run(0, 300).games)",
        ["300"],
    ),
    "games of a data generator and of a match": (
        "attempt(lambda: _core.DataGenerator(arrays(), 1).run(0, 2**62))\n"
        "attempt(lambda: _core.NetworkMatch(arrays(), 'random', 1).run(0, 2**62))",
        [
            f"MemoryError: there is no memory for {2**62} games at once",
            f"MemoryError: there is no memory for {2**62} pairs of games at once",
        ],
    ),
}


def limit_memory() -> None:
    """Limit the address space of this process."""
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))


def limited(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """Run Python in a limited address space."""
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        preexec_fn=limit_memory,
    )


@pytest.mark.parametrize("name", CASES)
def test_what_cannot_be_had_is_one_error(name: str) -> None:
    code, lines = CASES[name]
    done = limited(["-c", BEFORE + code])
    assert (done.returncode, done.stdout.splitlines()) == (0, lines), done.stderr


@pytest.mark.parametrize("player", ["rookery", "alphazero"])
def test_a_hash_over_uci_that_cannot_be_had(player: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "rookery.cli", "uci", player],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=limit_memory,
    ) as engine:
        assert engine.stdin and engine.stdout
        commands = ["uci", f"setoption name Hash value {TOO_MUCH}", "isready"]
        commands += ["position startpos", "go depth 6 nodes 500", ""]
        engine.stdin.write("\n".join(commands))
        engine.stdin.flush()
        lines = []
        for line in engine.stdout:
            lines.append(line.rstrip())
            if line.startswith("bestmove"):
                break
        engine.stdin.write("quit\n")
    assert engine.returncode == 0
    errors = [line for line in lines if line.startswith("info string error")]
    assert len(errors) == 1 and "there is no memory for a" in errors[0]
    assert lines.index(errors[0]) < lines.index("readyok")
    assert lines[-1].startswith("bestmove ") and "(none)" not in lines[-1]


def test_commands_name_what_cannot_be_had() -> None:
    done = limited(["-m", "rookery.cli", "arena", "rookery,hash=100000", "random", "--games", "2"])
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "rookery: error: player 'rookery,hash=100000': "
        "there is no memory for a hash table of 100000 MiB"
    ]
