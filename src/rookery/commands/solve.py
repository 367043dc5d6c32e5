"""Prove the value of a position on a small board.

Find whether the side to move wins, draws or loses, with the line to the mate in which the loser
resists as long as possible. Nothing is pruned: the answer is a proof, or 'unknown' where the limits
do not suffice.
"""

from __future__ import annotations

import argparse

from rookery.commands._common import add_board_option, print_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "fen", metavar="FEN", nargs="?", help="position in quotes; default: the board's start"
    )
    add_board_option(parser, None)
    parser.add_argument("--moves", type=int, default=12, metavar="N", help="longest mate to find")
    parser.add_argument(
        "--nodes", type=int, default=20_000_000, metavar="N", help="limit of the mate search"
    )
    parser.add_argument(
        "--positions",
        type=int,
        default=2_000_000,
        metavar="N",
        help="if at most this many positions can follow, all of them are judged",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Solve and print."""
    from rookery._core import Game, Solver
    from rookery.commands._common import check_numbers

    check_numbers(args, moves=1, nodes=1, positions=1)
    game = Game(args.fen, board=args.board)
    solution, line = Solver(args.moves, args.nodes, args.positions).solve(game)
    result: dict[str, object] = {
        "board": game.board,
        "fen": game.fen(),
        "value": solution.value,
        "mate_in": solution.mate_in or None,
        "line": line,
        "san": notation(game.fen(), game.board, line),
        "nodes": solution.nodes,
    }
    return print_result(args, result, text_of(result, game.turn))


def notation(fen: str, board: str, line: list[str]) -> list[str]:
    """The line in standard algebraic notation."""
    from rookery._core import Game

    game, found = Game(fen, board=board), []
    for move in line:
        found.append(game.san(move))
        game.push(move)
    return found


def text_of(result: dict[str, object], white: bool) -> str:
    """Format the result as text."""
    side, other = ("White", "Black") if white else ("Black", "White")
    mate = f", mate in {result['mate_in']}" if result["mate_in"] else ""
    said = {
        "win": f"{side} wins{mate}",
        "loss": f"{other} wins{mate}",
        "draw": "drawn",
        "unknown": "unknown within these limits; raise --moves, --nodes or --positions",
    }[str(result["value"])]
    moves = " ".join(str(move) for move in result["san"])  # type: ignore[attr-defined]
    return f"{result['board']}: {said}" + (f"\n{moves}" if moves else "")
