"""The page of a race: the answer first, then strength, skills, costs, pairs, games and method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from rookery.arena.elo import estimate_from_pairs
from rookery.race.answer import answer, ways_in_words
from rookery.race.curves import (
    GREY,
    colours,
    minutes_text,
    samples_chart,
    skill_charts,
    strength_chart,
)
from rookery.race.methods import METHODS, WAYS
from rookery.race.pool import PairRow
from rookery.race.published import PUBLISHED
from rookery.race.results import Results, final_pairs
from rookery.report.document import asset, document
from rookery.report.games import SampleGame, sample_game
from rookery.report.html import charts, legend, paragraph, section, table, wide
from rookery.report.viewer import viewer

TITLE = "The race: every method with the same processor time"
QUESTION = (
    "Salisch 2023 trained PPO on one graphics card and left open what AlphaZero would "
    "have reached on the same hardware in the same time."
)
UNEQUAL = (
    "Each method has its own network, chosen for it: a larger one learns less often.",
    "Schedules (learning rates, simulations) are laid out for the whole time, so an early "
    "checkpoint is weaker than a run of that length would be.",
    "Recipes were tuned for a long time by us, some longer than others.",
    "Methods with labels learn from Stockfish; making the labels is part of their time, making "
    "Stockfish is not. Giraffe begins with the values of pieces. The others begin with nothing.",
    "A value network that looks at every move (the network alone) sees a mate in one by the rules; "
    "a policy has to know it. It evaluates some 30 positions for a move, a policy one.",
    "An evaluation of one network costs up to forty times that of another: see the cost of a move.",
    "Checkpoints are made between iterations, so their times differ a little from the plan; charts "
    "show the times as they were.",
)
GAMES_SHOWN = 3  # of each way of playing


def make_page(results: Results) -> str:
    """The whole page as HTML."""
    verdict, figures = answer(results)
    body = [
        f"<h1>{escape(TITLE)}</h1>",
        f'<p class="soft">{escape(QUESTION)}</p>',
        f'<p class="answer"><strong>{escape(verdict)}</strong> {escape(figures)}</p>',
        legend([*colours(results), ("what papers reported", GREY)]),
        _strength(results),
        section("What each reached", _reached(results)),
        section("What each can do early", _skills(results)),
        section("Positions and games", _learnt(results)),
        section("The cost of a move", _costs(results)),
        section("Pairs of games", _pairs(results)),
        section("Games", viewer(sample_games(results))),
        section("What the papers reported", _papers(results)),
        section("What is unequal", _list(UNEQUAL)),
        section("How it was measured", _how(results)),
    ]
    return document(TITLE, "".join(body), asset("script.js"))


def _list(items: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def _strength(results: Results) -> str:
    drawings = [(way, strength_chart(results, way)) for way in ("timed", "fixed", "bare")]
    made = [wide(drawing) for _, drawing in drawings if drawing]
    if not made:
        return section("Strength", paragraph("No games have been rated yet."))
    text = (
        "Elo on the ladder of rookery rate over processor time, on a logarithmic axis; the "
        "untrained network stands at 0. A line is the mean over seeds in a band of their range; "
        "with a single seed, bars are the 95 % intervals of its games. Dashed: what papers "
        "reported, whose time is not known."
    )
    return section("Strength", paragraph(text) + "".join(made))


def _reached(results: Results) -> str:
    words = ways_in_words(results)
    heads = ["method", "seeds", *(f"Elo {words[way]}" for way in WAYS)]
    heads += ["core-minutes", "of these before its run"]
    rows = []
    for name in results.methods():
        last = [results.last(name, way) for way in WAYS]
        seeds = {entrant.seed for entrant in results.entrants if entrant.method == name}
        minutes = max(each.minutes for each in results.entrants if each.method == name)
        before = max(results.before[name, seed] for seed in seeds)
        cells = [str(each) if each else "not rated yet" for each in last]
        rows.append(
            [METHODS.find(name).title, str(len(seeds)), *cells, f"{minutes:.1f}",
             f"{before:.1f}" if before else ""]
        )  # fmt: skip
    notes = [
        f"{METHODS.find(name).title}: {note}."
        for name in results.methods()
        if (note := METHODS.find(name).note)
    ]
    text = "At the last checkpoint; mean over seeds with its 95 % interval."
    return paragraph(text) + table(heads, rows, "figures") + (_list(notes) if notes else "")


def _skills(results: Results) -> str:
    drawings = skill_charts(results)
    if not drawings:
        return paragraph("No skill has been asked yet.")
    text = (
        "Per cent solved at each checkpoint, mean over seeds in a band of their range; grey: a "
        "player that moves at random. Value networks see mates in one by the rules."
    )
    return paragraph(text) + f'<div class="small-charts">{"".join(drawings)}</div>'


def _learnt(results: Results) -> str:
    heads = ["method", "seed", "iterations", "positions learnt from", "games played",
             "positions a core-second"]  # fmt: skip
    last = {(each.method, each.seed): each for each in results.entrants}
    rows = []
    for entrant in last.values():
        seconds = 60 * (entrant.minutes - results.before[entrant.method, entrant.seed])
        rows.append(
            [
                METHODS.find(entrant.method).title,
                str(entrant.seed),
                f"{entrant.step:,}",
                f"{entrant.samples:,}",
                f"{entrant.games:,}" if entrant.games else "",
                f"{entrant.samples / seconds:,.0f}" if seconds > 0 else "",
            ]
        )
    return table(heads, rows) + charts([samples_chart(results)])


def _costs(results: Results) -> str:
    rows = []
    owners = {entrant.name: entrant for entrant in results.entrants}
    for name in results.methods():
        cells = []
        for way in WAYS:
            found = [
                row
                for row in results.skills
                if row.skill == f"cost-{way}" and owners[row.player].method == name
            ]
            row = found[-1] if found else None
            cells.append("" if row is None else f"{1000 * row.solved:.2f} ms, {row.total:,.0f}")
        if any(cells):
            rows.append([METHODS.find(name).title, *cells])
    if not rows:
        return paragraph("Not measured yet.")
    words = ways_in_words(results)
    text = (
        "Processor time of a move and evaluations (simulations, nodes, positions) that it made, on "
        "average over 12 positions; a search may end early when nothing can change its move."
    )
    return paragraph(text) + table(["method", *(words[way] for way in WAYS)], rows)


def _pairs(results: Results) -> str:
    parts, words = [], ways_in_words(results)
    for way in WAYS:
        rows = []
        for (first, second), counts in final_pairs(results, way).items():
            estimate = estimate_from_pairs(counts)
            interval = f"{estimate.elo:+.0f} [{estimate.elo_low:+.0f}, {estimate.elo_high:+.0f}]"
            rows.append([_title(first), _title(second), *map(str, counts), interval])
        if rows:
            heads = ["first", "second", "0", "1/2", "1", "3/2", "2", "Elo difference"]
            games = sum(len(row.points) for row in results.rows[way])
            faults = sum(sum(row.faults) for row in results.rows[way])
            text = f"{words[way]}: {games:,} games in the pool, {faults} of them forfeited"
            shown = (
                f"<details><summary>{escape(text)}</summary>{table(heads, rows, 'words')}</details>"
            )
            parts.append(shown)
    if not parts:
        return paragraph("No games yet.")
    text = (
        "Colour-swapped pairs between last checkpoints, and against rungs of the ladder, by the "
        "points of the first. Ratings rest on all games, also on those of earlier checkpoints."
    )
    return paragraph(text[:1].upper() + text[1:]) + "".join(parts)


def _title(name: str) -> str:
    return METHODS[name].title if name in METHODS else name


def _papers(results: Results) -> str:
    rows = []
    for each in PUBLISHED:
        elo = each.elo(results.anchors)
        rows.append([each.paper, each.result, "" if elo is None else f"{elo:.0f}", each.note])
    text = (
        "Ratings follow from the score against a rung of our ladder. None of them states its "
        "training time as a number."
    )
    heads = ["paper", "reported", "Elo on our ladder", "note"]
    return paragraph(text) + table(heads, rows, "prose")


def _how(results: Results) -> str:
    settings = results.race.settings
    points = ", ".join(minutes_text(point) for point in settings.points())
    rungs = ", ".join(f"{name} ({elo:.0f})" for name, elo in results.anchors.items())
    lines = [
        f"{len(results.finished)} of {results.planned} runs are complete; methods "
        f"{', '.join(settings.methods)}, {settings.seeds} seeds, one core each.",
        f"Each run has {settings.budget / 60:g} minutes of processor time (threads and finished "
        "child processes), in which labels are made and first networks are trained as well; no "
        f"evaluations. Checkpoints after {points} minutes, or the end of the iteration.",
        f"Games from openings {settings.openings}, one for each colour-swapped pair; pairings "
        "where they tell most. One maximum-likelihood fit for each way of playing, the rungs held "
        f"at their ratings: {rungs}.",
        "By the clock every second checkpoint of a run plays, counted from the last.",
        f"Repeat or resume it: rookery race --budget {settings.budget / 60:g}m --seeds "
        f"{settings.seeds} --methods {','.join(settings.methods)} --out {results.race.folder}",
    ]
    lines += [f"Changed settings: {change}." for change in settings.changes]
    return _list(lines) + _checks(results)


def _checks(results: Results) -> str:
    if not results.checks:
        return paragraph("The ratings have not been compared with rookery rate yet.")
    pool = {(each.entrant.name, each.way): each for each in results.points}
    rows = []
    for check in results.checks:
        own = pool.get((check.player, check.way))
        if own is None:
            continue
        agree = own.estimate.low <= check.high and check.low <= own.estimate.high
        rated = f"{check.elo:.0f} [{check.low:.0f}, {check.high:.0f}]"
        rows.append(
            [own.entrant.name, str(own.estimate), f"{rated}, {check.games} games",
             "yes" if agree else "no"]
        )  # fmt: skip
    heads = ["checkpoint", "pool", "rookery rate", "intervals overlap"]
    return paragraph("The pool's ratings and those of rookery rate:") + table(heads, rows)


def sample_games(results: Results) -> list[SampleGame]:
    """A few decided games of each way of playing, between the strongest checkpoints."""
    owners = {entrant.name: entrant for entrant in results.entrants}
    words = ways_in_words(results)
    found = []
    for way in ("timed", "fixed", "bare"):
        elos = {each.entrant.name: each.estimate.elo for each in results.points if each.way == way}
        rows = [row for row in results.rows[way] if row.first in elos and row.second in elos]
        # Different pairs of methods, the strongest first; mates rather than draws.
        ordered = sorted(rows, key=lambda row: -min(elos[row.first], elos[row.second]))
        seen: set[frozenset[str]] = set()
        for row in ordered:
            methods = frozenset(owners[name].method for name in (row.first, row.second))
            mates = (n for n, why in enumerate(row.reasons) if why == "checkmate" and row.moves[n])
            mate = next(mates, None)  # archived pairs have no moves
            if mate is None or methods in seen:
                continue
            seen.add(methods)
            found.append(_sample(results, row, mate, words[way]))
            if len(seen) == GAMES_SHOWN:
                break
    return found


def _sample(results: Results, row: PairRow, number: int, way: str) -> SampleGame:
    owners: Mapping[str, str] = {
        each.name: f"{METHODS.find(each.method).title} ({minutes_text(each.minutes)} min)"
        for each in results.entrants
    }
    names = [owners[row.first], owners[row.second]]
    points = row.points[number]
    if number == 1:
        names, points = names[::-1], 1.0 - points
    result = {1.0: "1-0", 0.0: "0-1"}.get(points, "1/2-1/2")
    return sample_game(way, " - ".join(names), result, row.moves[number].split())
