"""Look for human concepts inside a network.

Fit sparse linear probes for concepts ("is in check", "has a passed pawn") to the activations of
every layer of a network, or of a run's checkpoints, and write one page: what is represented, when
in training, where in the network. A network with random weights and a random label are the
controls.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

from rookery.commands._common import check_numbers, output_file, print_result

if TYPE_CHECKING:
    from rookery.probes.study import Study


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "player", metavar="PLAYER|RUN", help="shipped network, model file or run folder"
    )
    parser.add_argument(
        "--concepts", default="", metavar="A,B", help="concepts to look for (default: all)"
    )
    parser.add_argument(
        "--checkpoints",
        type=int,
        nargs="?",
        const=6,
        default=1,
        metavar="N",
        help="probe N checkpoints of a run, evenly spaced; 6 if N is left out",
    )
    parser.add_argument("--out", metavar="FILE.html", help="page to write")
    parser.add_argument(
        "--save", action="store_true", help="keep the probes beside the network, for 'rookery play'"
    )
    parser.add_argument(
        "--positions", type=int, default=20_000, metavar="N", help="positions to probe with"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="random seed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Probe, and write what was found."""
    from rookery.training import require_extra

    require_extra("torch")
    from rookery.base.storage import atomic_write
    from rookery.players.spec import parse_spec
    from rookery.probes.concepts import find_concepts
    from rookery.probes.page import make_page
    from rookery.probes.saved import probe_file, save_probes
    from rookery.probes.study import ask, study, usable
    from rookery.probes.subjects import endings_of, find_subjects, network_file

    check_numbers(args, positions=1000, checkpoints=1)
    out = None if args.out is None else output_file("out", args.out, ".html")
    began = time.monotonic()
    wanted = find_concepts(args.concepts.split(",") if args.concepts else [])
    subjects, info = find_subjects(args.player, args.checkpoints)
    concepts, left_out = usable(wanted, info.board)

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:5.0f} s  {text}", file=sys.stderr)

    last = subjects[-1].network
    question = ask(concepts, args.positions, args.seed, endings_of(info), say, info.board, last)
    found = study(subjects, question, say)
    found.left_out.update(left_out)
    if out is not None:
        atomic_write(out, make_page(found, args.player))
    kept = None
    if args.save:
        kept = probe_file(parse_spec(args.player).name)
        save_probes(found, network_file(args.player)[1], kept)
    result = {
        "player": args.player,
        "board": info.board,
        "seed": args.seed,
        **found.to_json(),
        "out": args.out,
        "saved": None if kept is None else str(kept),
        "seconds": round(time.monotonic() - began, 1),
    }
    return print_result(args, result, summary(found))


def summary(found: Study) -> str:
    """The best layer of each concept, beside the untrained network's best."""
    last = found.findings[-1].checkpoint
    names = dict.fromkeys(row.name for row in found.findings)
    lines = [f"{'concept':24} {'score':>5}  {'95 %':>14}  {'untrained':>9}  layer"]
    for row in sorted((found.compared(name, last) for name in names), key=lambda row: -row.score):
        interval = f"{row.score_low:.2f} to {row.score_high:.2f}"
        lines.append(
            f"{row.name:24} {row.score:5.2f}  {interval:>14}  {row.untrained:9.2f}  {row.layer}"
        )
    lines += [f"left out: {name}: {why}" for name, why in found.left_out.items()]
    return "\n".join(lines)
