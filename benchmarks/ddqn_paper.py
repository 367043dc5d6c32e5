"""The experiment of Inman and Ezra Marin (2022), with three seeds and the network alone in play.

    python benchmarks/ddqn_paper.py --pgn carlsen.pgn.gz --out runs/ddqn-paper

Trains `ddqn-paper` in every setting below, seed by seed; each run ends with matches against
Stockfish and the hand-written evaluation. Interrupted runs continue and finished ones are skipped,
so that the script can be started again at any time. It prints the table of docs/results.md for
what is finished; `rookery report runs/ddqn-paper/*` shows the pie charts.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rookery.papers.inman2022.report import OPPONENTS, SETTINGS, Setting, table_rows
from rookery.report.read import read_runs


def command(setting: Setting, seed: int, args: argparse.Namespace) -> list[str]:
    """The command that makes, continues or skips one run; [] if it is finished."""
    folder = args.out / f"{setting.name}-{seed}"
    rookery = [sys.executable, "-m", "rookery.cli"]
    if (folder / "checkpoints").is_dir():
        finished = len(read_runs([folder])[0].evaluations) >= len(OPPONENTS)
        return [] if finished else [*rookery, "resume", str(folder)]
    changes = {
        "agent.gamma": setting.gamma,
        "agent.source": setting.source,
        "agent.observation": setting.observation,
        "network.norm": str(setting.norm).lower(),
        "evaluation.games": args.games,
        "evaluation.opponents": "[" + ", ".join(f'"{each}"' for each in OPPONENTS) + "]",
    }
    if setting.source != "self-play":
        changes["data.pgn"] = f'["{args.pgn}"]'
    sets = [word for key, value in changes.items() for word in ("--set", f"{key}={value}")]
    budget = f"{args.episodes or setting.episodes}it"
    where = ["--run", str(folder), "--seed", str(seed), "--budget", budget]
    return [*rookery, "train", "ddqn-paper", *where, *sets]


def print_table(folders: Sequence[Path]) -> None:
    """Markdown of all finished runs."""
    heads = ["setting", "runs", *OPPONENTS]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for row in table_rows(read_runs(list(folders))):
        print(f"| {' | '.join(row)} |")


def main() -> None:
    """Train what is missing, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pgn", type=Path, required=True, help="games of a grandmaster")
    parser.add_argument("--out", type=Path, default=Path("runs/ddqn-paper"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--games", type=int, default=20, help="against each opponent, of each run")
    parser.add_argument("--episodes", type=int, default=0, help="instead of the paper's numbers")
    parser.add_argument("--prefix", nargs="*", default=[], help="words before each command")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for seed in range(1, args.seeds + 1):
        for setting in SETTINGS:
            words = command(setting, seed, args)
            if words:
                subprocess.run([*args.prefix, *words], check=True)
    print_table(sorted(path for path in args.out.iterdir() if (path / "recipe.toml").is_file()))


if __name__ == "__main__":
    main()
