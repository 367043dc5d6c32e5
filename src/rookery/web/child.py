"""A command that ends with the process that started it: `child.py PARENT WORDS...`.

The guard of engines would not do: it puts its program in another session, where no Ctrl-C of the
terminal arrives, and kills it. A trainer gets SIGTERM, at which it saves.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time
from collections.abc import Sequence

SECONDS = 0.5  # between two looks


def command(words: Sequence[str]) -> list[str]:
    """Return the command line of a child of this process that runs `rookery WORDS`."""
    return [sys.executable, "-m", "rookery.web.child", str(os.getpid()), *words]


def end_with(parent: int) -> None:
    """Send SIGTERM to this process when `parent`, which started it, is gone."""
    while os.getppid() == parent:
        time.sleep(SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Run a command of Rookery, as `python -m rookery.cli WORDS`."""
    program, parent, *words = sys.argv
    if os.name == "posix":  # on Windows the parent may be a launcher, and never changes
        threading.Thread(target=end_with, args=(int(parent),), daemon=True).start()
    sys.argv = [program, *words]
    runpy.run_module("rookery.cli", run_name="__main__")


if __name__ == "__main__":
    main()
