"""What double estimates change: one network that chooses and judges lines, or two.

    python benchmarks/ddqn_double.py runs/ddqn --other model.safetensors --svg ddqn-double.svg

A checkpoint of a `ddqn` run has an online network and a target network, an older copy. `--other`
is a network of an independent run. For positions whose truth is known (endings: tablebases; middle
games: a deep search of the shipped engine) the script compares estimates of the value for the side
to move, at depths 1 to 4 and with quiescence. For a pair of networks A and B

    single      A chooses the line and judges its end, or B does both; mean of the two
    double      one chooses, the other judges; mean of the two ways
    selection   single minus double: what a network's errors add when they also choose

Prints Markdown with the bias of both (estimate minus truth) and 95 % intervals, and draws it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from rookery import Game
from rookery._core import (
    Engine,
    NnueLearner,
    NnueNetwork,
    TransitionGenerator,
    pack_samples,
    random_position,
)
from rookery.algorithms.ddqn import values_of
from rookery.algorithms.ddqn_memory import judge_leaves
from rookery.algorithms.engine_learning import tensors_of
from rookery.base.scales import value_of_score
from rookery.data.tablebases import find_tablebases
from rookery.players.alphabeta import read_network
from rookery.report.chart import HEIGHT, WIDTH, Series, line_chart
from rookery.runs.positions import Samples

ENDINGS = ("KRvK", "KQvK", "KPvK", "KQvKR", "KRvKB", "KRvKN", "KQvKP", "KRvKP", "KPvKP", "KBNvK")
DEPTHS = (1, 2, 3, 4)
STYLE = """
svg { background: #fff }
.title { font: 600 15px sans-serif; fill: #1d2126 }
.tick, .label { font: 12px sans-serif; fill: #6b7280 }
.middle { text-anchor: middle } .end { text-anchor: end }
.grid { stroke: #d9dbe0 }
.line { fill: none; stroke: currentColor; stroke-width: 1.6 }
.dot { fill: currentColor }
.s0 { color: #d55e00 } .s1 { color: #0072b2 } .s2 { color: #009e73 }
"""
Values = NDArray[np.float64]


def endings(count: int) -> tuple[list[Game], Values]:
    """Random positions of small endings with their results for the side to move."""
    games: list[Game] = []
    truth: list[float] = []
    with find_tablebases() as tables:
        for number in range(count):
            material = ENDINGS[number % len(ENDINGS)]
            game = Game(random_position(material, number, "random"))
            probe = tables.probe(game)
            if probe is not None:
                games.append(game)
                truth.append(float(probe.result))
    return games, np.array(truth)


def middle_games(network: NnueLearner, count: int, nodes: int) -> tuple[list[Game], Values]:
    """Positions of the network's own games with the values of a deep search."""
    engine = Engine(read_network("rookery"), 1, 16)
    play = Engine(quantised(network), 1, 4)
    rng = np.random.default_rng(1)
    games: list[Game] = []
    truth: list[float] = []
    while len(games) < count:
        game = Game()
        for _ in range(int(rng.integers(12, 80))):
            if game.outcome(claim_draw=True) is not None:
                break
            move = str(rng.choice(game.legal_moves()))
            if game.ply >= 6 and rng.random() < 0.9:
                play.prepare()
                move = play.search(game, depth=2, nodes=2000).best
            game.push(move)
        start = Game(game.fen())  # packed positions have no past
        if game.outcome(claim_draw=True) is None:
            engine.new_game()
            engine.prepare()
            games.append(start)
            truth.append(value_of_score(engine.search(start, nodes=nodes).score))
    return games, np.array(truth)


def quantised(learner: NnueLearner) -> NnueNetwork:
    """The network of a learner for the engine."""
    return NnueNetwork(*tensors_of(learner.weights()))


def learner_of(weights: Mapping[str, NDArray[np.float32]]) -> NnueLearner:
    """A network that evaluates packed positions."""
    learner = NnueLearner(len(weights["feature_bias"]), len(weights["output_bias"]))
    for key, array in learner.weights().items():
        array[:] = weights[key]
    return learner


def networks(folder: Path) -> dict[str, NnueLearner]:
    """The online and the target network of a checkpoint."""
    tensors = load_file(folder / "state.safetensors")
    prefixes = {"online": "online.weights.", "target": "target."}
    return {
        name: learner_of(
            {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
        )
        for name, prefix in prefixes.items()
    }


def estimates(pair: Sequence[NnueLearner], samples: Samples, depth: int) -> dict[str, Values]:
    """Estimates [N] of positions [N, 32] by a pair of networks."""
    leaves = []
    for net in pair:
        generator = TransitionGenerator(tensors_of(net.weights()), 1, depth=depth, nodes=20_000)
        found = generator.search(samples).reshape(-1, 2, 32)
        leaves.append(np.ascontiguousarray(found[:, 1]))

    def judged(chooser: int, judge: int) -> Values:
        values = judge_leaves(
            samples, leaves[chooser], lambda positions: values_of(pair[judge], positions)
        )
        return values.astype(np.float64)

    return {
        "single": (judged(0, 0) + judged(1, 1)) / 2,
        "double": (judged(0, 1) + judged(1, 0)) / 2,
    }


def text(values: Values) -> str:
    """Mean with the half width of its 95 % interval."""
    return f"{values.mean():+.3f} ± {1.96 * values.std() / len(values) ** 0.5:.3f}"


def picture(charts: Sequence[str], names: Sequence[str]) -> str:
    """The panels side by side, with a legend below."""
    parts = [
        chart.replace("<svg ", f'<svg x="{place * WIDTH}" width="{WIDTH}" height="{HEIGHT}" ', 1)
        for place, chart in enumerate(charts)
    ]
    for place, name in enumerate(names):
        x = 70 + 160 * place
        dot = f'<circle class="dot s{place}" cx="{x}" cy="{HEIGHT + 12}" r="5"/>'
        parts.append(f'{dot}<text class="label" x="{x + 10}" y="{HEIGHT + 16}">{name}</text>')
    size = f"0 0 {len(charts) * WIDTH} {HEIGHT + 28}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}">'
    return f"{head}<style>{STYLE}</style>{''.join(parts)}</svg>\n"


def main() -> None:
    """Measure both pairs, print the table, draw it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--other", type=Path, help="model file of an independent run")
    parser.add_argument("--positions", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=20_000, help="of the deep search")
    parser.add_argument("--svg", type=Path)
    args = parser.parse_args()
    saved = sorted(path.parent for path in args.run.glob("checkpoints/*/state.safetensors"))
    nets = networks(saved[-1])
    pairs = {"online and target": (nets["online"], nets["target"])}
    if args.other:
        pairs["independent"] = (nets["online"], learner_of(load_file(args.other)))
    sets = {
        "endings": endings(args.positions),
        "middle games": middle_games(nets["online"], args.positions, args.nodes),
    }
    print(f"Iteration {int(saved[-1].name)}.\n")
    print(
        "| positions | networks | depth | single | double | selection |\n|---|---|---|---|---|---|"
    )
    charts = []
    for kind, (games, truth) in sets.items():
        zeros = [0] * len(games)
        samples = pack_samples(games, zeros, zeros, zeros)
        lines = []
        for colour, (name, pair) in enumerate(pairs.items()):
            points = []
            for depth in DEPTHS:
                found = estimates(pair, samples, depth)
                selection = found["single"] - found["double"]
                cells = [text(found["single"] - truth), text(found["double"] - truth)]
                row = [kind, name, str(depth), *cells, text(selection)]
                print(f"| {' | '.join(row)} |", flush=True)
                points.append((float(depth), float(selection.mean())))
            lines.append(Series(name, points, colour, marked=True))
        title = f"{kind}: single minus double estimate"
        charts.append(line_chart(title, lines, "depth", include=[0.0]))
    if args.svg:
        args.svg.write_text(picture(charts, list(pairs)), encoding="utf-8")


if __name__ == "__main__":
    main()
