"""Shared by all tests: the data folder, one thread each, fixed random seeds, skips by reason."""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

# Before NumPy or torch are imported: several tests run at once on small machines.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from support.browser_parts import Page

# Games that tests play are not a person's.
os.environ["ROOKERY_GAMES"] = tempfile.mkdtemp(prefix="rookery-games-")

pytest_plugins = ["support.skips"]

# A process started in the background of a shell ignores SIGINT; the tests send that signal.
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


def pytest_runtest_setup() -> None:
    """Seed the global random streams, so that no test depends on those that ran before it."""
    random.seed(0)
    np.random.seed(0)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the data folder; skips the test if there is none."""
    from rookery.data.paths import data_folder

    folder = data_folder()
    if folder is None or not folder.is_dir():
        pytest.skip("needs the data folder: set ROOKERY_DATA to it")
    return folder


@pytest.fixture
def no_console_errors(page: Page) -> Iterator[None]:
    """Check that the browser's console shows no error after a test of a web page."""
    page.console()
    yield
    assert page.console() == []


@pytest.fixture
def phone(page: Page) -> Iterator[Page]:
    """The page on a phone; a test of it ends with nothing beyond the screen's edge."""
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield page
    width = page.script("return document.documentElement.scrollWidth")
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert width <= size["width"]
