"""Tune the settings of a recipe with a population of runs.

Train several members at once, each with settings drawn from --set-range. After every round the
worst members continue from copies of the best, with changed settings. The best member is written
as a plain recipe, which 'rookery train' follows to the same weights. The same command resumes an
interrupted tuning.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from rookery.commands._common import add_cluster_option, check_numbers, print_result

if TYPE_CHECKING:
    from rookery.tuning.population import Population


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "recipe", metavar="RECIPE", help="name (see 'rookery recipes') or .toml file"
    )
    parser.add_argument("--population", type=int, default=8, metavar="N", help="number of members")
    parser.add_argument(
        "--set-range",
        metavar="KEY=RANGE",
        action="append",
        default=[],
        dest="ranges",
        help="what to tune: key=LOW..HIGH, key=LOW..HIGH:log or key=A|B|C; repeatable",
    )
    parser.add_argument(
        "--budget", default="100it", metavar="B", help="iterations of each member, such as 200it"
    )
    parser.add_argument(
        "--every", type=int, default=0, metavar="N", help="iterations of a round; 0: a tenth"
    )
    parser.add_argument(
        "--objective",
        default="score",
        metavar="WHAT",
        help="what to maximise: score (of the evaluations), or a key of metrics.jsonl such as "
        "values.total_elo or -losses.value",
    )
    parser.add_argument(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        dest="settings",
        help="override a recipe key for all members; repeatable",
    )
    parser.add_argument(
        "--folder", metavar="DIR", help="where everything is kept; default: runs/RECIPE-tune"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed")
    add_cluster_option(parser, "train the members on a Ray cluster")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Tune, and say what was found."""
    from pathlib import Path

    from rookery.cluster.pool import Pool
    from rookery.training import require_extra

    check_numbers(args, population=2, every=0)
    require_extra()
    from rookery.tuning.population import BEST, POPULATION, Population, train

    folder = Path(args.folder or f"runs/{Path(args.recipe).stem}-tune")
    asked = population_of(args)
    population = Population.load(folder) if (folder / POPULATION).exists() else asked
    rounds, population.rounds = population.rounds, []
    if population != asked:
        raise ValueError(f"{folder} holds another population; choose another --folder")
    population.rounds = rounds

    def show(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    # Members train whole rounds: nothing to gain from doing some of them twice.
    with Pool(args.cluster or "local", show, check_share=0.0) as pool:
        pool.wait_for_nodes()
        train(population, folder, pool.map, show)
    best = population.best()
    place = folder / f"round-{population.total_rounds}" / f"member-{best.member}"
    result = {
        "folder": str(folder),
        "member": str(place),
        "score": best.score,
        "settings": best.settings,
        "recipe": str(folder / BEST),
        "seconds": population.seconds,
    }
    text = f"best: {place}, {best.score} with {best.settings}\n"
    text += f"processor time of all members: {population.seconds:.0f} s\n"
    text += f"train it again: rookery train {folder / BEST}\n"
    text += f"see all: rookery report {folder} --out report.html"
    return print_result(args, result, text)


def population_of(args: argparse.Namespace) -> Population:
    """The population that the arguments ask for."""
    from rookery.training.budget import parse_budget
    from rookery.training.recipe import load_recipe, parse_changes, read_recipe, recipe_model
    from rookery.tuning.population import new_population
    from rookery.tuning.ranges import parse_ranges

    if not args.ranges:
        raise ValueError("say what to tune, such as --set-range ppo.learning_rate=1e-5..1e-3:log")
    name, content = read_recipe(args.recipe)
    settings = parse_changes(args.settings, recipe_model(content, name))
    ranges = parse_ranges(args.ranges, load_recipe(args.recipe, settings))
    iterations = parse_budget(args.budget).iterations
    if not iterations:
        raise ValueError(f"--budget {args.budget!r} is not a number of iterations, such as 200it")
    every = args.every or max(1, iterations // 10)
    return new_population(
        args.recipe, settings, ranges, args.population, iterations, every, args.seed, args.objective
    )
