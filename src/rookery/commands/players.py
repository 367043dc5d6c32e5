"""`rookery players`: which players there are and which options they take."""

from __future__ import annotations

import argparse

from rookery.base.json_output import write_json

HELP = "list the players and their options"
DESCRIPTION = "List everything that can be given as PLAYER, with its options."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    """List them."""
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
    print(f"{'any of them':12}")
    for option in MODIFIERS:
        print(f"{'':12}   {option.name}= {option.help}")
    examples = ("stockfish,depth=1,random=0.5", "uci,command=./engine", "runs/ppo,temperature=1")
    print("\nExamples:", "   ".join(examples))
    return 0
