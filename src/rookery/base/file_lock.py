"""Locks of open files that end with the process that holds them.

With flock on POSIX systems and with the locks of the C library on Windows. Elsewhere nothing is
locked: two processes are then kept apart only by their users.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from typing import Any

FAR = 1 << 30  # Windows keeps others from reading a locked byte, so it is one that nobody reads


def lock(descriptor: int) -> None:
    """Lock an open file, or raise an OSError at once if another process holds it."""
    if fcntl := _module("fcntl"):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    elif msvcrt := _module("msvcrt"):
        with _far_byte(descriptor):
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)


def unlock(descriptor: int) -> None:
    """Release the lock before the file is closed."""
    if fcntl := _module("fcntl"):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    elif msvcrt := _module("msvcrt"):
        with contextlib.suppress(OSError), _far_byte(descriptor):
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)


@contextlib.contextmanager
def _far_byte(descriptor: int) -> Any:
    """The file's position at the byte that stands for the lock."""
    before = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, FAR, os.SEEK_SET)
    try:
        yield
    finally:
        os.lseek(descriptor, before, os.SEEK_SET)


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
