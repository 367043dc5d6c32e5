"""The experiment of Inman and Ezra Marin (2022), with three seeds and the network alone in play.

    python benchmarks/ddqn_paper.py --pgn carlsen.pgn.gz --out runs/ddqn-paper

Trains `ddqn-paper` in every setting below, seed by seed; each run ends with matches against
Stockfish and the hand-written evaluation. Interrupted runs continue and finished ones are skipped,
so that the script can be started again at any time. It prints the table of docs/results.md for
what is finished, and how far each network agrees with the hand-written evaluation on positions of
the last games of the PGN file; `rookery report runs/ddqn-paper/*` shows the pie charts.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rookery import Game
from rookery._core import PlainSearch, PositionEvaluator
from rookery.data.pgn import read_pgn_files
from rookery.nets.model_file import load_model
from rookery.nets.value_evaluator import conv_evaluator
from rookery.papers.inman2022.report import (
    OPPONENTS,
    SETTINGS,
    Setting,
    is_finished,
    table_rows,
)
from rookery.report.read import read_runs


def command(setting: Setting, seed: int, args: argparse.Namespace) -> list[str]:
    """The command that makes, continues or skips one run; [] if it is finished."""
    folder = args.out / f"{setting.name}-{seed}"
    rookery = [sys.executable, "-m", "rookery.cli"]
    if (folder / "checkpoints").is_dir():
        finished = is_finished(read_runs([folder])[0])
        return [] if finished else [*rookery, "resume", str(folder)]
    changes = {
        "agent.gamma": setting.gamma,
        "agent.source": setting.source,
        "agent.observation": setting.observation,
        "network.norm": str(setting.norm).lower(),
        "evaluation.games": args.games,
        "evaluation.untrained_games": 2,
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


def test_positions(pgn: Path, games: int = 100) -> list[Game]:
    """Every tenth position of the last games of a file, which no run has seen."""
    chosen = list(read_pgn_files([pgn]))[-games:]
    return [
        position.copy()
        for game in chosen
        for position, _ in game.positions()
        if position.ply % 10 == 9
    ]


def print_agreement(folders: Sequence[Path], positions: list[Game]) -> None:
    """Markdown: correlation with the hand-written evaluation, and equal moves at depth 1."""
    hand = PositionEvaluator.simplified(bounded=False)
    wanted = hand.values(positions)
    moves = [PlainSearch(hand).search(game, 1)[0][0] for game in positions[:300]]
    print("\n| run | correlation | deviation, pawns | same move |\n|---|---|---|---|")
    for folder in folders:
        if not (folder / "model.safetensors").is_file():
            continue
        network = conv_evaluator(load_model(folder / "model.safetensors")[0], bounded=False)
        values = network.values(positions)
        search = PlainSearch(network)
        chosen = [search.search(game, 1)[0][0] for game in positions[:300]]
        same = np.mean([one == two for one, two in zip(moves, chosen, strict=True)])
        correlation = np.corrcoef(values, wanted)[0, 1]
        print(f"| {folder.name} | {correlation:.2f} | {8 * values.std():.2f} | {same:.2f} |")
    print(f"| hand-written | 1 | {8 * wanted.std():.2f} | 1 |")


def main() -> None:
    """Train what is missing, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pgn", type=Path, required=True, help="games of a grandmaster")
    parser.add_argument("--out", type=Path, default=Path("runs/ddqn-paper"))
    parser.add_argument("--seeds", type=int, default=3)
    names = [setting.name for setting in SETTINGS]
    parser.add_argument("--settings", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--games", type=int, default=20, help="against each opponent, of each run")
    parser.add_argument("--episodes", type=int, default=0, help="instead of the paper's numbers")
    parser.add_argument("--table", action="store_true", help="train nothing")
    parser.add_argument("--prefix", nargs="*", default=[], help="words before each command")
    args = parser.parse_args()
    if not args.pgn.is_file():
        parser.error(f"--pgn {args.pgn}: there is no such file")
    args.out.mkdir(parents=True, exist_ok=True)
    for seed in range(1, args.seeds + 1):
        for setting in SETTINGS:
            if args.table or setting.name not in args.settings:
                continue
            words = command(setting, seed, args)
            if words:
                subprocess.run([*args.prefix, *words], check=True)
    folders = sorted(path for path in args.out.iterdir() if (path / "recipe.toml").is_file())
    if not folders:
        parser.error(f"--out {args.out}: there are no runs")
    print_table(folders)
    print_agreement(folders, test_positions(args.pgn))


if __name__ == "__main__":
    main()
