"""Make Tables 4 to 7 of paper 003 again for any player.

    python benchmarks/kpk_tables.py kpk --positions 200
    python benchmarks/kpk_tables.py runs/kpk-paper --opponents random sunfish,nodes=200

The paper's protocol: a promotion wins, a game counts as not won after 50 moves. Table 4 is the
share of won positions, Table 5 wins from won positions, Table 6 wins from drawn ones, Table 7 the
moves to win; columns are all positions and the three levels of `data/kpk_levels.py`.
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

# A copy of Sunfish's search, and its answers kept by position.
HOW = ",native=true,remember=auto"
SUNFISH = [f"sunfish,nodes={nodes}{HOW}" for nodes in (200, 2000, 10000)]
OPPONENTS = ["random", *SUNFISH]
LEVELS = ["all", "easy", "intermediate", "hard"]
TABLES = [
    ("Table 4: won positions", "won_share", 100.0, " %"),
    ("Table 5: wins in won positions", "win_rate", 100.0, " %"),
    ("Table 6: wins in drawn positions", "drawn_win_rate", 100.0, " %"),
    ("Table 7: moves to win", "mean_moves", 1.0, ""),
]


def examine(player: str, opponent: str, level: str, positions: int, seed: int) -> dict[str, Any]:
    """The object of `rookery endgame` for one cell of the tables."""
    words = ["endgame", "KPK", player, "--json", "--against", opponent, "--goal", "promotion"]
    words += ["--positions", str(positions), "--seed", str(seed), "--max-moves", "50"]
    if level != "all":
        words += ["--level", level]
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        status = cli.main(words)
    if status:
        sys.exit(status)  # the command has said why
    found: dict[str, Any] = json.loads(output.getvalue())
    return found


def main() -> None:
    """Examine every cell, then print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("player")
    parser.add_argument("--opponents", nargs="+", default=OPPONENTS, metavar="PLAYER")
    parser.add_argument("--positions", type=int, default=200, help="of each level (200)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="file for everything that was counted")
    args = parser.parse_args()
    cells = {
        (opponent, level): examine(args.player, opponent, level, args.positions, args.seed)
        for opponent in args.opponents
        for level in LEVELS
    }
    if args.json:
        args.json.write_text(json.dumps({f"{o} {level}": c for (o, level), c in cells.items()}))
    for title, key, scale, unit in TABLES:
        print(f"\n{title}\n{'':24}" + "".join(f"{level:>14}" for level in LEVELS))
        for opponent in args.opponents:
            values = [cells[opponent, level][key] for level in LEVELS]
            texts = [
                "-" if v is None else f"{scale * v:.{0 if unit else 2}f}{unit}" for v in values
            ]
            label = opponent.removesuffix(HOW)
            print(f"{label:24}" + "".join(f"{text:>14}" for text in texts))


if __name__ == "__main__":
    main()
