"""Measure the three claims of Lai's Giraffe (2015) at equal nodes.

    python benchmarks/giraffe_claims.py --games 400 --nodes 2000
    python benchmarks/giraffe_claims.py --network runs/giraffe --only learned-moves

Each claim is one match of colour-swapped pairs with the same search and the same number of nodes a
move, so that the speed of neither side counts:

    evaluation      the learned evaluation against the engine's material network, which also knows
                    that the centre and advanced pawns are good
    counting        the same against material alone, 1 3 3 5 9, the start of the thesis
    probability     limited by static probabilities against limited by depth alone
    reductions      the same against our own search with its tuned reductions
    learned-moves   learned move probabilities against static ones
    learned-best    the same against our own search

The games go to a PGN file for each claim in --folder; the same command resumes a match.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import torch

from rookery.algorithms.engine_learning import new_weights, nnue_network
from rookery.nets.model_file import describe, model_bytes

CLAIMS = {
    "evaluation": ("{network}", "rookery,network=material"),
    "counting": ("{network}", "{counting}"),
    "probability": ("{network},probabilities=static", "{network},probabilities=uniform"),
    "reductions": ("{network},probabilities=static", "{network}"),
    "learned-moves": ("{network},probabilities=learned", "{network},probabilities=static"),
    "learned-best": ("{network},probabilities=learned", "{network}"),
}


COUNTING = "counting.safetensors"


def counting_network(path: Path) -> None:
    """Write an `nnue` network that counts material, 100 a pawn, as core/nnue/network.cpp does.

    A pair of neurons is linear in the balance until it clips: one at 8 pawns, a coarser one at 32.
    """
    hidden, pairs = 16, ((1 / 16, 0.75), (1 / 64, 1.0))  # step of the input, output weight
    weights = new_weights(hidden, 1, torch.Generator())
    for array in weights.values():
        array[:] = 0.0
    pieces = weights["feature_weights"].reshape(2, 6, 64, hidden)  # own and theirs, type, square
    for number, (step, output) in enumerate(pairs):
        for neuron, sign in ((2 * number, 1), (2 * number + 1, -1)):
            weights["feature_bias"][neuron] = 0.5
            weights["output_weights"][0, neuron] = sign * output
            weights["output_weights"][0, hidden + neuron] = -sign * output
            for piece, worth in enumerate((1, 3, 3, 5, 9)):
                pieces[0, piece, :, neuron] = sign * step * worth
                pieces[1, piece, :, neuron] = -sign * step * worth
    network = nnue_network(weights)
    path.write_bytes(model_bytes(network, describe(network)))


def match(players: tuple[str, str], options: argparse.Namespace, pgn: Path) -> dict[str, object]:
    """Play one match; returns the object of `rookery arena --json`."""
    names = [
        f"{player.format(network=options.network, counting=options.folder / COUNTING)}"
        f",nodes={options.nodes}"
        for player in players
    ]
    command = [sys.executable, "-c", "import sys; from rookery.cli import main; sys.exit(main())"]
    command += ["arena", *names, "--games", str(options.games), "--seed", str(options.seed)]
    command += ["--json", "--pgn", str(pgn)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, object] = json.loads(done.stdout)
    return result


def main() -> None:
    """Play the matches and print a line for each."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--network", default="giraffe", help="player, run or model file")
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--nodes", type=int, default=2000, help="a move, for both sides")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(CLAIMS), help="one claim")
    parser.add_argument("--folder", type=Path, default=Path("runs/giraffe-claims"))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    counting_network(options.folder / COUNTING)
    for name in [options.only] if options.only else CLAIMS:
        result = match(CLAIMS[name], options, options.folder / f"{name}.pgn")
        print(name, json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
