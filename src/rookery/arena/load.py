"""Detects stalls of this machine, so that no player loses on time because of one."""

from __future__ import annotations

import threading
import time
from collections import deque

PERIOD = 0.02  # seconds between two samples
NOTICED = 0.005  # shorter delays are ordinary scheduling


class LoadMonitor:
    """A thread that sleeps and measures how late it wakes up."""

    def __init__(self) -> None:
        """Start watching."""
        self._delays: deque[tuple[float, float]] = deque(maxlen=4096)  # (moment, seconds late)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="load-monitor", daemon=True)
        self._thread.start()

    def worst_delay(self, since: float) -> float:
        """Return the longest delay in seconds since a `time.monotonic()` moment."""
        return max((late for moment, late in list(self._delays) if moment >= since), default=0.0)

    def close(self) -> None:
        """Stop watching."""
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            before = time.monotonic()
            if self._stop.wait(PERIOD):
                return
            now = time.monotonic()
            late = now - before - PERIOD
            if late > NOTICED:
                self._delays.append((now, late))
