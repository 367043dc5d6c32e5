"""Shared by all tests: where the data lies, one thread each, reproducible property tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# Before numpy or torch load: tests run beside each other on small machines.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import pytest
from hypothesis import HealthCheck, settings

# Started in the background of a shell, everything inherits an ignored SIGINT; the tests send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "rookery",
    deadline=None,  # a busy machine is not a failure
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("rookery")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The data folder; skips the test if there is none."""
    from rookery.data.paths import data_folder

    folder = data_folder()
    if folder is None or not folder.is_dir():
        pytest.skip("needs the data folder: set ROOKERY_DATA to it")
    return folder


@pytest.fixture
def no_console_errors(page: Any) -> Iterator[None]:
    """For tests of a web page (`support.browser_parts.Page`): nothing was logged as an error."""
    page.console()
    yield
    assert page.console() == []
