"""A pytest plugin: lists what was skipped and why, and fails CI for a skip nobody agreed to.

The summary has one line for each reason, with the number of tests. With CI=true in the
environment, as `.ci/run` sets it, a reason that matches no pattern of `ALLOWED` fails the run:
what `make test` installs must be there, so that a test cannot fall silent unnoticed.
"""

from __future__ import annotations

import os
import re
from collections import Counter

import pytest

# Pattern at the start of the reason -> why CI may skip it. Keep it short.
ALLOWED = {
    r"needs the data folder": "test suites too large for the repository (ROOKERY_DATA)",
    r"needs Hugging Face datasets": "375 MB for one call, of no extra",
    r"needs permission to mount": "containers are usually not allowed to mount a file system",
}


def skip_reasons(reporter: pytest.TerminalReporter) -> Counter[str]:
    """Count the skipped tests and modules of this session by reason."""
    reasons: Counter[str] = Counter()
    for report in reporter.getreports("skipped"):
        _file, _line, reason = report.longrepr
        reasons[reason.removeprefix("Skipped: ")] += 1
    return reasons


def is_allowed(reason: str) -> bool:
    """Whether CI accepts this reason for skipping a test."""
    return any(re.match(pattern, reason) for pattern in ALLOWED)


def refused_reasons(config: pytest.Config) -> list[str]:
    """Reasons that fail this session: none outside CI, nor in a worker process of xdist."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") != "true" or reporter is None or hasattr(config, "workerinput"):
        return []
    return [reason for reason in skip_reasons(reporter) if not is_allowed(reason)]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail an otherwise successful session for a skip that is not allowed."""
    if session.exitstatus == pytest.ExitCode.OK and refused_reasons(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Write one line for each reason, the most frequent first."""
    reasons = skip_reasons(terminalreporter)
    if not reasons:
        return
    refused = refused_reasons(config)
    terminalreporter.section("skipped")
    for reason, count in reasons.most_common():
        note = "  [not allowed in CI, see tests/support/skips.py]" if reason in refused else ""
        terminalreporter.write_line(f"{count:5}  {reason}{note}")
