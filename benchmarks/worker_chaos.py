"""Kill the self-play processes of a training run again and again; the run must not notice.

    python benchmarks/worker_chaos.py --seconds 3600 --every 30

Trains AlphaZero with a prediction server (`selfplay.processes`) for a number of iterations that
takes about --seconds alone, and kills one of its processes with SIGKILL every --every seconds. The
same iterations are run undisturbed at the same time: whole state and metrics must be bit-identical,
and no process may be left. Prints one JSON object; exits 1 with one line if anything differs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kill_loop import ending

TRIAL = 50  # iterations, of which those of the trained run are estimated
SETTINGS = (
    "tree.first_simulations=8", "tree.simulations=8", "selfplay.games=32", "selfplay.samples=400",
    "selfplay.max_plies=80", "replay.window=4000", "replay.first_window=1000", "gate.games=0",
    "network.squares.width=32", "network.squares.key_width=16", "learn.minibatch=128",
    "run.seed=5", "run.evaluations=0",
)  # fmt: skip


def command(run: Path, iterations: int, processes: int) -> list[str]:
    """The command that trains."""
    settings = (*SETTINGS, f"selfplay.processes={processes}")
    words = [word for text in settings for word in ("--set", text)]
    return [
        sys.executable, "-m", "rookery.cli", "train", "alphazero", "--workers", "1",
        "--run", str(run), "--budget", f"{iterations}it", *words,
    ]  # fmt: skip


def workers(pid: int) -> list[int]:
    """The self-play processes of a trainer."""
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        try:
            if b"server_worker" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(int(child))
        except OSError:
            continue
    return found


def train(words: list[str], every: float = 0.0, seed: int = 0) -> tuple[int, float]:
    """Train to the end; kills made, and seconds taken."""
    rng, began, kills = random.Random(seed), time.monotonic(), 0
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as trainer:
        due = began + every
        while trainer.poll() is None:
            time.sleep(0.1)
            if every and time.monotonic() >= due and (found := workers(trainer.pid)):
                os.kill(rng.choice(found), signal.SIGKILL)
                kills, due = kills + 1, time.monotonic() + every
    if trainer.returncode != 0:
        raise SystemExit(f"worker_chaos: the trainer ended with status {trainer.returncode}")
    return kills, time.monotonic() - began


def left_over() -> int:
    """Self-play processes whose trainer is gone."""
    count = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            parent = int((path.parent / "stat").read_text().rpartition(")")[2].split()[1])
            count += b"server_worker" in path.read_bytes() and parent == 1
        except OSError:
            continue
    return count


def main() -> int:
    """Compare a run under fire with an undisturbed one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=120.0, help="about how long to train")
    parser.add_argument("--every", type=float, default=30.0, help="seconds between kills")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1, help="of the choice of victims")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trial = Path(folder) / "trial"
        _, seconds = train(command(trial, TRIAL, args.processes))
        iterations = max(TRIAL, round(TRIAL * args.seconds / seconds))
        fire, calm = Path(folder) / "fire", Path(folder) / "calm"
        with ThreadPoolExecutor() as pool:
            undisturbed = pool.submit(train, command(calm, iterations, args.processes))
            kills, long = train(command(fire, iterations, args.processes), args.every, args.seed)
            _, short = undisturbed.result()
        restarts = (fire / "log.txt").read_text().count("the processes start again")
        different = [name for name, data in ending(calm).items() if ending(fire)[name] != data]
    report = {
        "iterations": iterations,
        "kills": kills,
        "restarts": restarts,
        "seconds_under_fire": round(long, 1),
        "seconds_undisturbed": round(short, 1),
        "different": different,
        "processes_left": left_over(),
    }
    print(json.dumps(report, indent=2))
    return 1 if different or report["processes_left"] else 0


if __name__ == "__main__":
    sys.exit(main())
