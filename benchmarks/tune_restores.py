"""Does Ray Tune's PopulationBasedTraining restore exactly, and the same way twice?

For decision 135.

    python benchmarks/tune_restores.py

A member's state is a chain of hashes of its settings, so every state names its whole history. Tune
trains such members with our ranges; afterwards each exploit is compared with what the donor had
reported, and runs with the same seed are compared with each other. Steps take a random time, as
iterations on a real machine do. A tuning that is not over after --seconds is stopped; what it has
reported by then counts.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import random
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

SEED = 1


def member(config: dict[str, Any]) -> None:
    """A trainable whose state is its history."""
    from ray import tune

    state, step = "begin", 0
    found = tune.get_checkpoint()
    if found is not None:
        with found.as_directory() as folder:
            stored = json.loads(Path(folder, "state.json").read_text())
            state, step = stored["state"], stored["step"]
    restored = state
    while step < config["steps"]:
        time.sleep(random.uniform(0.0, config["pause"]))
        text = f"{state}/{config['rate']!r}"
        state, step = hashlib.sha256(text.encode()).hexdigest()[:16], step + 1
        score = int(state[:4], 16) / 65536 + step  # as good as random, and growing
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "state.json").write_text(json.dumps({"state": state, "step": step}))
            tune.report(
                {"score": score, "state": state, "step": step, "restored": restored},
                checkpoint=tune.Checkpoint.from_directory(folder),
            )
        restored = ""


def run(args: argparse.Namespace, synchronous: bool, folder: str) -> dict[str, Any]:
    """One tuning; its history of states."""
    from ray import tune
    from ray.tune.schedulers import PopulationBasedTraining

    random.seed(SEED)
    np.random.seed(SEED)  # Tune draws from the global generators
    name = f"pbt-{time.time_ns()}"
    scheduler = PopulationBasedTraining(
        time_attr="step",
        perturbation_interval=2,
        hyperparam_mutations={"rate": tune.loguniform(1e-5, 1e-3)},
        synch=synchronous,
    )
    tuner = tune.Tuner(
        tune.with_resources(member, {"cpu": 1}),
        param_space={"rate": tune.loguniform(1e-5, 1e-3), "steps": args.steps, "pause": 0.2},
        tune_config=tune.TuneConfig(
            num_samples=args.population,
            metric="score",
            mode="max",
            scheduler=scheduler,
            time_budget_s=args.seconds,
        ),
        run_config=tune.RunConfig(storage_path=folder, name=name, verbose=0),
    )
    began = time.monotonic()
    tuner.fit()
    members = [
        [json.loads(line) for line in path.read_text().splitlines()]
        for path in sorted(Path(folder, name).glob("*/result.json"))
    ]
    reported = {row["state"] for rows in members for row in rows}
    restored = [row["restored"] for rows in members for row in rows]
    restored = [state for state in restored if state not in ("", "begin")]
    ended = [rows[-1]["step"] == args.steps for rows in members if rows]
    return {
        "seconds": round(time.monotonic() - began),
        "ended": len(ended) == args.population and all(ended),
        "exploits": len(restored),
        "restored_a_reported_state": sum(state in reported for state in restored),
        "finals": sorted(rows[-1]["state"] for rows in members if rows),
    }


def main() -> None:
    """Compare runs with the same seed."""
    import ray

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2, help="of each kind, with the same seed")
    parser.add_argument("--population", type=int, default=3)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--seconds", type=int, default=150, help="limit of one tuning")
    args = parser.parse_args()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        for synchronous in (False, True):
            found = [run(args, synchronous, folder) for _ in range(args.runs)]
            summary = {
                "synchronous": synchronous,
                "seconds": [each["seconds"] for each in found],
                "ended": [each["ended"] for each in found],
                "exploits": [each["exploits"] for each in found],
                "exact": [each["restored_a_reported_state"] for each in found],
                "different_outcomes": len({json.dumps(each["finals"]) for each in found}),
            }
            print(json.dumps(summary), flush=True)


if __name__ == "__main__":
    main()
