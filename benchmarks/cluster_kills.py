"""Kill nodes of a real cluster while a run trains on it; compare the run with one machine's.

    python benchmarks/cluster_kills.py engine runs/kills --minutes 10 --every 20
    python benchmarks/cluster_kills.py engine runs/kills --only compare    # on another day

A Ray cluster with several one-core nodes runs on this machine, each node with its own processes.
Every few seconds one of them is killed with SIGKILL and a new one joins. After the time is over the
run is stopped at a checkpoint; the same recipe is then trained on this machine alone up to that
iteration, and metrics, weights, optimiser, games and samples are compared byte by byte.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from rookery.runs.checkpoint import STATE, Checkpoints
from rookery.training.session import start
from support.loopback_cluster import LoopbackCluster, command_of
from support.runs import rows

LAST_ITERATION = 180  # seconds that the trainer may take to end

RECIPES = {
    "engine": (
        "engine",
        ["play.first_positions=20000", "play.most_positions=20000", "play.games=64",
         "play.nodes=[50]", "learn.hidden=[32]", "learn.positions=200000", "gate.games=80",
         "gate.pairs=20", "gate.nodes=100", "run.evaluations=0"],
    ),
    "alphazero": (
        "alphazero",
        ["selfplay.sets=4", "selfplay.games=16", "selfplay.samples=600", "tree.simulations=24",
         "tree.first_simulations=16", "selfplay.max_plies=120", "learn.minibatch=128",
         "gate.games=0", "run.evaluations=0"],
    ),
}  # fmt: skip


def main() -> int:
    """Run, kill, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recipe", choices=RECIPES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--every", type=float, default=20.0, help="seconds between two kills")
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checks", type=float, default=0.05, help="share of pieces done twice")
    parser.add_argument("--only", choices=("kill", "compare"), help="one half of it")
    args = parser.parse_args()
    found: dict[str, Any] = {}
    if args.only != "compare":
        shutil.rmtree(args.folder, ignore_errors=True)
        args.folder.mkdir(parents=True)
        found = train_and_kill(args)
    if args.only != "kill":
        found["same"] = compare(args)
    print(json.dumps(found, indent=1))
    return 0 if all(found.get("same", {}).values()) else 1


def train_and_kill(args: argparse.Namespace) -> dict[str, Any]:
    """Train on the cluster for the given time; what happened to it."""
    recipe, settings = RECIPES[args.recipe]
    words = [part for setting in settings for part in ("--set", setting)]
    words += ["--run", str(args.folder / "cluster"), "--seed", str(args.seed), "--workers", "1"]
    words += ["--budget", "100000it", "--set", f"run.cluster_checks={args.checks}"]
    rng, kills = random.Random(args.seed), 0
    with LoopbackCluster(args.nodes) as cluster:
        command = [sys.executable, "-m", "rookery.cli", "train", recipe, *words]
        trainer = subprocess.Popen([*command, "--cluster", cluster.address])
        while not rows(args.folder / "cluster") and trainer.poll() is None:
            time.sleep(0.5)  # processes start, and import torch
        began, nodes = time.monotonic(), list(cluster.nodes)
        while (seconds := time.monotonic() - began) < 60 * args.minutes and trainer.poll() is None:
            time.sleep(max(0.0, (kills + 1) * args.every - seconds))  # starting a node takes time
            cluster.kill(nodes.pop(rng.randrange(len(nodes))))
            nodes.append(cluster.add())
            kills += 1
        bridges = bridges_of(trainer.pid)
        trainer.send_signal(signal.SIGINT)
        status = trainer.wait(LAST_ITERATION)
        left = [pid for pid in bridges if "rookery.cluster.bridge" in command_of(pid)]
    timing = [
        json.loads(line)
        for line in (args.folder / "cluster" / "timing.jsonl").read_text().splitlines()
    ]
    keys = ("cluster_pieces", "cluster_retries", "cluster_copies", "cluster_checked")
    return {
        "status": status,
        "seconds": round(seconds),
        "load": round(os.getloadavg()[0], 1),
        "kills": kills,
        "iterations": timing[-1]["iteration"],
        "bridges_left": len(left),
        **{key: timing[-1][key] for key in (*keys, "cluster_disputes", "cluster_reconnections")},
    }


def bridges_of(pid: int) -> list[int]:
    """The processes that connect a trainer to its cluster."""
    words = ["pgrep", "-P", str(pid), "-f", "rookery.cluster.bridge"]
    return [int(word) for word in subprocess.run(words, capture_output=True).stdout.split()]


def compare(args: argparse.Namespace) -> dict[str, bool]:
    """Train the same iterations on this machine; which parts are the same."""
    recipe, settings = RECIPES[args.recipe]
    there, here = args.folder / "cluster", args.folder / "machine"
    step = Checkpoints(there / "checkpoints").steps()[-1]
    if step not in Checkpoints(here / "checkpoints").steps():
        start(recipe, str(here), "100000it", args.seed, 1, settings, until=step)
    states = [Checkpoints(run / "checkpoints").read(step).read(STATE) for run in (there, here)]
    rows = [(run / "metrics.jsonl").read_bytes() for run in (there, here)]
    samples = [
        {path.name: path.read_bytes() for path in (run / "replay").glob("*.*")}
        for run in (there, here)
    ]
    # Older checkpoints need older shards, and these were written at other times.
    kept = min(map(len, samples))
    newest = [{name: each[name] for name in sorted(each)[len(each) - kept :]} for each in samples]
    return {
        "state": states[0] == states[1],
        "metrics": rows[0] == rows[1] and len(rows[0]) > 0,
        "replay": newest[0] == newest[1] and kept > 0,
    }


if __name__ == "__main__":
    sys.exit(main())
