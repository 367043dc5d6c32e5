"""Time until the page can be used: `python benchmarks/page_ready.py [LOADS]`.

A server of `rookery play` and Chromium on this machine. Each load is that of a new visitor, with
an empty cache; the page says itself when it is ready, that is, when a game is on the board. Prints
the milliseconds since the navigation began. Needs Chromium (`make setup packages`).
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.browser_parts import opened_page

WATCH = """
new MutationObserver((_, observer) => {
  if (document.documentElement?.dataset.ready !== "true") return;
  window.readyAfter = performance.now();
  observer.disconnect();
}).observe(document, { attributes: true, childList: true, subtree: true });
"""


def main(loads: int) -> int:
    """Load the page some times and print a JSON object."""
    with (
        tempfile.TemporaryDirectory() as runs,
        tempfile.TemporaryDirectory() as downloads,
        opened_page(Path(runs), Path(downloads)) as page,
    ):
        page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
        page.driver.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
        times = []
        for _ in range(loads):
            page.open()
            times.append(round(page.script("return window.readyAfter")))
    median = statistics.median(times)
    print(json.dumps({"loads": loads, "median_ms": median, "worst_ms": max(times), "ms": times}))
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
