"""`rookery arena`: play a match between two players and say what it proves."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from rookery.base.json_output import write_json
from rookery.commands._match_options import (
    ProgressLine,
    add_adjudication_options,
    add_limit_options,
    adjudication_of,
    check_numbers,
    limits_of,
)

if TYPE_CHECKING:
    from rookery.arena.game import PlayedGame
    from rookery.arena.match import MatchResult

HELP = "play a match between two players"
DESCRIPTION = (
    "Play colour-swapped pairs of games and report the Elo difference with its "
    "95 % interval. A PLAYER is a name with options, such as random or stockfish,depth=1; "
    "'rookery players' lists them. With --pgn an interrupted match is continued."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("first", metavar="PLAYER", help="results are from this player's view")
    parser.add_argument("second", metavar="PLAYER", help="its opponent")
    parser.add_argument("--games", type=int, default=100, metavar="N", help="games (100)")
    parser.add_argument(
        "--openings",
        default="balanced:8",
        metavar="WHAT",
        help="balanced:PLIES or random:PLIES (drawn once a pair; balanced: no side is more than a "
        "pawn ahead), start, an EPD or PGN file, or FILE.pgn:PLIES (balanced:8)",
    )
    parser.add_argument(
        "--concurrency",
        type=int,
        default=0,
        metavar="N",
        help="games at once (cores; half if timed)",
    )
    parser.add_argument(
        "--sprt", type=float, nargs=2, metavar=("ELO0", "ELO1"), help="stop when this is decided"
    )
    parser.add_argument(
        "--sprt-model",
        default="normalized",
        choices=["normalized", "logistic"],
        help="Elo of --sprt",
    )
    parser.add_argument("--pgn", metavar="FILE", help="write the games; continue if it exists")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed (0)")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    add_limit_options(parser)
    add_adjudication_options(parser)


def run(args: argparse.Namespace) -> int:
    """Play and report."""
    from pathlib import Path

    from rookery.arena.match import MatchSettings, run_match
    from rookery.arena.sprt import Sprt
    from rookery.players.registry import check_player, make_player

    check_numbers(args)
    names = (check_player(args.first), check_player(args.second))  # who cannot start forfeits
    settings = MatchSettings(
        games=args.games,
        openings=args.openings,
        seed=args.seed,
        concurrency=1 if any(name.startswith("human") for name in names) else args.concurrency,
        limits=limits_of(args),
        adjudication=adjudication_of(args),
        sprt=Sprt(args.sprt[0], args.sprt[1], model=args.sprt_model) if args.sprt else None,
        pgn=Path(args.pgn) if args.pgn else None,
    )
    line = ProgressLine()
    evidence: dict[str, str] = {}

    def note_fault(record: PlayedGame) -> None:
        if record.fault is not None and not record.void:
            culprit = record.white if record.fault.white else record.black
            evidence.setdefault(culprit, f"{record.fault.kind}: {record.fault.evidence}")

    result = run_match(
        lambda: make_player(args.first),
        lambda: make_player(args.second),
        settings,
        names=names,
        progress=line.match,
        on_game=note_fault,
    )
    line.clear()
    summary = result.to_json()
    summary["fault_examples"] = evidence
    for text in warnings(result, evidence):
        print(f"rookery: warning: {text}", file=sys.stderr)
    if args.json:
        write_json(summary)
    else:
        print(report(summary))
    return 130 if result.interrupted else 0


def warnings(result: MatchResult, evidence: dict[str, str]) -> list[str]:
    """What a reader must know before trusting the numbers."""
    tally, settings = result.tally, result.settings
    found = [
        f"{player} lost by its own fault, for example {text}" for player, text in evidence.items()
    ]
    if tally.void:
        found.append(f"{tally.void} games are void (both players or this machine at fault)")
    if tally.duplicates:
        found.append(
            f"{tally.duplicates} games repeat another move for move: use more or longer openings"
        )
    unpaired = tally.unpaired_games
    if unpaired and any(tally.pentanomial):
        which = "1 game counts" if unpaired == 1 else f"{unpaired} games count"
        found.append(f"{which} in the score but, without a partner, not in the Elo difference")
    pairs = (settings.games + 1) // 2
    if result.opening_count is not None and 1 < result.opening_count < pairs:
        found.append(f"only {result.opening_count} openings for {pairs} pairs: they repeat")
    if result.recovered_bytes:
        what = (
            "of a torn game were cut off"
            if result.damaged_copy is None
            else f"were no game of this match and cut off; they are kept in {result.damaged_copy}"
        )
        found.append(f"{settings.pgn}: {result.recovered_bytes} bytes {what}")
    return found


def report(summary: dict[str, Any]) -> str:
    """The result for people."""
    white, black = summary["as_white"], summary["as_black"]
    high = "no bound" if summary["unbounded"] == "above" else f"{summary['elo_high']:+.1f}"
    low = "no bound" if summary["unbounded"] == "below" else f"{summary['elo_low']:+.1f}"
    lines = [
        f"{summary['first']} v {summary['second']}: "
        f"+{summary['wins']} ={summary['draws']} -{summary['losses']} "
        f"({summary['games']} games, score {summary['score']:.3f})",
        f"Elo difference {summary['elo']:+.1f}, 95 % interval {low} to {high}; "
        f"likelihood of superiority {100 * summary['los']:.1f} %",
        f"as White +{white['wins']} ={white['draws']} -{white['losses']}, "
        f"as Black +{black['wins']} ={black['draws']} -{black['losses']}; "
        f"pairs by points {summary['pentanomial']}",
        f"openings {summary['openings']}, limits {summary['limits']}, seed {summary['seed']}, "
        f"{summary['seconds']:.1f} s",
        "ended by " + ", ".join(f"{why} {count}" for why, count in summary["reasons"].items()),
    ]
    if "sprt" in summary:
        test = summary["sprt"]
        lines.append(
            f"SPRT {test['model']} [{test['elo0']:g}, {test['elo1']:g}]: LLR {test['llr']:.2f} "
            f"({test['lower']:.2f}, {test['upper']:.2f}): {test['decision']}"
        )
    return "\n".join(lines)
