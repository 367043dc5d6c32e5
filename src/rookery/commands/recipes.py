"""List the training recipes and their results.

List the recipes. With NAME, print every key that 'rookery train NAME --set KEY=VALUE' can
change.
"""

from __future__ import annotations

import argparse

from rookery.commands._common import print_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="recipe or .toml file")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """List all recipes, or print one of them with all its keys."""
    from rookery.training.listing import list_recipes

    if args.name is not None:
        return _print_recipe(args)
    rows = list_recipes()
    lines = [
        f"{row['name']} ({row['algorithm']}): {row['summary']}\n    result: {row['result']}"
        for row in rows
    ]
    return print_result(args, {"recipes": rows}, "\n".join(lines))


def _print_recipe(args: argparse.Namespace) -> int:
    from rookery.training import require_extra

    require_extra()
    from rookery.training.recipe import dump_recipe, load_recipe

    recipe = load_recipe(args.name)
    return print_result(args, recipe.model_dump(mode="json"), dump_recipe(recipe).rstrip("\n"))
