"""How many cores this process may use."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """Cores this process may run on; all cores if the system does not support affinity."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        return os.cpu_count() or 1
