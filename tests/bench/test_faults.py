"""Short forms of the long trials in benchmarks/: damaged files, and what a flat memory is."""

from __future__ import annotations

import time

import pytest

from file_fuzz import NETWORKS, fuzz
from rookery.nets.registry import FAMILIES
from soak import judge


@pytest.mark.parametrize("kind", ["model", "onnx", "pgn"])
def test_damaged_files_are_read_or_refused(kind: str) -> None:
    counts, faults = fuzz(kind, 200, 77 * 10**9, time.monotonic() + 60)
    assert faults == []
    assert counts["refused"] > 20 and counts["accepted"] > 5
    assert counts.keys() == {"refused", "accepted"}


def test_model_files_of_every_family_are_damaged() -> None:
    assert {family for family, *_ in NETWORKS} == set(FAMILIES)


@pytest.mark.parametrize(
    ("curve", "flat"),
    [
        ([50.0, *[200.0] * 40], True),
        ([200.0] * 20 + [230.0] * 20, True),
        ([100.0 + 10.0 * minute for minute in range(40)], False),
        ([200.0] * 40 + [0.0], False),  # it ended
    ],
)
def test_what_is_flat(curve: list[float], flat: bool) -> None:
    assert judge(curve)["flat"] is flat
