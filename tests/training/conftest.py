"""The run that others are compared with."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.runs import train


@pytest.fixture(scope="session")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 40 iterations without any interruption."""
    folder = tmp_path_factory.mktemp("straight")
    train(folder)
    return folder / "run"
