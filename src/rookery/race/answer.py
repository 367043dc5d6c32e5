"""Salisch 2023's question, answered from the data: PPO or AlphaZero, same hardware, same time?"""

from __future__ import annotations

from rookery.race.methods import METHODS
from rookery.race.results import Estimate, Results, over_seeds

RIVALS = ("alphazero", "ppo")


def ways_in_words(results: Results) -> dict[str, str]:
    """How each way of playing is called in a sentence."""
    settings = results.race.settings
    return {
        "bare": "by the network alone",
        "fixed": f"at {settings.evaluations} evaluations a move",
        "timed": f"at {settings.movetime:g} s a move",
    }


def differences(results: Results) -> tuple[float, dict[str, Estimate]]:
    """AlphaZero minus PPO by way, at the last point in core-minutes that both have in all of them.

    Without ratings of both, no difference.
    """
    shared: dict[str, set[float]] = {}
    for way in ways_in_words(results):
        both = [set(results.planned_points(name, way)) - {0.0} for name in RIVALS]
        if both[0] & both[1]:
            shared[way] = both[0] & both[1]
    if not shared:
        return 0.0, {}
    common = set.intersection(*shared.values())
    point = max(common) if common else max(min(points) for points in shared.values())
    found = {}
    for way, points in shared.items():
        if point in points:
            first, second = (over_seeds(results.at(name, way, point)) for name in RIVALS)
            found[way] = first.minus(second)
    return point, found


def answer(results: Results) -> tuple[str, str]:
    """The verdict, and the figures behind it, one sentence each."""
    point, found = differences(results)
    first, second = (METHODS.find(name).title for name in RIVALS)
    if not found:
        missing = [
            METHODS.find(name).title
            for name in RIVALS
            if not any(each.entrant.method == name for each in results.points)
        ]
        who = " and ".join(missing) or "one of them in every way of playing"
        return "Not answered yet.", f"This race has no ratings of {who}."
    ahead = {way: _ahead(each) for way, each in found.items()}
    winners = set(ahead.values())
    spent = f"{point:g} minutes" if point > 1 else f"{60 * point:g} seconds"
    same = f"After the same {spent} of processor time on the same machine"
    if winners == {0}:
        verdict = f"{same}, {first} is stronger than {second}."
    elif winners == {1}:
        verdict = f"{same}, {second} is stronger than {first}."
    elif winners == {None}:
        verdict = f"{same}, no difference between {first} and {second} is shown."
    else:
        verdict = f"{same}, it depends on how they play."
    words = ways_in_words(results)
    parts = []
    for way, each in found.items():
        leader = second if each.elo < 0 else first
        shown = each if each.elo >= 0 else Estimate(-each.elo, -each.high, -each.low)
        sure = "" if ahead[way] is not None else " (not certain)"
        interval = f"[{shown.low:.0f}, {shown.high:.0f}]"
        parts.append(f"{words[way]}, {leader} leads by {shown.elo:.0f} Elo {interval}{sure}")
    seeds = min(each.seeds for each in found.values())
    runs = (
        "one seed each, so chance in training is not in the intervals"
        if seeds == 1
        else (f"{seeds} seeds each")
    )
    text = "; ".join(parts)
    return verdict, f"{text[:1].upper()}{text[1:]} ({runs})."


def _ahead(difference: Estimate) -> int | None:
    """Which of the rivals is certainly stronger; None: neither."""
    if difference.low > 0:
        return 0
    return 1 if difference.high < 0 else None
