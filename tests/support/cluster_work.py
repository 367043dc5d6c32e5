"""Work functions for tests of the cluster; nodes find them on PYTHONPATH."""

from __future__ import annotations

import importlib
import os
import time


def double(shared: tuple[bytes, ...], content: bytes) -> tuple[bytes, int]:
    """The content twice, after the shared bytes."""
    return b"".join(shared) + content + content, len(content)


def slowly(shared: tuple[bytes, ...], content: bytes) -> tuple[bytes, int]:
    """The content, after as many seconds as it says."""
    time.sleep(float(content.split()[0]))
    return content, 1


def refuse(shared: tuple[bytes, ...], content: bytes) -> tuple[bytes, int]:
    """An error."""
    raise ValueError(f"cannot do {content.decode()}")


def die(shared: tuple[bytes, ...], content: bytes) -> tuple[bytes, int]:
    """The process dies, the first time in a folder that the content names."""
    marker = os.path.join(content.decode(), "died")
    if not os.path.exists(marker):
        with open(marker, "w"):
            os._exit(1)
    return b"survived", 0


def simulated(shared: tuple[bytes, ...], content: bytes) -> tuple[bytes, int]:
    """A piece that takes as many seconds and returns as many bytes as its content says."""
    seconds, size, _ = content.split()
    time.sleep(float(seconds))
    return content * (int(size) // len(content)), 100


def interrupted(shared: tuple[bytes, ...], content: bytes) -> tuple[bytes, int]:
    """A piece that is given up, after or before it imports what the content names."""
    if content:
        importlib.import_module(content.decode())
    raise KeyboardInterrupt
