"""Draw a search tree as SVG.

Search a position with a network and draw the most visited part of its tree search, or what an
alpha-beta search considers (rookery, runs/engine).
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from rookery.commands._common import check_numbers, output_file, print_result

if TYPE_CHECKING:
    from rookery.players.alphabeta import AlphaBetaPlayer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "player", metavar="PLAYER", help="network with options, such as runs/az,simulations=400"
    )
    parser.add_argument(
        "fen", metavar="FEN", nargs="?", default="startpos", help="position, in quotes"
    )
    parser.add_argument("--out", required=True, metavar="FILE.svg", help="file to write")
    parser.add_argument("--nodes", type=int, default=60, metavar="N", help="nodes to draw")
    parser.add_argument("--depth", type=int, default=8, metavar="PLIES", help="plies to draw")
    parser.add_argument(
        "--policy",
        metavar="FILE.svg",
        help="also draw the policy before and after masking illegal moves",
    )
    parser.add_argument(
        "--planes", metavar="FILE.svg", help="also draw the input planes of the position"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Search and draw."""
    from pathlib import Path

    import numpy as np

    from rookery._core import STARTING_FEN, Game
    from rookery.players.alphabeta import AlphaBetaPlayer
    from rookery.players.mcts import search_player
    from rookery.players.options import TREE_SEARCH, parse_options
    from rookery.players.registry import is_alphabeta, make_player
    from rookery.players.spec import parse_spec
    from rookery.report.tree import tree_svg

    check_numbers(args, nodes=1, depth=1)
    for name, file in (("out", args.out), ("policy", args.policy), ("planes", args.planes)):
        if file is not None:
            output_file(name, file, ".svg")
    spec = parse_spec(args.player)
    if is_alphabeta(spec.name):
        engine = make_player(args.player)
        assert isinstance(engine, AlphaBetaPlayer)
        return draw_alphabeta(args, engine)
    # All the simulations asked for, also when the move is decided sooner.
    options = parse_options(spec, TREE_SEARCH) | {"stop_early": False}
    player = search_player(spec, options)
    fen = STARTING_FEN if args.fen == "startpos" else args.fen
    game = Game(fen)
    decision = player.choose(game, np.random.default_rng(0))
    simulations, ended = (decision.details[name] for name in ("simulations", "ended"))
    why = {"proven": ", result proven", "time": ", time over"}.get(str(ended), "")
    title = f"{player.name}: {simulations} simulations{why}, best {decision.move}"
    tree = player.search.tree(1, args.depth)
    Path(args.out).write_text(tree_svg(tree, title, args.nodes, args.depth))
    if args.policy is not None:
        from rookery.report.policy import policy_svg

        Path(args.policy).write_text(policy_svg(player.evaluator, game, player.name))
    if args.planes is not None:
        from rookery.report.planes import planes_svg

        layout = player.evaluator.observation
        Path(args.planes).write_text(planes_svg(layout, game, f"{layout}: {fen}"))
    result = {
        "out": args.out,
        "policy": args.policy,
        "planes": args.planes,
        "fen": fen,
        "move": decision.move,
        "value": decision.value,
        "line": list(decision.line),
        "simulations": simulations,
        "ended": ended,
        "visits": decision.details["visits"],
    }
    return print_result(args, result, f"{args.out}: {title}, value {decision.value:+.3f}")


def draw_alphabeta(args: argparse.Namespace, player: AlphaBetaPlayer) -> int:
    """Draw what an alpha-beta search considers."""
    from pathlib import Path

    from rookery._core import STARTING_FEN, Game
    from rookery.report.alphabeta_tree import alphabeta_tree
    from rookery.report.tree import draw_tree

    if args.policy is not None:
        raise ValueError(f"--policy: {player.name} has no policy; alpha-beta needs none")
    fen = STARTING_FEN if args.fen == "startpos" else args.fen
    root = alphabeta_tree(player, Game(fen), args.nodes, args.depth)
    title = f"{player.name}: {root.visits:,} positions searched, best {root.children[0].label}"
    Path(args.out).write_text(draw_tree(root, title))
    result = {
        "out": args.out,
        "policy": None,
        "fen": fen,
        "move": root.children[0].hint.split(":")[0],
        "value": root.value,
        "nodes": root.visits,
    }
    return print_result(args, result, f"{args.out}: {title}, value {root.value:+.3f}")
