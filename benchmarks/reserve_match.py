"""What the reserve for late moves costs on an idle machine: our engine with and without it.

    python benchmarks/reserve_match.py --games 400 --tc 1+0.01

Both are `rookery uci` in a process of their own; one plans with the whole clock. Let nothing else
run. Prints the match of the engine with the reserve as JSON.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from pathlib import Path

from rookery._core import Game
from rookery.cli import main as rookery
from rookery.players import lateness
from rookery.players.base import Limits


def without_reserve(self: lateness.Lateness, game: Game, limits: Limits) -> lateness.Clock | None:
    """The clock as it is."""
    return lateness.Clock.of(game, limits)


def main() -> int:
    """Play the match, or be the engine without the reserve."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--tc", default="1+0.01")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without-reserve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.without_reserve:
        lateness.Lateness.begin = without_reserve  # type: ignore[method-assign]
        return rookery(["uci"])
    with_it = shlex.join([sys.executable, "-m", "rookery.cli", "uci"])
    without = shlex.join([sys.executable, str(Path(__file__).resolve()), "--without-reserve"])
    words = [
        sys.executable, "-m", "rookery.cli", "arena",
        f"uci,command={with_it}", f"uci,command={without}", "--games", str(args.games),
        "--tc", args.tc, "--seed", str(args.seed), "--concurrency", "1", "--json",
    ]  # fmt: skip
    return subprocess.run(words, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
