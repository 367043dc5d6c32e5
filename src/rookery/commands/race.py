"""Compare all methods at equal processor time.

Train every method with the same processor time on one core, rate the checkpoints in one pool of
games for each way of playing (bare: the network alone, fixed: a fixed number of evaluations, timed:
a fixed time), test what they can do, and write one page. The same command resumes a race that was
stopped or killed. --stage and --for run it in parts; a partial race has a page, too. --join adds
what was trained and played on another machine.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from rookery.commands._common import check_numbers, print_result

if TYPE_CHECKING:
    from pathlib import Path

    from rookery.race.plan import Race, RaceSettings
    from rookery.race.pool import PoolSettings
    from rookery.race.results import Results

STAGES = ("train", "play", "skills", "check", "page")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--budget", default="30m", metavar="B", help="processor time of each run, such as 30m"
    )
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="runs of each method")
    parser.add_argument(
        "--only-seeds",
        default="",
        metavar="N,...",
        help="seeds to train now, such as 2,3; default: all",
    )
    parser.add_argument(
        "--methods",
        default="",
        metavar="A,B,...",
        help="methods to train; default: all (docs/race.md)",
    )
    parser.add_argument("--out", default="runs/race", metavar="DIR", help="folder of the race")
    parser.add_argument(
        "--stage",
        default=",".join(STAGES),
        metavar="S,...",
        help="parts to run: train, play (the pools), skills, check (against 'rookery rate'), page",
    )
    parser.add_argument(
        "--for",
        dest="limit",
        metavar="TIME",
        help="stop after this time, such as 25m; the same command continues",
    )
    parser.add_argument(
        "--ways", default="bare,fixed,timed", metavar="W,...", help="ways of playing to rate"
    )
    parser.add_argument(
        "--games",
        dest="pool_games",
        default="",
        metavar="W=N,...",
        help="approximate games of each checkpoint; default: bare=80,fixed=60,timed=16",
    )
    parser.add_argument(
        "--width", type=float, default=120.0, metavar="ELO", help="target width of the interval"
    )
    parser.add_argument(
        "--evaluations", type=int, default=400, metavar="N", help="evaluations per move of fixed"
    )
    parser.add_argument(
        "--movetime", type=float, default=0.1, metavar="S", help="seconds per move of timed"
    )
    parser.add_argument(
        "--checks", type=int, default=3, metavar="N", help="players to compare with 'rookery rate'"
    )
    parser.add_argument(
        "--set",
        metavar="METHOD:KEY=VALUE",
        action="append",
        default=[],
        dest="settings",
        help="change a recipe; repeatable",
    )
    parser.add_argument(
        "--join",
        metavar="DIR",
        action="append",
        default=[],
        help="add the complete runs and games of this race, made elsewhere; repeatable",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Run the stages that were asked for."""
    from pathlib import Path

    from rookery.training import require_extra

    check_numbers(args, seeds=1, evaluations=1, checks=0)
    stages = _words("--stage", args.stage, STAGES)
    require_extra()
    from rookery.race.plan import Race
    from rookery.race.train import Stopped

    for other in args.join:
        _join(Path(args.out), Path(other))
    race = Race.open(Path(args.out), settings_of(args))
    complete = True
    stop = _stopper(args.limit)
    try:
        for stage in (each for each in STAGES if each in stages):
            if stage != "page":
                complete = _do(stage, race, args, stop) and complete
    except Stopped:
        complete = False
    except KeyboardInterrupt:
        print("stopped; the same command continues the race", file=sys.stderr)
        raise
    return _finish(race, args, complete, "page" in stages)


def _join(out: Path, other: Path) -> None:
    from rookery.race.join import join

    added = join(out, other)
    print(f"{other}: {', '.join(added) or 'no new run'}", file=sys.stderr)


def _seeds(args: argparse.Namespace) -> list[int]:
    """The seeds to train now; none: all."""
    words = [word for word in args.only_seeds.split(",") if word]
    if not all(word.isdigit() and 1 <= int(word) <= args.seeds for word in words):
        raise ValueError(
            f"--only-seeds {args.only_seeds!r} is not a list of seeds from 1 to {args.seeds}; "
            "--seeds says how many there are"
        )
    return [int(word) for word in words]


def settings_of(args: argparse.Namespace) -> RaceSettings:
    """The race that the arguments ask for."""
    from rookery.race.methods import METHODS
    from rookery.race.plan import RaceSettings
    from rookery.training.budget import parse_budget

    seconds = parse_budget(args.budget).seconds
    if seconds is None:
        raise ValueError(f"--budget {args.budget!r} is not a time such as 30m")
    return RaceSettings(
        budget=seconds,
        seeds=args.seeds,
        methods=tuple(_words("--methods", args.methods or ",".join(METHODS), tuple(METHODS))),
        evaluations=args.evaluations,
        movetime=args.movetime,
        changes=tuple(args.settings),
    )


def _words(option: str, text: str, known: tuple[str, ...]) -> list[str]:
    """A list such as "train,play"."""
    words = [word for word in text.split(",") if word]
    for word in words:
        if word not in known:
            raise ValueError(f"{option} {word!r} is unknown; there are {', '.join(known)}")
    if not words:
        raise ValueError(f"{option} names nothing; there are {', '.join(known)}")
    return words


def _stopper(limit: str | None) -> Callable[[], bool]:
    """Whether the time of --for is over."""
    from rookery.training.budget import parse_budget

    if limit is None:
        return lambda: False
    seconds = parse_budget(limit).seconds
    if seconds is None:
        raise ValueError(f"--for {limit!r} is not a time such as 25m")
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


def _do(stage: str, race: Race, args: argparse.Namespace, stop: Callable[[], bool]) -> bool:
    """Run one stage; whether it is complete."""
    from rookery.race.check import check_some
    from rookery.race.pool import race_pool
    from rookery.race.skills import ask_all
    from rookery.race.train import train_all
    from rookery.training.view import make_view

    def report(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    if stage == "train":
        train_all(race, settings_of(args).methods, stop, report, make_view, _seeds(args))
        return True
    if stage == "skills":
        return ask_all(race, stop, report)
    if not race.entrants():
        report(f"{race.folder} has no checkpoint to play yet; train first")
        return False
    if stage == "check":
        return check_some(race, anchors(), args.checks, pool_settings(args, "fixed").games * 2,
                          stop, report)  # fmt: skip
    ways = _words("--ways", args.ways, ("bare", "fixed", "timed"))
    pools = [race_pool(race, way, anchors(), pool_settings(args, way))[0] for way in ways]
    return all([pool.play(stop, report) for pool in pools])


def pool_settings(args: argparse.Namespace, way: str) -> PoolSettings:
    """How much is played in a way."""
    from rookery.race.pool import GAMES, PoolSettings

    games = dict(GAMES)
    for word in filter(None, args.pool_games.split(",")):
        name, _, number = word.partition("=")
        if name not in games or not number.isdigit() or int(number) < 2:
            raise ValueError(f"--games {word!r} is not of the form bare=80")
        games[name] = int(number)
    if not args.width > 0:
        raise ValueError(f"--width is {args.width:g}; it must be above 0, in Elo")
    return PoolSettings(games[way], args.width)


@functools.cache
def anchors() -> dict[str, float]:
    """The rungs of the ladder that do not depend on load and whose engines are installed."""
    from rookery._core import STANDARD_BOARD
    from rookery.commands.rate import usable_rungs
    from rookery.rating.ladders import find_ladder

    rungs = usable_rungs(find_ladder(STANDARD_BOARD).rungs())
    return {rung.player: rung.elo for rung in rungs if not rung.load_dependent}


def _finish(race: Race, args: argparse.Namespace, complete: bool, page: bool) -> int:
    """Write page and results if asked, and say how it stands."""
    from rookery.base.json_output import write_json
    from rookery.race.answer import answer

    state = "" if complete else "stopped before the end; the same command continues it"
    if not page:
        result = {"folder": str(race.folder), "complete": complete}
        return print_result(args, result, f"{race.folder}: {state or 'done'}")
    results = write_page(race)
    if args.json:
        write_json({**results.to_json(), "complete": complete})
        return 0
    print(" ".join(answer(results)))
    print(f"{race.folder}/race.html: {len(results.finished)} of {results.planned} runs complete")
    if state:
        print(state)
    return 0


def write_page(race: Race) -> Results:
    """Write race.html, its charts as SVG files, and results.json."""
    import json

    from rookery.base.storage import atomic_write
    from rookery.race.page import make_page
    from rookery.race.results import gather
    from rookery.report.document import write_drawings

    results = gather(race, anchors())
    text = make_page(results)
    atomic_write(race.folder / "race.html", text)
    write_drawings(text, race.folder)
    atomic_write(race.folder / "results.json", json.dumps(results.to_json(), indent=1) + "\n")
    return results
