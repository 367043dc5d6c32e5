"""Options, checks and output that several commands share."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rookery.base.json_output import write_json

if TYPE_CHECKING:
    from rookery.arena.limits import Adjudication, MatchLimits
    from rookery.arena.match import MatchResult
    from rookery.cluster.pool import Pool
    from rookery.players.base import Player

T = TypeVar("T")
TOO_MUCH = 1e18  # seconds or nodes; also excludes infinity
# Advice for engine faults that would recur in every game.
WAYS_OUT = {
    "missing": "name a program that runs",
    "option": "change this option or leave it out",
}


def ready_player(text: str) -> str:
    """Check that a player starts, including its external engines; returns its normal form.

    An engine that is missing or rejects its options would forfeit every game, which would look
    like a result. Other failures to start may be transient and are ignored.
    """
    from rookery.engines.faults import EngineFault
    from rookery.players.programs.uci_engine import UciPlayer
    from rookery.players.programs.xboard_engine import XboardPlayer
    from rookery.players.registry import make_player
    from rookery.players.spec import parse_spec

    player = make_player(text)
    try:
        for part in _parts(player):
            if isinstance(part, UciPlayer | XboardPlayer):  # others start no program
                part.new_game()
    except EngineFault as fault:
        if fault.kind in WAYS_OUT:
            raise ValueError(f"player {text!r}: {fault.evidence}; {WAYS_OUT[fault.kind]}") from None
    finally:
        player.close()
    return str(parse_spec(text))


def _parts(player: Player) -> Iterator[Player]:
    """Yield a player and the players that it wraps (book, cache, tablebase)."""
    from rookery.players.base import capabilities_of

    yield player
    for part in capabilities_of(player).parts:
        yield from _parts(part)


def check_numbers(args: argparse.Namespace, **least: int) -> None:
    """Reject options below their minimum: the common ones, and those given as `least`."""
    for name, low in {"games": 1, "seed": 0, "concurrency": 0, **least}.items():
        value = vars(args).get(name)
        if value is not None and value < low:
            option = name.replace("_", "-")
            raise ValueError(f"--{option} is {value}; it must be {low} or more")


def output_file(option: str, text: str, suffix: str) -> Path:
    """Return the path of a file to write; refuse before the work what could not be written."""
    path = Path(text)
    folder = str(path.parent)
    if path.suffix != suffix:
        raise ValueError(f"--{option} {text!r} must end in {suffix}")
    if not path.parent.is_dir():
        raise ValueError(f"--{option} {text!r}: there is no folder {folder!r}; make it first")
    if not os.access(path.parent, os.W_OK):
        raise ValueError(f"--{option} {text!r}: the folder {folder!r} cannot be written to")
    return path


def add_cluster_option(
    parser: argparse.ArgumentParser, what: str = "play on a Ray cluster at fixed nodes"
) -> None:
    """Add the cluster; the help says `what` is done on it."""
    parser.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help=f"{what}: auto, local or HOST:PORT (docs/cluster.md)",
    )


@contextlib.contextmanager
def cluster_of(args: argparse.Namespace) -> Iterator[Pool | None]:
    """Connect to the cluster of --cluster; None without it."""
    if not args.cluster:
        yield None
        return
    from rookery.cluster.pool import Pool

    with Pool(args.cluster, lambda text: print(f"rookery: {text}", file=sys.stderr)) as pool:
        pool.wait_for_nodes()
        yield pool


def add_board_option(parser: argparse.ArgumentParser, default: str | None = "standard") -> None:
    """Add --board."""
    parser.add_argument(
        "--board",
        default=default,
        metavar="NAME",
        help="4x4, 4x5, gardner (5x5), losalamos (6x6), standard, or a start FEN with rules, such "
        "as 'rqkr/pppp/4/4/PPPP/RQKR w - - 0 1; double-step; promote=qr'",
    )


def add_limit_options(parser: argparse.ArgumentParser) -> None:
    """Add the clock and the limits per move."""
    group = parser.add_argument_group(
        "limits (a player's own, as in stockfish,depth=1, take precedence)"
    )
    group.add_argument("--tc", metavar="S+I", help="clock in seconds + increment, such as 10+0.1")
    group.add_argument("--movetime", type=float, metavar="S", help="seconds per move")
    group.add_argument("--nodes", type=int, metavar="N", help="nodes per move")
    group.add_argument("--depth", type=int, metavar="N", help="search depth in plies")
    group.add_argument("--simulations", type=int, metavar="N", help="MCTS simulations per move")
    group.add_argument(
        "--margin", type=float, default=0.05, metavar="S", help="seconds a move may be late"
    )


def add_adjudication_options(parser: argparse.ArgumentParser) -> None:
    """Add ways to end games early, all off by default."""
    group = parser.add_argument_group("adjudication (off by default)")
    group.add_argument(
        "--resign",
        type=float,
        metavar="V",
        help="resign when both players agree on a value of +-V (0 to 1) for 4 moves",
    )
    group.add_argument(
        "--draw",
        type=float,
        metavar="V",
        help="draw when both values stay within V for 8 moves after move 40",
    )
    group.add_argument(
        "--max-plies", type=int, default=0, metavar="N", help="draw after N plies; 0: never"
    )
    group.add_argument("--tablebase", action="store_true", help="adjudicate by the tablebases")


def limits_of(args: argparse.Namespace) -> MatchLimits:
    """Build the limits from the parsed options."""
    from rookery.arena.limits import SEARCH_LIMITS, MatchLimits, parse_time_control

    limits: dict[str, Any] = {name: vars(args)[name] for name in SEARCH_LIMITS}
    for name, value in limits.items():
        if value is not None and not 0 < value < TOO_MUCH:  # rejects NaN as well
            raise ValueError(f"--{name} is {value}; it must be above 0 and below {TOO_MUCH:g}")
    if not 0 <= args.margin < TOO_MUCH:
        raise ValueError(f"--margin is {args.margin:g}; it must be 0 or more, below {TOO_MUCH:g}")
    return MatchLimits(
        time_control=parse_time_control(args.tc) if args.tc else None, margin=args.margin, **limits
    )


def adjudication_of(args: argparse.Namespace) -> Adjudication:
    """Build the adjudication rules from the parsed options."""
    from rookery.arena.limits import Adjudication

    for name, value in (("resign", args.resign), ("draw", args.draw)):
        if value is not None and not 0 <= value <= 1:
            raise ValueError(f"--{name} is {value:g}; values are from 0 to 1")
    check_numbers(args, max_plies=0)
    return Adjudication(
        resign_value=args.resign,
        draw_value=args.draw,
        max_plies=args.max_plies,
        tablebase=args.tablebase,
    )


def add_exam_options(parser: argparse.ArgumentParser, limit: str) -> None:
    """Add the options of exams on single positions; `limit` is the help of --limit."""
    parser.add_argument("--limit", type=int, metavar="N", help=limit)
    parser.add_argument("--concurrency", type=int, default=1, metavar="N", help="threads")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed")


def exam_player(args: argparse.Namespace) -> str:
    """Check the options and return the normal form of the player to examine."""
    check_numbers(args, limit=1, settled=0)
    name = ready_player(args.player)
    if args.tc:
        raise ValueError("exams have no clock; use --movetime, --nodes or --depth instead of --tc")
    return name


def sit_exam(
    args: argparse.Namespace, name: str, exam: Callable[..., list[T]], tasks: list[Any], *more: Any
) -> list[T]:
    """Run an exam of `rookery.exams` on all tasks and return the player's answers."""
    from rookery.players.registry import make_player

    line = ProgressLine(f"{name}: ")
    answers = exam(
        lambda: make_player(args.player),
        tasks,
        limits_of(args).for_move(None, None),
        args.seed,
        args.concurrency,
        lambda done: line.write(f"{done}/{len(tasks)}"),
        *more,
    )
    line.clear()
    return answers


def print_result(args: argparse.Namespace, result: Mapping[str, object], text: str) -> int:
    """Print the result as JSON with --json, otherwise as text; returns exit status 0."""
    if args.json:
        write_json(result)
    else:
        print(text)
    return 0


class ProgressLine:
    """A status line on standard error that overwrites itself; silent without a terminal."""

    def __init__(self, prefix: str = "") -> None:
        """Put `prefix` before every text."""
        self._prefix = prefix
        self._terminal = sys.stderr.isatty()
        self._last = 0.0
        self._width = 0

    def match(self, result: MatchResult) -> None:
        """Show the score so far, at most five times a second."""
        if not self._terminal or time.monotonic() - self._last < 0.2:
            return
        tally = result.tally
        estimate = tally.estimate()
        self.write(
            f"{tally.games + tally.void}/{result.settings.games} games  "
            f"+{tally.count('wins')} ={tally.count('draws')} -{tally.count('losses')}  "
            f"Elo {estimate.elo:+.0f} [{estimate.elo_low:+.0f}, {estimate.elo_high:+.0f}]"
        )

    def write(self, text: str) -> None:
        """Replace the line."""
        if not self._terminal:
            return
        self._last = time.monotonic()
        line = self._prefix + text
        sys.stderr.write("\r" + line.ljust(self._width))
        sys.stderr.flush()
        self._width = len(line)

    def clear(self) -> None:
        """Erase the line."""
        if self._terminal and self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
            self._width = 0
