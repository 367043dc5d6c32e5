"""Is the best member of a population better than the hand-made recipe at equal compute?

    python benchmarks/tune_gain.py ppo runs/gain-ppo --population 4 --budget 50it --every 10 \
        --range ppo.learning_rate=2e-4..5e-3:log --range ppo.entropy=0.001..0.03:log
    python benchmarks/tune_gain.py engine runs/gain-engine --population 4 --budget 40it --every 10 \
        --range learn.learning_rate=5e-4..6e-3:log --range learn.visits=3..30:log --nodes 1000

Tunes the recipe, then trains it as it is for as much processor time as all members took together
(`run.clock = "processor"`, so other jobs do not matter), then plays the best member against it and
both against `greedy-safe`. What is done is not done again: the same command continues.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

OPPONENT = "greedy-safe"


def rookery(*words: str) -> str:
    """Run a command of Rookery and return what it prints."""
    print("rookery", *words, file=sys.stderr, flush=True)
    return subprocess.run(
        [sys.executable, "-m", "rookery.cli", *words], check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def tuned(args: argparse.Namespace) -> dict[str, Any]:
    """Tune; what `rookery tune --json` says."""
    ranges = [word for one in args.ranges for word in ("--set-range", one)]
    words = ["--population", str(args.population), "--budget", args.budget]
    words += ["--every", str(args.every), "--seed", str(args.seed), "--cluster", args.cluster]
    folder = ["--folder", str(args.folder / "tune")]
    found: dict[str, Any] = json.loads(
        rookery("tune", args.recipe, *words, *ranges, *folder, "--json")
    )
    return found


def hand_made(args: argparse.Namespace, seconds: float) -> Path:
    """The recipe as it is, trained for so many seconds of processor time."""
    run: Path = args.folder / "hand-made"
    if run.exists():
        rookery("resume", str(run))
        return run
    words = ["--budget", f"{round(seconds)}s", "--set", "run.clock=processor"]
    words += ["--seed", str(args.seed), "--workers", "1", "--run", str(run)]
    rookery("train", args.recipe, *words)
    return run


def match(args: argparse.Namespace, first: str, second: str) -> dict[str, Any]:
    """A match; what is told about it."""
    words = ["--games", str(args.games), "--seed", str(args.seed), "--concurrency", "1", "--json"]
    found = json.loads(rookery("arena", first, second, *words))
    keys = ("wins", "draws", "losses", "score", "elo", "elo_low", "elo_high")
    return {"first": first, "second": second, **{key: found[key] for key in keys}}


def main() -> None:
    """Tune, train, compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("recipe")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--population", type=int, default=4)
    parser.add_argument("--budget", default="50it", help="of each member")
    parser.add_argument("--every", type=int, default=10, help="iterations of a round")
    parser.add_argument("--range", action="append", default=[], dest="ranges")
    parser.add_argument("--nodes", type=int, help="per move in matches, for players that search")
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cluster", default="local")
    args = parser.parse_args()
    found = tuned(args)
    run = hand_made(args, found["seconds"])
    limit = f",nodes={args.nodes}" if args.nodes else ""
    best, plain = f"{found['member']}{limit}", f"{run}{limit}"
    pairs = [(best, plain), (best, OPPONENT), (plain, OPPONENT)]
    print(
        json.dumps(
            {
                "processor_seconds": found["seconds"],
                "settings": found["settings"],
                "matches": [match(args, *pair) for pair in pairs],
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
