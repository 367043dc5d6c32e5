"""Play a match between two players.

Play colour-swapped pairs of games and report the Elo difference with its 95 % interval.
A PLAYER is a name with options, such as random or stockfish,depth=1; 'rookery players' lists
them. With --pgn, the same command resumes an interrupted match.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from rookery.base.json_output import write_json
from rookery.commands._common import (
    ProgressLine,
    add_adjudication_options,
    add_board_option,
    add_cluster_option,
    add_limit_options,
    adjudication_of,
    check_numbers,
    cluster_of,
    limits_of,
)

if TYPE_CHECKING:
    from rookery.arena.game import PlayedGame
    from rookery.arena.match import MatchResult


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("first", metavar="PLAYER", help="the player whose score is reported")
    parser.add_argument("second", metavar="PLAYER", help="its opponent")
    parser.add_argument("--games", type=int, default=100, metavar="N", help="number of games")
    parser.add_argument(
        "--openings",
        default="balanced:8",
        metavar="WHAT",
        help="balanced:PLIES or random:PLIES (random moves, new for each pair; balanced: neither "
        "side is more than a pawn ahead), start, an EPD or PGN file, or FILE.pgn:PLIES",
    )
    parser.add_argument(
        "--concurrency",
        type=int,
        default=0,
        metavar="N",
        help="games at once; 0: one per core, half of that if timed",
    )
    parser.add_argument(
        "--sprt",
        type=float,
        nargs=2,
        metavar=("ELO0", "ELO1"),
        help="stop once a sequential test of ELO1 against ELO0 is decided",
    )
    parser.add_argument(
        "--sprt-model",
        default="normalized",
        choices=["normalized", "logistic"],
        help="Elo model of --sprt",
    )
    parser.add_argument("--pgn", metavar="FILE", help="write the games here; resume if it exists")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed")
    add_board_option(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_limit_options(parser)
    add_adjudication_options(parser)
    add_cluster_option(parser)


def run(args: argparse.Namespace) -> int:
    """Play and report."""
    from pathlib import Path

    from rookery.arena.match import MatchSettings, run_match
    from rookery.arena.sprt import Sprt
    from rookery.players.registry import check_player, make_player

    check_numbers(args)
    names = (check_player(args.first), check_player(args.second))
    settings = MatchSettings(
        games=args.games,
        openings=args.openings,
        board=args.board,
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

    with cluster_of(args) as pool:
        result = run_match(
            lambda: make_player(args.first),
            lambda: make_player(args.second),
            settings,
            names=names,
            progress=line.match,
            on_game=note_fault,
            pool=pool,
            specs=(args.first, args.second),
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
    """List what a reader must know before trusting the numbers."""
    tally, settings = result.tally, result.settings
    found = [f"{player} forfeited games, for example {text}" for player, text in evidence.items()]
    if tally.void:
        found.append(f"{tally.void} games are void (both players failed, or this machine stalled)")
    if tally.duplicates:
        found.append(
            f"{tally.duplicates} games are move-for-move repeats; use more or longer openings"
        )
    unpaired = tally.unpaired_games
    if unpaired and any(tally.pentanomial):
        which = "1 game counts" if unpaired == 1 else f"{unpaired} games count"
        found.append(f"{which} in the score but not in the Elo difference: the pair is incomplete")
    pairs = (settings.games + 1) // 2
    if result.opening_count is not None and 1 < result.opening_count < pairs:
        found.append(f"only {result.opening_count} openings for {pairs} pairs, so they repeat")
    if result.recovered_bytes:
        what = (
            "of an incomplete game were cut off"
            if result.damaged_copy is None
            else f"that do not belong to this match were moved to {result.damaged_copy}"
        )
        found.append(f"{settings.pgn}: {result.recovered_bytes} bytes {what}")
    return found


def match_lines(summary: dict[str, Any]) -> list[str]:
    """Format score, Elo difference and counts by colour."""
    white, black = summary["as_white"], summary["as_black"]
    high = "no bound" if summary["unbounded"] == "above" else f"{summary['elo_high']:+.1f}"
    low = "no bound" if summary["unbounded"] == "below" else f"{summary['elo_low']:+.1f}"
    return [
        f"{summary['first']} v {summary['second']}: "
        f"+{summary['wins']} ={summary['draws']} -{summary['losses']} "
        f"({summary['games']} games, score {summary['score']:.3f})",
        f"Elo difference {summary['elo']:+.1f}, 95 % interval {low} to {high}; "
        f"likelihood of superiority {100 * summary['los']:.1f} %",
        f"as White +{white['wins']} ={white['draws']} -{white['losses']}, "
        f"as Black +{black['wins']} ={black['draws']} -{black['losses']}; "
        f"pairs by points {summary['pentanomial']}",
    ]


def report(summary: dict[str, Any]) -> str:
    """Format the result as text."""
    lines = [
        *match_lines(summary),
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
