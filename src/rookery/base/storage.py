"""Atomic file writes: a crash at any instant leaves the old file or the new one.

The order is always: write to a temporary name, sync the file, rename it, sync the folder.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
from pathlib import Path

# Flags that not every system has: to refuse symbolic links and leave bytes as they are; to open a
# folder.
PLAIN_FILE: int = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
FOLDER: int | None = getattr(os, "O_DIRECTORY", None)

_EXPLANATIONS = {
    errno.ENOSPC: "no space is left on the disk; free some",
    errno.EDQUOT: "the disk quota is used up; free some space",
    errno.EROFS: "the file system is read-only; choose another folder",
    errno.EACCES: "access is not permitted; choose another place or change its permissions",
    errno.EPERM: "access is not permitted; choose another place or change its permissions",
    errno.EIO: "the disk reports an input/output error",
    errno.ELOOP: "a symbolic link stands in its place; remove it",
    errno.ENOENT: "there is no such file or folder",
    errno.EISDIR: "it is a folder; name a file",
    errno.EEXIST: "a file stands in the way; choose another name",
    errno.ENOTDIR: "a part of the path is not a folder",
}


def checksum(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def explain(error: OSError) -> str:
    """Describe a file error in words, with a remedy where there is one."""
    reason = _EXPLANATIONS.get(error.errno or 0, error.strerror or str(error))
    return f"{error.filename}: {reason}" if error.filename else reason


def write_all(descriptor: int, data: bytes, path: Path) -> None:
    """Write every byte, or raise an error that names the path."""
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError as error:
        raise _named(error, path) from error


def write_synced(path: Path, data: bytes) -> None:
    """Create a file, which must not exist yet, and sync it to the disk."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | PLAIN_FILE
    descriptor = os.open(path, flags, 0o644)
    try:
        write_all(descriptor, data, path)
        try:
            os.fsync(descriptor)
        except OSError as error:
            raise _named(error, path) from error
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Sync a folder's entries to the disk, on systems where a folder can be opened."""
    if FOLDER is None:
        return
    descriptor = os.open(path, os.O_RDONLY | FOLDER)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def atomic_write(path: Path, data: bytes | str) -> None:
    """Create or replace the file at `path` atomically; a symbolic link is not followed."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with contextlib.suppress(FileNotFoundError):
        temporary.unlink()
    try:
        write_synced(temporary, data.encode() if isinstance(data, str) else data)
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            raise _named(error, path) from error
        raise
    sync_folder(path.parent)


def atomic_folder(path: Path, files: dict[str, bytes]) -> None:
    """Create the folder `path` with these files atomically; it must not exist or be empty."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    if temporary.exists():
        shutil.rmtree(temporary)
    try:
        temporary.mkdir()
        for name, data in files.items():
            write_synced(temporary / name, data)
        sync_folder(temporary)
        os.rename(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    sync_folder(path.parent)


def remove_folder(path: Path) -> None:
    """Remove a folder; its name disappears atomically, before its content."""
    doomed = path.with_name(f".{path.name}.{os.getpid()}.old")
    if doomed.exists():
        shutil.rmtree(doomed)
    os.rename(path, doomed)
    shutil.rmtree(doomed, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files left by a killed process; call only while holding the run's lock."""
    for entry in folder.iterdir():
        if entry.name.startswith(".") and entry.name.endswith((".tmp", ".old")):
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)


def _named(error: OSError, path: Path) -> OSError:
    """The error with the path, which errors of file descriptors lack."""
    return OSError(error.errno, error.strerror, str(path))
