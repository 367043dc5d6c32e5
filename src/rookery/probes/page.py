"""The page about one network: what it represents, when in training, where in the network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rookery.probes.concepts import CONCEPTS
from rookery.probes.study import BOARD, Example, Finding, Study
from rookery.report.boards import piece_shapes, small_board
from rookery.report.chart import Bar, Series, bar_chart, heat_map, line_chart
from rookery.report.document import document
from rookery.report.html import charts, legend, paragraph, section, table, wide

HOW = (
    "For each concept and layer, a sigmoid unit with few weights is fitted to the layer's "
    "activations: is the concept there or not? The score is 2 * (accuracy - 0.5) on games that "
    "were not fitted, positions with and without the concept counting the same: 0 is guessing, "
    "1 is perfect. Intervals are 95 %, from resampling whole games. A network with random weights "
    "scores above 0, because it passes on what it is shown; only what a trained one adds has been "
    "learnt. The best layers of both are compared. A score says that the network could use the "
    "concept, not that it does."
)


def make_page(study: Study, player: str) -> str:
    """The whole page as HTML."""
    title = f"What {player} sees"
    last = study.findings[-1].checkpoint
    names = list(dict.fromkeys(row.name for row in study.findings))
    steps = list(dict.fromkeys(row.checkpoint for row in study.findings))
    best = [study.compared(name, last) for name in names]
    body = [
        f'<svg class="shapes">{piece_shapes()}</svg><h1>{escape(title)}</h1>',
        paragraph(_opening(best)),
        section("What", _what(study, best)),
        section("When", _when(study, names, steps)) if len(steps) > 1 else "",
        section("Where", _where(study, names, steps)),
        section("Boards", _boards(study, best)),
        section("How this was measured", paragraph(HOW) + _counts(study)),
    ]
    return document(title, "".join(body))


def gain(row: Finding) -> float:
    """What training added to a concept."""
    return row.score - row.untrained


def _opening(best: Sequence[Finding]) -> str:
    clear = [row for row in best if row.score_low > row.untrained]
    ordered = sorted(clear, key=gain, reverse=True)
    if not ordered:
        return "No concept is represented more clearly than in a network with random weights."
    words = [f"{_words(row.name).lower()} ({row.score:.2f})" for row in ordered[:3]]
    return (
        f"{len(clear)} of {len(best)} concepts are represented more clearly than in a network "
        f"with random weights. Training added most to: the side to move {'; '.join(words)}."
    )


def _words(name: str) -> str:
    return CONCEPTS[name].words if name in CONCEPTS else name


def _what(study: Study, best: Sequence[Finding]) -> str:
    ordered = sorted(best, key=lambda row: row.score, reverse=True)
    bars = [
        Bar(
            row.name.replace("_", " "),
            row.score,
            row.score_low,
            row.score_high,
            0 if row.score_low > row.untrained else 8,
            f"({row.untrained:.2f} untrained)",
        )
        for row in ordered
    ]
    key = legend([("clearly above the untrained network", 0), ("not clearly above it", 8)])
    heads = ["concept", "the side to move", "score", "95 %", "layer", "weights", "untrained",
             "pieces alone", "random label"]  # fmt: skip
    rows = [
        [
            row.name,
            _words(row.name).lower(),
            f"{row.score:.2f}",
            f"{row.score_low:.2f} to {row.score_high:.2f}",
            row.layer,
            str(row.weights),
            f"{row.untrained:.2f}",
            f"{study.board[row.name].score:.2f}",
            f"{row.random_label:+.2f}",
        ]
        for row in ordered
    ]
    figure = wide(bar_chart("Score of the best layer", bars, lambda value: f"{value:.2f}"))
    return key + figure + table(heads, rows, "words")


def _when(study: Study, names: Sequence[str], steps: Sequence[int | None]) -> str:
    drawings = []
    timed = all(row.seconds is not None for row in study.findings)
    label = "minutes of training" if timed else "iterations"
    for name in names:
        rows = [study.best(name, step) for step in steps]
        xs = [(row.seconds or 0.0) / 60 if timed else float(row.checkpoint or 0) for row in rows]
        line = Series(
            name,
            [(x, row.score) for x, row in zip(xs, rows, strict=True)],
            marked=True,
            errors=[(row.score_low, row.score_high) for row in rows],
        )
        flat = max(row.untrained for row in study.findings if row.name == name)
        control = Series("untrained", [(xs[0], flat), (xs[-1], flat)], 8, style="dashed")
        title = name.replace("_", " ")
        drawings.append(line_chart(title, [line, control], label, include=(0.0, 1.0)))
    text = "Best layer of each checkpoint; dashed: the best layer of an untrained network."
    return paragraph(text) + charts(drawings)


def _where(study: Study, names: Sequence[str], steps: Sequence[int | None]) -> str:
    drawings = []
    for step in steps:
        rows = [row for row in study.findings if row.checkpoint == step]
        layers = list(dict.fromkeys(row.layer for row in rows))
        by_place = {(row.name, row.layer): row.score for row in rows}
        values = [
            [study.board[name].score, *(by_place[name, layer] for layer in layers)]
            for name in names
        ]
        labels = [name.replace("_", " ") for name in names]
        drawings.append(heat_map(rows[0].subject, labels, [BOARD, *layers], values))
    text = "Scores by layer, from the input to the output; the first column is read off the pieces."
    return paragraph(text) + charts(drawings)


def _boards(study: Study, best: Sequence[Finding]) -> str:
    parts = []
    for row in sorted(best, key=gain, reverse=True):
        found = study.examples[row.name]
        blocks = [
            f"<h4>{title}</h4>" + _gallery(found[kind])
            for kind, title in (("best", "Surest and right"), ("worst", "Surest and wrong"))
            if found[kind]
        ]
        summary = escape(f"{row.name.replace('_', ' ')}: {_words(row.name).lower()}")
        parts.append(f"<details><summary>{summary}</summary>{''.join(blocks)}</details>")
    text = "Held-out boards of which the best layer's probe was surest; White is below."
    return paragraph(text) + "".join(parts)


def _gallery(examples: Sequence[Example]) -> str:
    figures = []
    for example in examples:
        side = "White" if example.fen.split()[1] == "w" else "Black"
        text = f"{side} to move; probe {example.probability:.0%}, truth {_yes(example.label)}"
        figures.append(
            f"<figure>{small_board(example.fen, escape(example.fen))}"
            f"<figcaption>{escape(text)}</figcaption></figure>"
        )
    return f'<div class="boards">{"".join(figures)}</div>'


def _yes(label: bool) -> str:
    return "yes" if label else "no"


def _counts(study: Study) -> str:
    question = study.question
    rows = []
    for index, concept in enumerate(question.concepts):
        having, without = question.counts(index)
        note = study.left_out.get(concept.name, "")
        rows.append([concept.name, f"{having:,}", f"{without:,}", note])
    return table(["concept", "positions with", "without", ""], rows)
