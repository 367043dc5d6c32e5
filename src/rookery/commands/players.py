"""List the players and their options.

List everything that can be given as PLAYER, with its options.
"""

from __future__ import annotations

import argparse

from rookery.base.json_output import write_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print the list."""
    from rookery.players.options import MODIFIERS, Option
    from rookery.players.registry import KINDS, named_kinds

    networks = [kind for kind in KINDS.values() if kind.networks]
    if args.json:

        def explained(options: tuple[Option, ...]) -> dict[str, str]:
            return {option.name: option.help for option in options}

        write_json(
            {
                "players": [
                    {"name": kind.name, "summary": kind.summary, "options": explained(kind.options)}
                    for kind in named_kinds()
                ],
                "networks": [
                    {"name": kind.summary, "options": explained(kind.options)} for kind in networks
                ],
                "modifiers": explained(MODIFIERS),
            }
        )
        return 0
    for kind in named_kinds():
        print(f"{kind.name:12} {kind.summary}")
        for option in kind.options:
            print(f"{'':12}   {option.name}= {option.help}")
    print(f"{'a network':12} FILE.safetensors, FILE.onnx or a run such as runs/ppo")
    for kind in networks:
        print(f"{'':12}   {kind.summary}: {', '.join(f'{o.name}=' for o in kind.options)}")
    print("with any player")
    for option in MODIFIERS:
        print(f"{'':12}   {option.name}= {option.help}")
    examples = ("stockfish,depth=1,random=0.5", "uci,command=./engine", "runs/ppo,temperature=1")
    print("\nExamples:", "   ".join(examples))
    return 0
