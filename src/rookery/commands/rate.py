"""Rate players against a ladder of known opponents.

Climb the ladder (random, greedy-safe, Stockfish at depth 1 mixed with random moves, Stockfish by
Skill Level, then by nodes) until the player is bracketed from above and below, then play on
until the 95 % interval is narrow enough. Then the outside scale: the same player against
independent engines with published ratings. Other boards have ladders of their own, relative to
greedy-safe on that board.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rookery.base.json_output import write_json
from rookery.commands._common import (
    ProgressLine,
    add_board_option,
    add_cluster_option,
    add_limit_options,
    check_numbers,
    cluster_of,
    limits_of,
    print_result,
    ready_player,
)
from rookery.rating.report import report, short_rating

if TYPE_CHECKING:
    from rookery.cluster.pool import Pool
    from rookery.rating.batches import BatchFile
    from rookery.rating.ladder import PlayerRating
    from rookery.rating.ladders import Ladder
    from rookery.rating.rungs import Rung


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("players", metavar="PLAYER", nargs="*", help="player to rate")
    parser.add_argument(
        "--games", type=int, default=400, metavar="N", help="maximum number of games"
    )
    parser.add_argument(
        "--width", type=float, default=90.0, metavar="ELO", help="target width of the interval"
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=20.0,
        metavar="M",
        help="time limit of a rating, at most half of it for the ladder; 0: none",
    )
    parser.add_argument(
        "--no-outside",
        action="store_true",
        help="do not play the engines of the outside scale",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed")
    parser.add_argument(
        "--concurrency",
        type=int,
        default=0,
        metavar="N",
        help="games at once; 0: one per core, 1 if timed",
    )
    parser.add_argument(
        "--openings",
        metavar="WHAT",
        help="as for 'rookery arena'; default: random:6, or random:4 on other boards",
    )
    add_board_option(parser)
    parser.add_argument(
        "--start", metavar="RUNG", help="first opponent, see --ladder; default: a cheap, weak one"
    )
    parser.add_argument(
        "--checkpoints", action="store_true", help="rate every checkpoint of the run folders"
    )
    parser.add_argument(
        "--journal", metavar="FILE", help="keep results in FILE; the same command resumes from it"
    )
    parser.add_argument("--ladder", action="store_true", help="print the rungs and their ratings")
    parser.add_argument(
        "--calibrate", metavar="FILE", help="play the rungs against each other and write FILE"
    )
    parser.add_argument(
        "--rungs",
        metavar="FILE",
        help="a ladder that --calibrate wrote, instead of the shipped one",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_limit_options(parser)
    add_cluster_option(parser)


def run(args: argparse.Namespace) -> int:
    """Rate players, print the ladder, or calibrate it."""
    check_numbers(args)
    if not 0 < args.width < float("inf"):
        raise ValueError(f"--width is {args.width:g}; it must be above 0, in Elo")
    if not 0 <= args.minutes < float("inf"):
        raise ValueError(f"--minutes is {args.minutes:g}; it must be 0 (no limit) or more")
    if args.calibrate:
        return calibrate(args)
    if args.ladder:
        return show_ladder(args)
    if not args.players:
        raise ValueError("name a player to rate, for example: rookery rate greedy-safe")

    players = expand(args.players, args.checkpoints)
    for player in players:
        ready_player(player)  # fail before hours of games, not after them
    objects = []
    with cluster_of(args) as pool:
        for player in players:
            objects.append(rate_one(args, player, pool))
            if not args.json:
                print(report(objects[-1]), flush=True)
    if args.json:
        write_json(objects[0] if len(objects) == 1 else {"ratings": objects})
    return 0


def expand(players: list[str], checkpoints: bool) -> list[str]:
    """Replace run folders by their checkpoints if `checkpoints` is set."""
    if not checkpoints:
        return players
    from rookery.rating.runs import checkpoint_players

    found = [entry for player in players for entry in checkpoint_players(player)]
    if found == players:
        raise ValueError(f"--checkpoints: {players[0]!r} is not a run folder, such as runs/ppo")
    return found


def rate_one(args: argparse.Namespace, player: str, pool: Pool | None = None) -> dict[str, Any]:
    """Rate one player on both scales; with a `pool`, rungs without a clock use a cluster."""
    from pathlib import Path

    from rookery.players.registry import check_player
    from rookery.rating.batches import BatchFile
    from rookery.rating.runs import record_rating

    name = check_player(player)
    began = time.monotonic()
    line = ProgressLine(f"{name}: ")
    latest: dict[str, Any] = {}
    batches = BatchFile(Path(args.journal)) if args.journal else None
    try:
        rating = climb_ladder(args, player, line, latest, batches, pool)
        found = rating.to_json()
        left = 60 * args.minutes - (time.monotonic() - began) if args.minutes else None
        found.update(climb_outside(args, player, rating, left, line, batches))
    except KeyboardInterrupt:
        line.clear()
        if latest and not args.json:
            print(f"so far, {report(latest)}", flush=True)
        if not args.journal:
            print("note: with --journal FILE an interrupted rating goes on later", file=sys.stderr)
        raise
    line.clear()
    record_rating(player, found)
    return found


def climb_ladder(
    args: argparse.Namespace,
    player: str,
    line: ProgressLine,
    latest: dict[str, Any],
    batches: BatchFile | None,
    pool: Pool | None,
) -> PlayerRating:
    """Rate a player on the ladder of the board; `latest` gets the rating so far."""
    from rookery.players.registry import make_player
    from rookery.players.spec import parse_spec
    from rookery.rating.ladder import Climb, LadderSettings
    from rookery.rating.outside import slow_start, stated_seconds

    ladder = ladder_of(args)
    rungs = usable_rungs(ladder.rungs())
    expected = stated_seconds(player, limits_of(args))
    start = args.start or slow_start(expected) or LadderSettings.start
    if args.start and args.start not in {rung.player for rung in rungs}:
        known = ", ".join(rung.player for rung in rungs)
        raise ValueError(f"--start {args.start!r} is not a rung of the ladder; there are {known}")

    def show(rating: PlayerRating) -> None:
        latest.update(rating.to_json())
        games = sum(standing.games for standing in rating.standings)
        line.write(f"{games} games, {short_rating(rating)}")

    climb = Climb(
        str(parse_spec(player)),
        lambda: make_player(player),
        rungs,
        lambda opponent: lambda: make_player(opponent),
        LadderSettings(
            games=args.games,
            width=args.width,
            openings=args.openings or ladder.openings,
            seed=args.seed,
            concurrency=args.concurrency,
            limits=limits_of(args),
            start=start,
            board=ladder.board,
            scale=ladder.scale,
            seconds=30 * args.minutes or None,
            expected_seconds=expected or 0.0,
        ),
        show,
        batches,
        pool,
        player,
    )
    return climb.run()


def climb_outside(
    args: argparse.Namespace,
    player: str,
    rating: PlayerRating,
    left: float | None,
    line: ProgressLine,
    batches: BatchFile | None,
) -> dict[str, Any]:
    """Rate a player on the outside scale for the time that is `left`, or say why not."""
    from rookery.players.registry import make_player
    from rookery.rating.outside import outside_rungs, rate_outside, seconds_of, why_not

    reason = "--no-outside" if args.no_outside else why_not(rating)
    rungs = []
    if not reason:
        wanted = outside_rungs(player, seconds_of(player, rating.settings.limits))
        rungs = usable_rungs(wanted)
        reason = "" if rungs else "none of its engines is installed"
    if reason:
        return {"outside": None, "outside_skipped": reason}

    def show(outside: PlayerRating) -> None:
        games = sum(standing.games for standing in outside.standings)
        line.write(f"outside: {games} games, {short_rating(outside)}")

    found = rate_outside(
        rating.player,
        lambda: make_player(player),
        rungs,
        lambda opponent: lambda: make_player(opponent),
        rating,
        left,
        show,
        batches,
    )
    return {"outside": found.to_json(), "outside_skipped": ""}


def ladder_of(args: argparse.Namespace) -> Ladder:
    """Return the ladder of --board, with the games of --rungs if that is given."""
    from pathlib import Path

    from rookery.rating.ladders import find_ladder

    path = None if args.rungs is None else Path(args.rungs)
    if path is not None and not path.is_file():
        raise ValueError(f"--rungs: there is no file {args.rungs!r}; --calibrate writes one")
    return find_ladder(args.board, path)


def usable_rungs(rungs: Sequence[Rung]) -> list[Rung]:
    """Return the rungs whose engines are installed, with a warning about the others."""
    from rookery.players.spec import parse_spec

    problems: dict[str, str] = {}  # by program: starting it once is enough
    usable = []
    for rung in rungs:
        program = parse_spec(rung.player).name
        if program not in problems:
            try:
                ready_player(rung.player)
                problems[program] = ""
            except ValueError as error:
                problems[program] = str(error)
        if not problems[program]:
            usable.append(rung)
    for text in filter(None, problems.values()):
        print(f"rookery: warning: rungs skipped: {text}", file=sys.stderr)
    return usable


def show_ladder(args: argparse.Namespace) -> int:
    """Print the rungs of both scales."""
    from rookery._core import STANDARD_BOARD
    from rookery.rating.outside import PUBLISHED, SOURCE

    ladder = ladder_of(args)
    rungs = ladder.rungs()
    lines = []
    for rung in rungs:
        how = ladder.anchored if rung.published else f"+-{rung.error:.0f}"
        lines.append(f"{rung.elo:6.0f}  {rung.player:40}{how:12}{'timed' * rung.load_dependent}")
    result: dict[str, Any] = {
        "board": ladder.board,
        "scale": ladder.scale,
        "rungs": [vars(rung) for rung in rungs],
    }
    lines.append(f"scale: {ladder.scale}")
    if ladder.board == STANDARD_BOARD:
        outside = [{"player": name, "elo": elo} for name, (elo, _) in PUBLISHED.items()]
        result |= {"outside": outside, "outside_scale": SOURCE}
        lines += [f"{row['elo']:6.0f}  {row['player']:40}published   timed" for row in outside]
        lines.append(f"outside scale: {SOURCE}")
    return print_result(args, result, "\n".join(lines))


def calibrate(args: argparse.Namespace) -> int:
    """Play the rungs against each other and write the results."""
    from pathlib import Path

    from rookery.arena.match import MatchSettings, run_match
    from rookery.players.registry import make_player
    from rookery.rating.ladders import find_ladder
    from rookery.rating.rating import Encounter
    from rookery.rating.rungs import load_conditions, load_encounters, save_encounters

    path = Path(args.calibrate)
    if path.is_dir():
        raise ValueError(f"--calibrate {args.calibrate!r} is a folder; name a file")
    only = set(args.players)
    ladder = find_ladder(args.board, path)
    openings = args.openings or ladder.openings
    pairs = [
        (number, pair) for number, pair in enumerate(ladder.pairs) if not only or set(pair) <= only
    ]
    if not pairs:
        raise ValueError(
            f"--calibrate: no two of {', '.join(args.players)} are rungs that meet; "
            "name neighbours on the ladder (--ladder), or no player for all of them"
        )
    known = {(e.first, e.second): e for e in load_encounters(path, ladder.board)}
    before = load_conditions(path)
    for number, (first, second) in pairs:
        if known.get((first, second)) and known[first, second].games >= args.games:
            continue
        for player in (first, second):
            ready_player(player)
        timed = "movetime" in first + second
        result = run_match(
            lambda first=first: make_player(first),  # type: ignore[misc]
            lambda second=second: make_player(second),  # type: ignore[misc]
            MatchSettings(
                games=args.games,
                openings=openings,
                board=ladder.board,
                seed=args.seed + number,
                concurrency=args.concurrency or (1 if timed else 0),
            ),
            names=(first, second),
        )
        if result.interrupted:
            raise KeyboardInterrupt
        tally = result.tally
        known[first, second] = Encounter(
            first, second, tally.count("wins"), tally.count("draws"), tally.count("losses")
        )
        print(f"{first} v {second}: {known[first, second]}", file=sys.stderr)
        conditions = f"openings {openings}, seed {args.seed}, {args.games} games a pair"
        if before and conditions not in before:
            conditions = f"{before}; later pairs: {conditions}"
        told = before if conditions in before else conditions
        save_encounters(known.values(), told, path, ladder.board)
    if args.json:
        write_json({"file": str(path), "pairs": len(known)})
    return 0
