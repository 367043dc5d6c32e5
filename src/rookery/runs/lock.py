"""The lock that keeps a second trainer out of a run folder.

The kernel releases an flock when its process dies, so a lock is never stale; the text in the file
only tells a second trainer which process holds it.
"""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path

from rookery.base.file_lock import lock, unlock
from rookery.base.storage import PLAIN_FILE


class LockError(ValueError):
    """Another process is using the folder."""


class FolderLock:
    """Holds a folder's lock from entering the context to leaving it."""

    def __init__(self, folder: Path) -> None:
        """Lock nothing yet."""
        self.path = folder / "lock"
        self._descriptor = -1

    def __enter__(self) -> FolderLock:
        """Take the lock or raise `LockError` at once."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | PLAIN_FILE, 0o644)
        try:
            lock(descriptor)
        except OSError:
            holder = os.read(descriptor, 200).decode("utf-8", "replace").strip()
            os.close(descriptor)
            raise LockError(
                f"{self.path.parent} is being trained by another process ({holder or 'unknown'}); "
                "wait for it, stop it with Ctrl-C, or choose another --run"
            ) from None
        self._descriptor = descriptor
        with contextlib.suppress(OSError):  # on a full disk the lock works without its text
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
        # A worker process that outlives us must not keep the lock.
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._close)
        return self

    def __exit__(self, *_: object) -> None:
        """Release the lock; the file stays, as removing it would race with the next holder."""
        if self._descriptor >= 0:
            unlock(self._descriptor)
        self._close()

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
