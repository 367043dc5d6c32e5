"""Make training samples, a table of a run or an opening book.

Write samples for 'rookery train supervised' as Parquet shards, or a Polyglot opening book.
"""

from __future__ import annotations

import argparse
import sys

from rookery.base.json_output import write_json
from rookery.commands._common import check_numbers

LEAST = dict.fromkeys(("limit", "count", "nodes", "lines", "every", "workers", "plies"), 1)
LEAST |= {"least_games": 1, "skip": 0, "least_elo": 0}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    kinds = parser.add_subparsers(title="sources", metavar="SOURCE", required=True)
    pgn = kinds.add_parser("pgn", help="samples from the moves and results of games")
    pgn.add_argument("files", metavar="FILE", nargs="+", help="PGN file, plain or gzipped")
    pgn.add_argument("--limit", type=int, metavar="N", help="maximum number of games")
    pgn.add_argument(
        "--least-elo", type=int, default=0, metavar="ELO", help="minimum rating of both players"
    )
    pgn.add_argument(
        "--skip",
        type=int,
        default=0,
        metavar="PLIES",
        help="skip this many plies at the start of each game",
    )
    pgn.set_defaults(source=_pgn)
    puzzles = kinds.add_parser("puzzles", help="samples from the solutions of puzzles")
    puzzles.add_argument("files", metavar="FILE", nargs=1, help="CSV file, plain or gzipped")
    puzzles.add_argument(
        "--themes",
        default="mateIn1,mateIn2",
        help="use puzzles with any of these themes, separated by commas; '': all",
    )
    puzzles.add_argument("--limit", type=int, metavar="N", help="maximum number of puzzles")
    puzzles.set_defaults(source=_puzzles)
    label = kinds.add_parser(
        "label", help="samples labelled with an engine's best moves and scores"
    )
    label.add_argument(
        "files", metavar="FILE", nargs="*", help="PGN file; default: engine self-play"
    )
    label.add_argument("--engine", default="stockfish", help="engine name or command")
    label.add_argument("--nodes", type=int, default=2000, metavar="N", help="nodes per position")
    label.add_argument("--count", type=int, default=100_000, metavar="N", help="positions")
    label.add_argument(
        "--lines", type=int, default=4, metavar="N", help="best moves to label (MultiPV)"
    )
    label.add_argument(
        "--temperature", type=float, default=0.3, help="policy softmax temperature, in pawns"
    )
    label.add_argument(
        "--random-share",
        type=float,
        default=0.1,
        metavar="SHARE",
        help="share of random moves in engine self-play",
    )
    label.add_argument(
        "--chances",
        action="store_true",
        help="use the engine's win, draw and loss probabilities as value, not its score",
    )
    label.add_argument(
        "--every", type=int, default=1, metavar="N", help="label each Nth position of the games"
    )
    label.add_argument("--workers", type=int, default=1, metavar="N", help="engines at once")
    label.set_defaults(source=_label)
    for source in (pgn, puzzles, label):
        source.add_argument(
            "--out", default="data/samples", metavar="FOLDER", help="folder to write"
        )
        source.add_argument("--observation", default="tactical70", help="observation layout")
        source.add_argument("--seed", type=int, default=0, metavar="N", help="random seed")
        source.add_argument("--json", action="store_true", help="print one JSON object")
    _add_table_arguments(
        kinds.add_parser("table", help="the metrics of a run as one table, a row per iteration")
    )
    _add_book_arguments(
        kinds.add_parser(
            "book",
            help="an opening book from games",
            description="Make a Polyglot opening book. A move gets weight 2 for each game that its "
            "side won and 1 for each draw; moves with weight 0 are left out.",
        )
    )


def _add_table_arguments(table: argparse.ArgumentParser) -> None:
    table.add_argument("folder", metavar="RUN", help="run folder")
    table.add_argument("--out", required=True, metavar="FILE", help=".csv or .parquet file")
    table.add_argument("--json", action="store_true", help="print one JSON object")
    table.set_defaults(run=run_table)


def _add_book_arguments(book: argparse.ArgumentParser) -> None:
    book.add_argument("files", metavar="FILE", nargs="+", help="PGN file, plain or gzipped")
    book.add_argument("--out", required=True, metavar="FILE.bin", help="file to write")
    book.add_argument("--plies", type=int, default=20, metavar="N", help="plies used of each game")
    book.add_argument(
        "--least-games", type=int, default=2, metavar="N", help="drop moves seen in fewer games"
    )
    book.add_argument(
        "--least-elo", type=int, default=0, metavar="ELO", help="minimum rating of both players"
    )
    book.add_argument("--limit", type=int, metavar="N", help="maximum number of games")
    book.add_argument("--json", action="store_true", help="print one JSON object")
    book.set_defaults(run=run_book)


def run_table(args: argparse.Namespace) -> int:
    """Write the table and print its number of rows."""
    from pathlib import Path

    from rookery.runs.table import write_table

    rows = write_table(Path(args.folder), Path(args.out))
    if args.json:
        write_json({"out": args.out, "rows": rows})
    else:
        print(f"{args.out}: {rows} rows")
    return 0


def run(args: argparse.Namespace) -> int:
    """Write the samples and print their number."""
    from rookery.encodings import OBSERVATIONS
    from rookery.players.spec import nearest
    from rookery.training import require_extra

    require_extra()
    if args.observation not in OBSERVATIONS:
        hint = nearest(args.observation, OBSERVATIONS)
        raise ValueError(f"--observation {args.observation!r} is unknown; {hint}")
    check_numbers(args, **LEAST)
    counts = args.source(args)
    if not counts["samples"]:
        raise ValueError(f"there are no samples in {' '.join(args.files) or 'the games'}")
    if args.json:
        write_json({"out": args.out, "observation": args.observation, **counts})
    else:
        text = ", ".join(f"{count} {name}" for name, count in counts.items())
        print(f"{args.out}: {text}")
        print(
            f"train on them: rookery train supervised --set data.samples={args.out}",
            file=sys.stderr,
        )
    return 0


def run_book(args: argparse.Namespace) -> int:
    """Write the book and print its size."""
    from pathlib import Path

    from rookery.base.storage import atomic_write
    from rookery.data.book_writer import book_from_pgn

    check_numbers(args, **LEAST)
    path = Path(args.out)
    if path.suffix != ".bin":
        raise ValueError(f"--out {args.out!r} must end in .bin")
    if path.is_dir():
        raise ValueError(f"--out {args.out!r} is a folder; name a file")
    paths = [Path(name) for name in args.files]
    content, counts = book_from_pgn(
        paths, args.plies, args.least_games, args.least_elo, args.limit, note
    )
    if not counts["games"]:
        raise ValueError(f"there is no game with a result in {' '.join(args.files)}")
    if not content:
        raise ValueError(
            f"no move has points in {args.least_games} or more of {counts['games']} games; lower "
            "--least-games or give more games"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, content)
    if args.json:
        write_json({"file": args.out, **counts})
    else:
        print(f"{args.out}: " + ", ".join(f"{count} {name}" for name, count in counts.items()))
        print(f"play from it: rookery play PLAYER,book={args.out}", file=sys.stderr)
    return 0


def note(text: str) -> None:
    """Print a line that is no error."""
    print(f"note: {text}", file=sys.stderr, flush=True)


def _pgn(args: argparse.Namespace) -> dict[str, int]:
    from pathlib import Path

    from rookery.data.pgn_samples import write_pgn_samples
    from rookery.data.sample_writer import SampleWriter

    writer = SampleWriter(Path(args.out), args.observation)
    paths = [Path(name) for name in args.files]
    counts = write_pgn_samples(paths, writer, args.limit, args.least_elo, args.skip, note)
    return counts | {"samples": writer.close()}


def _puzzles(args: argparse.Namespace) -> dict[str, int]:
    from pathlib import Path

    from rookery.data.puzzle_samples import write_puzzle_samples
    from rookery.data.sample_writer import SampleWriter

    writer = SampleWriter(Path(args.out), args.observation)
    themes = [theme for theme in args.themes.split(",") if theme]
    counts = write_puzzle_samples(Path(args.files[0]), writer, themes, args.limit, args.seed)
    return counts | {"samples": writer.close()}


def _label(args: argparse.Namespace) -> dict[str, int]:
    import shlex
    from dataclasses import asdict
    from pathlib import Path

    from rookery.data.label_samples import LabelSettings, Progress, write_labels
    from rookery.data.sample_writer import SampleWriter
    from rookery.engines.faults import EngineFault
    from rookery.engines.find import find_stockfish

    if not args.temperature > 0:
        raise ValueError(f"--temperature is {args.temperature}; it must be above 0")
    if not 0 <= args.random_share <= 1:
        raise ValueError(f"--random-share is {args.random_share}; it must be in [0, 1]")
    command = shlex.split(args.engine)
    if args.engine == "stockfish":
        found = find_stockfish()
        if found is None:
            raise ValueError("stockfish is not installed; name another engine with --engine")
        command = [found]
    settings = LabelSettings(
        nodes=args.nodes,
        lines=args.lines,
        temperature=args.temperature,
        random_share=args.random_share,
        every=args.every,
        chances=args.chances,
        seed=args.seed,
    )
    meaning = {
        "engine": args.engine,
        "files": args.files,
        "observation": args.observation,
        **asdict(settings),
    }
    folder, paths = Path(args.out), [Path(name) for name in args.files]
    progress = Progress(folder, meaning)
    if progress.games:
        _say(f"{folder} has {progress.samples:,} samples; continuing after game {progress.games}")
    writer = SampleWriter(folder, args.observation, after=(progress.shards, progress.samples))
    try:
        return write_labels(
            command, writer, args.count, settings, progress, paths, args.workers, _say
        )
    except EngineFault as fault:
        kept = f"{progress.samples} samples are in {folder}, the same command continues"
        more = f"; {kept}" if progress.samples else ""
        raise ValueError(f"--engine {args.engine}: {fault}{more}") from None


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
