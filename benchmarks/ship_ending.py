"""Make the shipped network of an endgame in half precision and verify every position.

    python benchmarks/ship_ending.py runs/kpk-mate src/rookery/networks/kpk-mate.safetensors

Rejects a network that is wrong about a single position. Prints wins and held draws over all
positions against a perfect opponent, mean moves, and (if installed) a comparison of a sample with
Syzygy tablebases, which were not used in training.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np

from rookery import Game
from rookery._core import NOT_WON, EndingStates
from rookery.algorithms.endgame import grade, truth_of
from rookery.data.tablebases import find_tablebases
from rookery.nets.endings.network import halved
from rookery.nets.endings.values import Values
from rookery.nets.model_file import load_model, save_model


def compare_with_tables(states: EndingStates, truth: Values, count: int) -> dict[str, int]:
    """Return how many of `count` random positions agree with the tablebases."""
    with find_tablebases() as tables:
        if not tables.available:
            return {}
        checked = alike = 0
        for state in np.random.default_rng(1).integers(0, len(states), count):
            game = Game(states.fen(int(state)))
            probe = None if game.outcome() is not None else tables.probe(game)
            if probe is None:
                continue
            white = probe.result if game.turn else -probe.result
            checked += 1
            alike += int((white > 0) == bool(truth[state] != NOT_WON))
    return {"positions": checked, "alike": alike}


def main() -> None:
    """Convert, verify, write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path, help="run folder or model file")
    parser.add_argument("output", type=Path, nargs="?", help="file to write; default: only verify")
    parser.add_argument(
        "--sample", type=int, default=2000, help="positions to compare with the tablebases"
    )
    args = parser.parse_args()
    source = args.run / "model.safetensors" if args.run.is_dir() else args.run
    network, info = load_model(source)
    small: Any = network if network.sizes.half_rows else halved(network)
    states = EndingStates(small.sizes.endings, small.sizes.goal)
    truth, values = (
        truth_of(states),
        small.meaning.state_distances(small.layout.state_rows(states), small.logits),
    )
    found: dict[str, Any] = dataclasses.asdict(grade(states, values, truth))
    found |= {"states": len(states), "wrong": int((values != truth).sum())}
    found["tables"] = compare_with_tables(states, truth, args.sample)
    if args.output and not found["wrong"]:
        about = dataclasses.replace(info, sizes=small.sizes.model_dump())
        save_model(args.output, small, about)
        found["bytes"] = args.output.stat().st_size
    print(json.dumps(found, indent=2))
    if args.output and found["wrong"]:
        raise SystemExit(f"{source} is wrong about {found['wrong']} positions; nothing is written")


if __name__ == "__main__":
    main()
