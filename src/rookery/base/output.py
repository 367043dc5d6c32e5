"""Standard streams that nobody reads any more."""

from __future__ import annotations

import errno
import os
from typing import TextIO


def reader_is_gone(error: OSError) -> bool:
    """Whether writing failed because the pipe (EPIPE) or the terminal (EIO) was closed."""
    return error.errno in (errno.EPIPE, errno.EIO)


def print_nowhere(*streams: TextIO) -> None:
    """Discard what is printed, or the interpreter complains at exit about what it holds."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream.fileno())
