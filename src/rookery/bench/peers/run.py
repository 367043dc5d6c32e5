"""Runs one peer script: `python run.py NAME`, under any Python that has the peer installed.

Imports nothing of Rookery. The script gives LABEL, CONDITIONS and `prepare()`, which returns a
function that does some work and returns how many units that was. Then each line of standard input
is a number of seconds to measure for; the answer is a JSON line with units per second.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from pathlib import Path


def main() -> None:
    """Load, tell that all is ready, measure on demand."""
    path = Path(__file__).with_name(sys.argv[1] + ".py")
    spec = importlib.util.spec_from_file_location("peer_script", path)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(script)
        work = script.prepare()
        work()  # warm up: imports, caches
    except ImportError as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return
    print(json.dumps({"label": script.LABEL, "conditions": script.CONDITIONS}), flush=True)
    for line in sys.stdin:
        seconds = float(line)
        done = 0
        begin = now = time.perf_counter()
        while now - begin < seconds:
            done += work()
            now = time.perf_counter()
        print(json.dumps({"value": done / (now - begin)}), flush=True)


if __name__ == "__main__":
    main()
