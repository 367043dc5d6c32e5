"""The claims of Salisch 2023, and the tables of our runs in docs/results.md."""

from __future__ import annotations

from typing import Any

import pytest

import ppo_versions
from rookery.papers.salisch2023.claims import CLAIMS, rows
from rookery.papers.salisch2023.report import minutes
from rookery.report.groups import Group
from rookery.report.read import RunData
from support.paths import PROJECT

RESULTS = PROJECT / "docs" / "results.md"


def test_the_printed_table_is_read_back() -> None:
    text = RESULTS.read_text()
    lines = list(ppo_versions.lines_in(text))
    assert {line.version for line in lines} == set(range(1, 11))
    again = ppo_versions.versions_table(sorted(lines, key=lambda line: line.key))
    assert again in text
    first = next(line for line in lines if line.key == (1, "", 1))
    assert first.curve[1000] == 305 and first.minutes == 26


def test_the_claims_in_the_docs_follow_from_the_table() -> None:
    text = RESULTS.read_text()
    table = ppo_versions.claims_table(list(ppo_versions.lines_in(text)), [])
    for line in table.splitlines()[2:]:
        assert line in text
    assert table.count("\n") == 1 + len(CLAIMS)


def test_the_picture_in_the_docs_is_that_of_the_table() -> None:
    lines = sorted(ppo_versions.lines_in(RESULTS.read_text()), key=lambda line: line.key)
    drawn = PROJECT / "docs" / "images" / "ppo-versions.svg"
    assert ppo_versions.picture(lines) == drawn.read_text()


def run(version: int, seconds: float, iterations: int) -> RunData:
    rows: list[dict[str, Any]] = [{"iteration": iterations, "seconds": seconds}]
    return RunData(f"v{version}", {"name": f"ppo-v{version}"}, rows)


def test_training_times_are_compared_per_1000_iterations() -> None:
    made = [
        (Group("ppo-v3", "", (run(3, 600, 500), run(3, 1320, 1000))), 3),
        (Group("ppo-v4", "run.budget=40it, run.evaluations=0", (run(4, 30, 40),)), 4),
        (Group("ppo-v4", "ppo.clip=0.1", (run(4, 1, 1000),)), 4),  # another algorithm
    ]
    times = minutes(made)
    assert times == {3: [20.0, 22.0], 4: [12.5]}
    (row,) = rows({}, times)
    assert row[1:] == ["v4 - v3", "1, 2", "", "-8.5 minutes", "open: one run is not enough"]


@pytest.mark.parametrize(
    ("new", "verdict"), [([9.0, 11.0, 10.0], "supported"), ([20.0, 22.0, 21.0], "not shown")]
)
def test_a_shorter_time_supports_the_claim(new: list[float], verdict: str) -> None:
    (row,) = rows({}, {3: [20.0, 21.0, 22.0], 4: new})
    assert row[-1] == verdict
