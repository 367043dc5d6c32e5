"""`rookery recipes`: list the recipes, or explain one."""

from __future__ import annotations

import argparse

from rookery.base.json_output import write_json

HELP = "list what can be trained, what it is for and what it reached"
DESCRIPTION = (
    "List the recipes; with a name, show everything that can be changed by "
    "'rookery train NAME --set KEY=VALUE'."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="a recipe, or a .toml file")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(args: argparse.Namespace) -> int:
    """List all recipes, or print one with all its keys."""
    from rookery.training.listing import list_recipes

    if args.name is not None:
        return _explain(args.name, args.json)
    rows = list_recipes()
    if args.json:
        write_json({"recipes": rows})
        return 0
    if not rows:
        print("there are no recipes")
    for row in rows:
        print(f"{row['name']} ({row['algorithm']}): {row['summary']}")
        print(f"    result: {row['result']}")
    return 0


def _explain(name: str, as_json: bool) -> int:
    from rookery.training import require_extra

    require_extra()
    from rookery.training.recipe import dump_recipe, load_recipe

    recipe = load_recipe(name)
    if as_json:
        write_json(recipe.model_dump(mode="json"))
    else:
        print(dump_recipe(recipe), end="")
    return 0
