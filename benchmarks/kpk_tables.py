"""Reproduce Tables 4 to 7 of Kanis 2016 for any player.

    python benchmarks/kpk_tables.py kpk --positions 200
    python benchmarks/kpk_tables.py runs/kpk-paper --opponents random sunfish,nodes=200

The paper's protocol: a promotion wins; a game counts as not won after 50 moves, and neither
repetitions nor the fifty-move rule end it earlier. Table 4 is the share of won positions, Table 5
wins from won positions, Table 6 wins from drawn ones, Table 7 the moves to win; columns are the
levels of `data/kpk_levels.py`. The sample of each level has about `--positions` won positions.
Errors are two standard errors.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

from rookery import cli

# The native copy of Sunfish, with its answers cached by position.
HOW = ",native=true,remember=auto"
SUNFISH = [f"sunfish,nodes={nodes}{HOW}" for nodes in (200, 2000, 10000)]
OPPONENTS = ["random", *SUNFISH]
LEVELS = {"all": 0.73, "easy": 0.98, "intermediate": 0.74, "hard": 0.40}  # won share (Table 4)
TABLES = [
    ("Table 4: won positions", "won_share", "positions"),
    ("Table 5: wins in won positions", "win_rate", "won_positions"),
    ("Table 6: wins in drawn positions", "drawn_win_rate", "drawn_positions"),
    ("Table 7: moves to win", "mean_moves", ""),
]


def examine(player: str, opponent: str, level: str, positions: int, seed: int) -> dict[str, Any]:
    """Return the object of `rookery endgame` for one cell, on about `positions` won positions."""
    count = round(positions / LEVELS[level])
    words = ["endgame", "KPK", player, "--json", "--against", opponent, "--goal", "promotion"]
    words += ["--positions", str(count), "--seed", str(seed), "--max-moves", "50"]
    words += ["--level", level, "--no-history"]
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        status = cli.main(words)
    if status:
        sys.exit(status)  # the command has printed the reason
    found: dict[str, Any] = json.loads(output.getvalue())
    return found


def main() -> None:
    """Test every cell, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("player")
    parser.add_argument("--opponents", nargs="+", default=OPPONENTS, metavar="PLAYER")
    parser.add_argument(
        "--positions", type=int, default=200, help="approximate won positions per level"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="file for all counts")
    args = parser.parse_args()
    cells = {
        (opponent, level): examine(args.player, opponent, level, args.positions, args.seed)
        for opponent in args.opponents
        for level in LEVELS
    }
    if args.json:
        args.json.write_text(json.dumps({f"{o} {level}": c for (o, level), c in cells.items()}))
    for title, key, count in TABLES:
        print(f"\n{title}\n{'':24}" + "".join(f"{level:>16}" for level in LEVELS))
        for opponent in args.opponents:
            texts = [text_of(cells[opponent, level], key, count) for level in LEVELS]
            label = opponent.removesuffix(HOW)
            print(f"{label:24}" + "".join(f"{text:>16}" for text in texts))


def text_of(cell: dict[str, Any], key: str, count: str) -> str:
    """Format a share of `count` in per cent with two standard errors, or a mean."""
    value = cell[key]
    if value is None:
        return "-"
    if not count:
        return f"{value:.2f}"
    error = 2 * (value * (1 - value) / cell[count]) ** 0.5
    return f"{100 * value:.1f} ± {100 * error:.1f} %"


if __name__ == "__main__":
    main()
