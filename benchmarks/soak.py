"""Hours of training, playing and matches at the same time, with their memory: it must stay flat.

    python benchmarks/soak.py --seconds 28800

Three processes work without pause: a training run of the engine (tiny generations, so that it
plays, learns, gates and saves thousands of times), a web server that plays game after game with two
visitors, and an arena match. The memory (resident set) of each is measured every few seconds. It is
flat if the median of the last quarter is at most 10 % and 16 MiB above that of the second one.
Prints one JSON object with the curves; exits 1 if a process ended early or its memory grew.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from rookery import Game

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.tiny_recipes import TINY_RECIPES
from support.web_parts import Address, Client

ROOKERY = [sys.executable, "-m", "rookery.cli"]
GROWTH = 1.1
SLACK = 16.0  # MiB
POINTS = 40  # of each printed curve
VISITORS = 2


def visit(served: Address, running: Callable[[], bool], games: list[int]) -> None:
    """Play games with random moves until told to stop."""
    rng = random.Random(threading.get_ident())
    while running():
        try:
            visitor = Client(served)
            visitor.hello()
            seat = visitor.play(player="greedy-safe", color="white")
            state = seat.state()
            while running() and state["result"] == "*" and len(seat.entries) < 80:
                seat.move(rng.choice(Game(state["fen"]).legal_moves()))
                state = seat.state(
                    lambda found: (
                        found["result"] != "*"
                        or (found["turn"] == "white" and not found["thinking"])
                    )
                )
            seat.close()
            games.append(1)
        except Exception as error:
            print(f"a visitor starts again after {type(error).__name__}: {error}", file=sys.stderr)
            time.sleep(2.0)


def memory(pid: int) -> float:
    """Resident set of a process and its children, MiB; 0 if it has ended."""
    total = 0.0
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        total += sum(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0.0
    return total + sum(memory(int(child)) for child in children)


def start(folder: Path) -> tuple[dict[str, subprocess.Popen[str]], Address]:
    """Start the three processes."""
    settings = (*TINY_RECIPES["engine"].settings, "run.seed=1", "run.evaluations=0")
    words = [word for text in settings for word in ("--set", text)]
    train = ["train", "engine", "--run", str(folder / "run"), "--budget", "1000h", *words]
    match = ["arena", "rookery,nodes=300", "greedy-safe", "--games", "1000000", "--seed", "1"]
    commands = {
        "train": [*train, "--workers", "1"],
        "web": ["play", "greedy-safe", "--no-browser", "--port", "0", "--runs", str(folder)],
        "arena": [*match, "--pgn", str(folder / "games.pgn")],
    }
    processes = {}
    for name, command in commands.items():
        with (folder / f"{name}.err").open("w") as errors:
            processes[name] = subprocess.Popen(
                [*ROOKERY, *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if name == "web" else subprocess.DEVNULL,
                stderr=errors,
                text=True,
            )
    output = processes["web"].stdout
    line = output.readline() if output is not None else ""
    return processes, Address(next(word for word in line.split() if word.startswith("http")))


def judge(curve: list[float]) -> dict[str, object]:
    """Whether a curve is flat, and its points."""
    quarter = max(1, len(curve) // 4)
    early = statistics.median(curve[quarter : 2 * quarter] or curve)
    late = statistics.median(curve[-quarter:])
    step = max(1, len(curve) // POINTS)
    return {
        "flat": late <= early * GROWTH + SLACK and min(curve) > 0,
        "second_quarter_mib": round(early, 1),
        "last_quarter_mib": round(late, 1),
        "highest_mib": round(max(curve), 1),
        "curve_mib": [round(value, 1) for value in curve[::step]],
    }


def main() -> int:
    """Soak and report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--every", type=float, default=5.0, help="seconds between measurements")
    args = parser.parse_args()
    stopping = threading.Event()
    games: list[int] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        processes, served = start(folder)
        visitors = [
            threading.Thread(target=visit, args=(served, lambda: not stopping.is_set(), games))
            for _ in range(VISITORS)
        ]
        for visitor in visitors:
            visitor.start()
        curves: dict[str, list[float]] = {each: [] for each in processes}
        end = time.monotonic() + args.seconds
        while time.monotonic() < end:
            time.sleep(args.every)
            for each, process in processes.items():
                curves[each].append(memory(process.pid) if process.poll() is None else 0.0)
        stopping.set()
        for visitor in visitors:
            visitor.join(60)
        for process in processes.values():
            process.terminate()
        for process in processes.values():
            process.wait(60)
        pgn = folder / "games.pgn"
        metrics = folder / "run" / "metrics.jsonl"
        iterations = metrics.read_bytes().count(b"\n") if metrics.exists() else 0
        report = {
            "seconds": args.seconds,
            "iterations": iterations,
            "web_games": len(games),
            "arena_games": pgn.read_text().count("[Event ") if pgn.exists() else 0,
            "errors": {each: (folder / f"{each}.err").read_text()[-300:] for each in ("web",)},
            **{each: judge(curve) for each, curve in curves.items()},
        }
    print(json.dumps(report, indent=2))
    flat = all(judge(curve)["flat"] for curve in curves.values())
    return 0 if flat else 1


if __name__ == "__main__":
    sys.exit(main())
