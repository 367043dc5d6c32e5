"""Count the leaf nodes of the legal move tree.

Count the positions reached by all sequences of DEPTH legal moves, to check the move generator
and measure its speed.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from rookery.base.json_output import write_json
from rookery.commands._common import add_board_option

if TYPE_CHECKING:
    from rookery._core import Game

MOST_PLIES = 64  # as in the core
# Calls into C++ cannot be interrupted, so deep counts are split into calls of about this size.
MOST_NODES = 10**8
USUAL_MOVES = 30  # assumed branching factor after a position with few moves, such as a check


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("fen", metavar="FEN", help="position in quotes, or 'startpos'")
    parser.add_argument("depth", metavar="DEPTH", type=int, help=f"plies, 0 to {MOST_PLIES}")
    parser.add_argument(
        "--divide", action="store_true", help="also print the count of each root move"
    )
    add_board_option(parser, None)
    parser.add_argument("--chess960", action="store_true", help="Chess960 castling rules")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Count, and print the count and speed."""
    import time

    from rookery._core import Game

    if not 0 <= args.depth <= MOST_PLIES:
        raise ValueError(f"DEPTH is {args.depth}; it must be from 0 to {MOST_PLIES}")
    if args.divide and args.depth == 0:
        raise ValueError("--divide needs a DEPTH of 1 or more")
    fen = None if args.fen == "startpos" else args.fen
    began = time.perf_counter()
    try:
        game = Game(fen, args.chess960, args.board)
    except ValueError as error:
        raise ValueError(str(error).replace("pass chess960=True", "pass --chess960")) from None
    divided: dict[str, int] = {}
    if args.divide:
        divided = {move: leaves(game, args.depth, move) for move in game.legal_moves()}
        nodes = sum(divided.values())
    else:
        nodes = leaves(game, args.depth)
    seconds = time.perf_counter() - began
    speed = nodes / max(seconds, 1e-9)
    if args.json:
        result = {"fen": fen or game.fen(), "depth": args.depth, "nodes": nodes, "seconds": seconds}
        result["nodes_per_second"] = speed
        if args.divide:
            result["divide"] = divided
        write_json(result)
        return 0
    for move, count in sorted(divided.items()):
        print(f"{move}: {count}")
    print(f"{nodes} nodes in {seconds:.3f} s, {speed / 1e6:.1f} million per second")
    return 0


def leaves(game: Game, depth: int, move: str | None = None) -> int:
    """Count the leaves `depth` plies below a game's position; with a move, only those after it."""
    from rookery._core import perft

    if move is not None:
        game.push(move)
        found = leaves(game, depth - 1)
        game.pop()
        return found
    if depth == 0 or max(game.legal_count(), USUAL_MOVES) ** depth <= MOST_NODES:
        return perft(game.fen(), depth, game.chess960)
    return sum(leaves(game, depth, first) for first in game.legal_moves())
