"""Measure the three claims of Lai's Giraffe (2015) at equal nodes.

    python benchmarks/giraffe_claims.py --games 400 --nodes 2000
    python benchmarks/giraffe_claims.py --network runs/giraffe --only learned-moves

Each claim is one match of colour-swapped pairs with the same search and the same number of nodes a
move, so that the speed of neither side counts:

    evaluation      the learned evaluation against material
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

CLAIMS = {
    "evaluation": ("{network}", "rookery,network=material"),
    "probability": ("{network},probabilities=static", "{network},probabilities=uniform"),
    "reductions": ("{network},probabilities=static", "{network}"),
    "learned-moves": ("{network},probabilities=learned", "{network},probabilities=static"),
    "learned-best": ("{network},probabilities=learned", "{network}"),
}


def match(players: tuple[str, str], options: argparse.Namespace, pgn: Path) -> dict[str, object]:
    """Play one match; returns the object of `rookery arena --json`."""
    names = [
        f"{player.format(network=options.network)},nodes={options.nodes}" for player in players
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
    for name in [options.only] if options.only else CLAIMS:
        result = match(CLAIMS[name], options, options.folder / f"{name}.pgn")
        print(name, json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
