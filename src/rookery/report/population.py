"""The section of a report about a population (`rookery tune`): scores, lineage, settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from rookery.report.chart import Series, line_chart
from rookery.report.groups import value_text
from rookery.report.html import charts, paragraph, section, table
from rookery.tuning.population import POPULATION, Population, member_folder


def is_population(folder: Path) -> bool:
    """Whether a folder was made by `rookery tune`."""
    return (folder / POPULATION).is_file()


def members(folder: Path) -> list[Path]:
    """The runs of a population after its last complete round, the best first."""
    population = Population.load(folder)
    if not population.rounds:
        return []
    best, rounds = population.best().member, len(population.rounds)
    order = sorted(range(population.size), key=lambda member: (member != best, member))
    return [member_folder(folder, rounds, member) for member in order]


def population_section(folder: Path) -> str:
    """Curves of scores and settings over the rounds, the best member's chain, and all rounds."""
    population = Population.load(folder)
    if not population.rounds:
        return section(f"Population {folder.name}", paragraph("No round is complete yet."))
    best = population.best()
    words = (
        f"{population.size} members of {population.name}, {len(population.rounds)} of "
        f"{population.total_rounds} rounds of {population.every} iterations; they maximise "
        f"{population.objective}. The best is member {best.member} with {best.score}. All took "
        f"{population.seconds:.0f} s of processor time."
    )
    chain = population.chain(best.member)
    heads = ["until", "member", "from", "score", *(one.key for one in population.ranges)]
    rows = [
        [
            f"{number * population.every} it",
            str(each.member),
            "itself" if each.origin == each.member else str(each.origin),
            "" if each.score is None else f"{each.score:.4g}",
            *(value_text(each.settings[one.key]) for one in population.ranges),
        ]
        for number, each in enumerate(chain, 1)
    ]
    return section(
        f"Population {folder.name}",
        paragraph(words)
        + charts([_scores(population), *_settings(population)])
        + paragraph("How the best member came to be, as best.toml repeats it:")
        + table(heads, rows)
        + paragraph("Scores by round (rows) and member; an arrow shows from whom it continued:")
        + table(["round", *map(str, range(population.size))], _rounds(population)),
    )


def _rounds(population: Population) -> list[list[str]]:
    rows = []
    for number, round_ in enumerate(population.rounds, 1):
        cells = []
        for each in round_:
            score = "?" if each.score is None else f"{each.score:.4g}"
            cells.append(score if each.origin == each.member else f"{each.origin} → {score}")
        rows.append([str(number), *cells])
    return rows


def _scores(population: Population) -> str:
    known = [
        (number * population.every, [e.score for e in round_ if e.score is not None])
        for number, round_ in enumerate(population.rounds, 1)
    ]
    lines: Sequence[Series] = [
        Series("best", [(x, max(scores)) for x, scores in known if scores], 0, True),
        Series("mean", [(x, fmean(scores)) for x, scores in known if scores], 1, True),
    ]
    return line_chart(f"{population.objective}, best and mean", lines, "iterations")


def _settings(population: Population) -> list[str]:
    """A chart for each setting that is a number: all members."""
    drawings = []
    for one in population.ranges:
        if one.choices:
            continue
        lines = [
            Series(
                f"member {member}",
                [
                    (number * population.every, float(round_[member].settings[one.key]))
                    for number, round_ in enumerate(population.rounds, 1)
                ],
                member,
                True,
            )
            for member in range(population.size)
        ]
        drawings.append(line_chart(one.key, lines, "iterations"))
    return drawings
