"""Kill a training run with SIGKILL at random times and check that nothing is lost.

For example: python benchmarks/kill_loop.py RECIPE --kills 50 --set run.checkpoint_seconds=1

The run is killed, checked and resumed until --kills is reached. After every kill all checkpoints
must be valid and the newest one recent enough, and the run must resume. When the run finishes, its
weights and metrics must be bit-identical (on one core) to those of an uninterrupted run; then it
starts again.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rookery.runs.checkpoint import STATE, Checkpoints
from rookery.runs.reader import RunReader

LARGEST_LOSS = 60.0  # seconds of work


def main() -> int:
    """Run the loop and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recipe", help="name of a recipe, or a .toml file")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--iterations", type=int, default=100, help="length of the run")
    parser.add_argument("--seed", type=int, default=1, help="random seed of the kill times")
    parser.add_argument("--latest", type=float, default=20.0, help="maximum seconds per session")
    parser.add_argument("--set", action="append", default=[], dest="settings")
    parser.add_argument("--driver", help="script to run instead of the rookery command")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = kill_loop(args, Path(folder))
    print(json.dumps(result, indent=2))
    return 0


def kill_loop(args: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Kill, check, resume; compare with an uninterrupted run."""
    command = [sys.executable, *([args.driver] if args.driver else ["-m", "rookery.cli"])]
    settings = [word for text in args.settings for word in ("--set", text)]
    begin = ["train", args.recipe, "--budget", f"{args.iterations}it", "--workers", "1", *settings]
    straight, run = folder / "straight", folder / "run"
    began = time.monotonic()
    session(command, [*begin, "--run", str(straight)], straight)
    straight_seconds = time.monotonic() - began

    instants = random.Random(args.seed)
    kills = resumed = ends = 0
    worst = 0.0
    while kills < args.kills or run.exists():
        words = ["resume", str(run)] if run.exists() else [*begin, "--run", str(run)]
        life = instants.uniform(0.0, args.latest) if kills < args.kills else None
        resumed += run.exists()
        if session(command, words, run, life):
            compare(run, straight)
            shutil.rmtree(run)
            ends += 1
            continue
        kills += 1
        worst = max(worst, check(run))
        print(f"kill {kills}: at step {newest(run)}", file=sys.stderr)
    return {
        "kills": kills,
        "resumed": resumed,
        "identical_ends": ends,
        "worst_loss_seconds": round(worst, 2),
        "straight_seconds": round(straight_seconds, 1),
    }


def session(command: list[str], words: list[str], run: Path, life: float | None = None) -> bool:
    """Run a session to its end (True), or kill it after `life` seconds of work (False).

    The time starts when the session holds the lock of the run: on a busy machine most sessions
    would otherwise be killed while Python is still importing.
    """
    with subprocess.Popen(
        [*command, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        if life is not None:
            while process.poll() is None and not holds_lock(run, process.pid):
                time.sleep(0.05)
        try:
            _, errors = process.communicate(timeout=life)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            return False
    if process.returncode != 0:
        raise SystemExit(f"a session failed: {errors}")
    return True


def holds_lock(run: Path, pid: int) -> bool:
    """Whether the process holds the lock of the run."""
    try:
        return f"process {pid} " in (run / "lock").read_text()
    except OSError:
        return False


def check(run: Path) -> float:
    """Check that all checkpoints are valid; returns the seconds of work that were lost."""
    checkpoints = Checkpoints(run / "checkpoints")
    for step in checkpoints.steps():
        checkpoint = checkpoints.read(step)
        for name in checkpoint.files:
            checkpoint.read(name)
    if not checkpoints.steps():
        return 0.0
    # Work recorded after the newest checkpoint is lost.
    recorded = max((row["seconds"] for row in RunReader(run).timing()), default=0.0)
    lost = max(0.0, recorded - checkpoints.read(newest(run)).counters.seconds)
    if lost > LARGEST_LOSS:
        raise SystemExit(f"{lost:.1f} s of work were lost")
    return lost


def compare(run: Path, straight: Path) -> None:
    """Check that the killed run ended exactly like the uninterrupted one."""
    tensors = [Checkpoints(r / "checkpoints").read(newest(r)).read(STATE) for r in (run, straight)]
    if tensors[0] != tensors[1]:
        raise SystemExit("the weights differ from those of an uninterrupted run")
    if (run / "metrics.jsonl").read_bytes() != (straight / "metrics.jsonl").read_bytes():
        raise SystemExit("the metrics differ from those of an uninterrupted run")


def newest(run: Path) -> int:
    """Return the step of the newest checkpoint, 0 if there is none."""
    return max(Checkpoints(run / "checkpoints").steps(), default=0)


if __name__ == "__main__":
    sys.exit(main())
