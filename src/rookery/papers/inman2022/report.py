"""The pie charts of Inman and Ezra Marin (2022) beside ours, in reports with `ddqn-paper` runs.

The paper's charts are 20 games against a weakened Stockfish, in which its code let a hand-written
evaluation judge the leaves. Ours let the network alone judge them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rookery.papers.inman2022.pies import Counts, pie_rows
from rookery.report.groups import Group
from rookery.report.html import paragraph, section, table, wide
from rookery.report.read import RunData
from rookery.runs.reader import number

OPPONENTS = ("stockfish,depth=1", "stockfish,skill=2,depth=3", "simplified")


@dataclass(frozen=True)
class Setting:
    """One setting of the experiment, with the paper's chart where there is one."""

    name: str
    gamma: float
    norm: bool
    source: str
    episodes: int
    observation: str = "planes12"
    published: Counts | None = None  # percentages


SETTINGS = (
    Setting("quarter-norm", 0.25, True, "self-play", 300, published=(20, 10, 70)),
    Setting("eighth-norm", 0.125, True, "self-play", 500, published=(10, 15, 75)),
    Setting("quarter", 0.25, False, "self-play", 500, published=(10, 15, 75)),
    Setting("half", 0.5, False, "self-play", 500, published=(10, 5, 85)),
    Setting("quarter-games", 0.25, False, "games", 400, published=(5, 30, 65)),
    Setting("quarter-norm-games", 0.25, True, "games", 300),
    Setting("quarter-norm-both", 0.25, True, "both", 300),
    Setting("half-norm", 0.5, True, "self-play", 300),
    Setting("eighth", 0.125, False, "self-play", 500),
    Setting("quarter-norm-14", 0.25, True, "self-play", 300, "planes14"),
)


def setting_of(run: RunData) -> Setting | None:
    """The setting that a run used, whatever its number of episodes."""
    recipe = run.recipe
    for setting in SETTINGS:
        used = (
            recipe.get("agent.gamma"), recipe.get("network.norm"), recipe.get("agent.source"),
            recipe.get("agent.observation"),
        )  # fmt: skip
        wanted = (setting.gamma, setting.norm, setting.source, setting.observation)
        if used == wanted and recipe.get("agent.updates") == 1:
            return setting
    return None


def counts_of(runs: Sequence[RunData], opponent: str) -> Counts:
    """Wins, draws and losses of the last match of each run against an opponent."""
    total = [0, 0, 0]
    for run in runs:
        for row in run.against(opponent)[-1:]:
            for place, key in enumerate(("wins", "draws", "losses")):
                total[place] += round(number(row.get(key)) or 0)
    return total[0], total[1], total[2]


def interval(share: float, games: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of `games` games."""
    if not games:
        return 0.0, 1.0
    z = 1.96
    middle = (share + z * z / (2 * games)) / (1 + z * z / games)
    half = z / (1 + z * z / games)
    half *= math.sqrt(share * (1 - share) / games + z * z / (4 * games * games))
    return max(0.0, middle - half), min(1.0, middle + half)


def result_text(counts: Counts) -> str:
    """Shares of wins, draws and losses, and the interval of the wins."""
    games = sum(counts)
    if not games:
        return "-"
    shares = "/".join(f"{100 * count / games:.0f}" for count in counts)
    low, high = interval(counts[0] / games, games)
    return f"{shares} % of {games}, wins {100 * low:.0f} to {100 * high:.0f} %"


def is_finished(run: RunData) -> bool:
    """Whether a run has played its last matches; the untrained network plays some as well."""
    return any(number(row.get("iteration")) for row in run.against(OPPONENTS[-1]))


def by_setting(runs: Sequence[RunData]) -> list[tuple[Setting, list[RunData]]]:
    """The finished runs of each setting, in the paper's order."""
    alike: dict[str, list[RunData]] = {}
    for run in runs:
        setting = setting_of(run)
        if setting is not None and is_finished(run):
            alike.setdefault(setting.name, []).append(run)
    return [(each, alike[each.name]) for each in SETTINGS if each.name in alike]


def table_rows(runs: Sequence[RunData]) -> list[list[str]]:
    """Setting, number of runs, and the result against each opponent."""
    return [
        [
            title(setting),
            str(len(members)),
            *(result_text(counts_of(members, opponent)) for opponent in OPPONENTS),
        ]
        for setting, members in by_setting(runs)
    ]


def title(setting: Setting) -> str:
    """A setting in words."""
    gamma = {0.5: "1/2", 0.25: "1/4", 0.125: "1/8"}[setting.gamma]
    norm = "norm" if setting.norm else "no norm"
    return f"gamma {gamma}, {norm}, {setting.source}, {setting.observation}"


def figure(found: Sequence[tuple[Setting, Sequence[Counts]]]) -> str:
    """The paper's pies beside ours against each opponent, an SVG."""
    rows = []
    for setting, ours in found:
        gamma, norm, *rest = title(setting).split(", ")
        rows.append(((f"{gamma}, {norm}", ", ".join(rest)), (setting.published, *ours)))
    columns = [("the paper", "20 games"), *(("ours", f"v {name}") for name in OPPONENTS)]
    return pie_rows(columns, rows)


def study(groups: Sequence[Group], colours: Sequence[tuple[str, int]]) -> str:
    """The section, "" without finished runs of a setting; `colours` is the page's legend."""
    runs: list[Any] = [run for group in groups for run in group.runs]
    found = by_setting(runs)
    if not found:
        return ""
    counts = [
        (setting, [counts_of(members, opponent) for opponent in OPPONENTS])
        for setting, members in found
    ]
    note = (
        "The paper's charts are 20 games against a weakened Stockfish with a hand-written "
        "evaluation at the leaves; ours have the network alone at the leaves, two plies deep, "
        "over all seeds."
    )
    heads = ("setting", "runs", *OPPONENTS)
    content = [paragraph(note), wide(figure(counts)), table(heads, table_rows(runs))]
    return section("Inman and Ezra Marin 2022", "".join(content))
