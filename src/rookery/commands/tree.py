"""`rookery tree`: what a search looked at, as a picture."""

from __future__ import annotations

import argparse

from rookery.base.json_output import write_json
from rookery.commands._match_options import check_numbers

HELP = "draw the search tree of a player as SVG"
DESCRIPTION = "Search a position with a network and draw the most visited part of the tree."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "player", metavar="PLAYER", help="a network with options: runs/az,simulations=400"
    )
    parser.add_argument("fen", metavar="FEN", nargs="?", default="startpos", help="in quotes")
    parser.add_argument("--out", required=True, metavar="FILE.svg", help="the picture")
    parser.add_argument("--nodes", type=int, default=60, metavar="N", help="drawn (60)")
    parser.add_argument("--depth", type=int, default=8, metavar="PLIES", help="drawn (8)")
    parser.add_argument(
        "--policy", metavar="FILE.svg", help="draw the policy too, before and after masking"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    """Search and draw."""
    from pathlib import Path

    import numpy as np

    from rookery._core import STARTING_FEN, Game
    from rookery.players.mcts import search_player
    from rookery.players.options import TREE_SEARCH, parse_options
    from rookery.players.spec import parse_spec
    from rookery.report.tree import tree_svg

    check_numbers(args, nodes=1, depth=1)
    for name, file in (("out", args.out), ("policy", args.policy)):
        if file is not None and Path(file).suffix != ".svg":
            raise ValueError(f"--{name} {file!r} must end in .svg")
    spec = parse_spec(args.player)
    # Any network can be searched with; without options by the player's defaults.
    player = search_player(spec, parse_options(spec, TREE_SEARCH))
    fen = STARTING_FEN if args.fen == "startpos" else args.fen
    game = Game(fen)
    decision = player.choose(game, np.random.default_rng(0))
    simulations = decision.details["simulations"]
    title = f"{player.name}: {simulations} simulations, best {decision.move}"
    tree = player.search.tree(1, args.depth)
    Path(args.out).write_text(tree_svg(tree, title, args.nodes, args.depth))
    if args.policy is not None:
        from rookery.report.policy import policy_svg

        Path(args.policy).write_text(policy_svg(player.evaluator, game, player.name))
    if args.json:
        write_json(
            {
                "out": args.out,
                "policy": args.policy,
                "fen": fen,
                "move": decision.move,
                "value": decision.value,
                "line": list(decision.line),
                "simulations": simulations,
                "visits": decision.details["visits"],
            }
        )
    else:
        print(f"{args.out}: {title}, value {decision.value:+.3f}")
    return 0
