"""Runs one peer script: `python run.py NAME [ARGUMENT ...]`; imports nothing from Rookery.

The script defines LABEL, CONDITIONS and `prepare(*arguments)`, which returns a function that does
some work and returns its number of units, or the units and the seconds by the script's own clock.
Each line of standard input is a number of seconds to measure for; the answer is a JSON line with
units per second. The end of standard input, also by a signal to Rookery, ends the process at once.
"""

from __future__ import annotations

import importlib.util
import json
import os
import queue
import sys
import threading
import time
from pathlib import Path


def read_into(requests: queue.SimpleQueue[float]) -> None:
    """Read what is asked for, while the script works."""
    with open(
        0, "rb", buffering=0, closefd=False
    ) as lines:  # not sys.stdin: its lock hinders exits
        for line in lines:
            requests.put(float(line))
    os._exit(0)


def main() -> None:
    """Load the script, report that it is ready, and measure on demand."""
    requests: queue.SimpleQueue[float] = queue.SimpleQueue()
    threading.Thread(target=read_into, args=(requests,), daemon=True).start()
    path = Path(__file__).with_name(sys.argv[1] + ".py")
    spec = importlib.util.spec_from_file_location("peer_script", path)
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(script)
        work = script.prepare(*sys.argv[2:])
        work()  # warm up: imports, caches
    except ImportError as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return
    print(json.dumps({"label": script.LABEL, "conditions": script.CONDITIONS}), flush=True)
    while True:
        seconds = requests.get()
        done, spent = 0, 0.0
        begin = before = time.perf_counter()
        while before - begin < seconds:
            result = work()
            now = time.perf_counter()
            units, took = result if isinstance(result, tuple) else (result, now - before)
            done, spent, before = done + units, spent + took, now
        print(json.dumps({"value": done / spent}), flush=True)


if __name__ == "__main__":
    main()
