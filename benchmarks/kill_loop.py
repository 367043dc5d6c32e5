"""Kill training runs of every algorithm with SIGKILL at random times; nothing may be lost.

    python benchmarks/kill_loop.py --kills 100                 all algorithms, in turn
    python benchmarks/kill_loop.py engine ppo --kills 20       some of them
    python benchmarks/kill_loop.py --kills 1000 --seconds 600  stop after ten minutes; go on later

Each algorithm runs its tiny recipe (tests/support/tiny_recipes.py). A run is killed, checked and
resumed until it reaches its end; then its whole state and metrics must be bit-identical to those
of an uninterrupted run, and it starts again. After every kill all checkpoints must be valid. Every
kill is a line of --journal, which a later call continues: --kills is the total over all calls.
Prints one JSON object; exits 1 with one line if anything was lost.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from rookery.base.registry import load
from rookery.runs.algorithms import ALGORITHMS
from rookery.runs.checkpoint import STATE, VALUES, Checkpoints
from rookery.runs.reader import RunReader
from support.runs import Child, run_to_end
from support.tiny_recipes import algorithms, tiny_recipe

# Checkpoints often enough that most kills hit a run that has been saved.
SETTINGS = ("run.seed=3", "run.evaluations=2", "run.checkpoint_seconds=0.05")
LARGEST_LOSS = 5.0  # seconds of work


class Loss(Exception):
    """Something was lost; the text says what."""


class Victim:
    """The run of one algorithm that is killed again and again, and its uninterrupted twin."""

    def __init__(self, algorithm: str, folder: Path) -> None:
        """Run the algorithm to its end once."""
        self.algorithm = algorithm
        self.folder = folder
        folder.mkdir()
        load(ALGORITHMS[algorithm].trainer)  # here, so that forked sessions need not import it
        tiny = tiny_recipe(algorithm, folder)
        settings = (*tiny.settings, *SETTINGS)
        self._words = ["train", tiny.recipe, "--budget", f"{tiny.iterations}it", "--workers", "1"]
        self._words += [word for text in settings for word in ("--set", text)]
        self.run, straight = folder / "run", folder / "straight"
        began = time.monotonic()
        self._finish(*self._words, "--run", str(straight))
        self.seconds = time.monotonic() - began
        self.ending = ending(straight)

    def command(self) -> tuple[str, ...]:
        """The command that continues the run."""
        if self.run.exists():
            return "resume", str(self.run)
        return *self._words, "--run", str(self.run)

    def kill(self, life: float) -> bool:
        """Kill a session after `life` seconds (True), unless the run ends before (False)."""
        child = Child(self.folder, *self.command())
        time.sleep(life)
        child.send(signal.SIGKILL)
        status = child.wait()
        if status == -signal.SIGKILL:
            return True
        if status != 0:
            raise Loss(f"{self.algorithm}: a session failed: {last_line(child.err.read_text())}")
        return False

    def finish(self) -> None:
        """Go on to the end, compare, and begin again."""
        if self.run.exists():
            self._finish(*self.command())
            self.compare()

    def _finish(self, *words: str) -> None:
        status, _, errors = run_to_end(self.folder, *words)
        if status != 0:
            raise Loss(f"{self.algorithm}: a session failed: {last_line(errors)}")

    def compare(self) -> None:
        """Check that the run ended exactly like the uninterrupted one, and remove it."""
        for name, content in ending(self.run).items():
            if content != self.ending[name]:
                raise Loss(f"{self.algorithm}: {name} differs from that of an uninterrupted run")
        shutil.rmtree(self.run)

    def check(self) -> tuple[int, float]:
        """Check that all checkpoints are valid; the newest step and the seconds of work lost."""
        checkpoints = Checkpoints(self.run / "checkpoints")
        steps = checkpoints.steps()
        for step in steps:
            checkpoint = checkpoints.read(step)
            for name in checkpoint.files:
                checkpoint.read(name)
        if not steps:
            return 0, 0.0
        # Work recorded after the newest checkpoint is lost.
        recorded = max((row["seconds"] for row in RunReader(self.run).timing()), default=0.0)
        lost = max(0.0, recorded - checkpoints.read(steps[-1]).counters.seconds)
        if lost > LARGEST_LOSS:
            raise Loss(f"{self.algorithm}: {lost:.1f} s of work were lost")
        return steps[-1], lost


def ending(run: Path) -> dict[str, bytes]:
    """The whole state at the end of a run, and its metrics."""
    checkpoints = Checkpoints(run / "checkpoints")
    newest = checkpoints.read(checkpoints.steps()[-1])
    metrics = (run / "metrics.jsonl").read_bytes()
    return {STATE: newest.read(STATE), VALUES: newest.read(VALUES), "metrics.jsonl": metrics}


def last_line(text: str) -> str:
    """The last line of some output."""
    return ([line for line in text.splitlines() if line.strip()] or ["no message"])[-1]


class Journal:
    """The kills and ends of this call and all before it."""

    def __init__(self, path: Path) -> None:
        """Read what earlier calls wrote."""
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text().splitlines() if path.exists() else []
        self.rows: list[dict[str, Any]] = [json.loads(line) for line in lines]

    def add(self, algorithm: str, **row: Any) -> None:
        """Add a line."""
        self.rows.append({"algorithm": algorithm, **row})
        with self.path.open("a") as file:
            file.write(json.dumps(self.rows[-1]) + "\n")

    def kills(self, algorithm: str | None = None) -> int:
        """Kills so far, of one algorithm or of all."""
        return sum("kill" in row for row in self.rows if algorithm in (None, row["algorithm"]))

    def summary(self) -> dict[str, Any]:
        """What the loop prints."""
        kills = Counter(row["algorithm"] for row in self.rows if "kill" in row)
        ends = Counter(row["algorithm"] for row in self.rows if "end" in row)
        return {
            "kills": kills.total(),
            "resumed": sum(row.get("resumed", False) for row in self.rows),
            "identical_ends": ends.total(),
            "worst_loss_seconds": max((row.get("lost", 0.0) for row in self.rows), default=0.0),
            "by_algorithm": {
                name: {"kills": kills[name], "identical_ends": ends[name]} for name in sorted(kills)
            },
        }


def kill_once(victim: Victim, journal: Journal, seed: int) -> None:
    """Kill a session once, or let the run end and begin again."""
    number = journal.kills(victim.algorithm) + 1
    instants = random.Random(f"{seed} {victim.algorithm} {len(journal.rows)}")
    resuming = victim.run.exists()
    if not victim.kill(instants.uniform(0.0, victim.seconds)):
        victim.compare()
        journal.add(victim.algorithm, end="identical")
        return
    step, lost = victim.check() if victim.run.exists() else (0, 0.0)
    journal.add(victim.algorithm, kill=number, resumed=resuming, step=step, lost=round(lost, 3))


def main() -> int:
    """Run the loop and print one JSON object."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("algorithms", nargs="*", help="default: all that are registered")
    parser.add_argument("--kills", type=int, default=70, help="total, with those of the journal")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--seed", type=int, default=1, help="random seed of the kill times")
    parser.add_argument("--journal", type=Path, default=Path("runs/kill_loop.jsonl"))
    args = parser.parse_args()
    names = args.algorithms or algorithms()
    for name in names:
        if name not in algorithms():
            parser.error(f"unknown algorithm {name!r}; there are {', '.join(algorithms())}")
    journal, began = Journal(args.journal), time.monotonic()
    try:
        with tempfile.TemporaryDirectory() as folder:
            victims = [Victim(name, Path(folder) / name) for name in names]
            while journal.kills() < args.kills and time.monotonic() - began < args.seconds:
                victim = min(victims, key=lambda each: journal.kills(each.algorithm))
                kill_once(victim, journal, args.seed)
                print(f"{journal.kills()} kills, {victim.algorithm}", file=sys.stderr)
            for victim in victims:
                if victim.run.exists():
                    victim.finish()
                    journal.add(victim.algorithm, end="identical")
    except Loss as loss:
        print(f"kill_loop: {loss}", file=sys.stderr)
        return 1
    print(json.dumps(journal.summary(), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
