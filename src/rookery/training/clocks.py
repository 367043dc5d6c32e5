"""What counts as the time of a run: that on the wall, or processor time.

Processor time does not depend on what else the machine does, so runs that share it with other jobs
can be compared. It is that of all threads of this process and of the processes that it has waited
for: an engine counts when it has ended.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping


def processor_seconds() -> float:
    """Processor time so far, of this process and of its finished children."""
    try:
        import resource
    except ImportError:  # Windows
        return time.process_time()
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


CLOCKS: Mapping[str, Callable[[], float]] = {
    "wall": time.monotonic,
    "processor": processor_seconds,
}  # by `run.clock`; each returns seconds since some moment
