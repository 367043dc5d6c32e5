from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rookery.base import storage
from rookery.base.storage import atomic_folder, atomic_write, remove_folder, remove_leftovers
from rookery.runs.lock import FolderLock, LockError


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_atomic_write_replaces_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    atomic_write(path, "one")
    atomic_write(path, b"two")
    assert path.read_bytes() == b"two"
    assert names(tmp_path) == ["file"]


def test_order_is_write_sync_rename_sync_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    kinds = {True: "sync folder", False: "sync file"}
    real = {name: getattr(os, name) for name in ("write", "fsync", "replace")}

    def fsync(descriptor: int) -> None:
        calls.append(kinds[os.path.isdir(f"/proc/self/fd/{descriptor}")])
        real["fsync"](descriptor)

    def write(descriptor: int, data: Any) -> int:
        calls.append("write")
        return int(real["write"](descriptor, data))

    def replace(*paths: Path) -> None:
        calls.append("rename")
        real["replace"](*paths)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "write", write)
    monkeypatch.setattr(os, "replace", replace)
    atomic_write(tmp_path / "file", "text")
    assert calls == ["write", "sync file", "rename", "sync folder"]


@pytest.mark.parametrize("call", ["write", "fsync", "replace", "open"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_any_failing_call_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    path = tmp_path / "file"
    atomic_write(path, "old")

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(OSError):
            atomic_write(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data)[:3]))
    atomic_write(tmp_path / "file", "0123456789")
    assert (tmp_path / "file").read_text() == "0123456789"


def test_a_symbolic_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("precious")
    link = tmp_path / "link"
    link.symlink_to(target)
    atomic_write(link, "new")
    assert target.read_text() == "precious"
    assert not link.is_symlink()


def test_atomic_folder_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = os.write, [0]

    def write(descriptor: int, data: Any) -> int:
        calls[0] += 1
        if calls[0] == 2:
            raise OSError(errno.ENOSPC, "full")
        return real(descriptor, data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        with pytest.raises(OSError, match="full"):
            atomic_folder(tmp_path / "folder", {"a": b"1", "b": b"2"})
    assert names(tmp_path) == []
    atomic_folder(tmp_path / "folder", {"a": b"1", "b": b"2"})
    assert names(tmp_path / "folder") == ["a", "b"]
    remove_folder(tmp_path / "folder")
    assert names(tmp_path) == []


def test_leftovers_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    (tmp_path / ".file.123.tmp").write_text("half")
    (tmp_path / ".00000001.123.old").mkdir()
    (tmp_path / "kept.tmp").write_text("not ours")
    remove_leftovers(tmp_path)
    assert names(tmp_path) == ["kept.tmp"]


def test_errors_are_explained() -> None:
    assert "no space" in storage.explain(OSError(errno.ENOSPC, "x", "/some/file"))
    assert "/some/file" in storage.explain(OSError(errno.ENOSPC, "x", "/some/file"))
    assert "read-only" in storage.explain(OSError(errno.EROFS, "x"))


def test_lock_refuses_a_second_holder_and_is_released(tmp_path: Path) -> None:
    refused = pytest.raises(LockError, match=f"process {os.getpid()}")
    with FolderLock(tmp_path), refused, FolderLock(tmp_path):
        pass
    with FolderLock(tmp_path):
        pass


def test_lock_of_a_dead_process_is_not_in_the_way(tmp_path: Path) -> None:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        FolderLock(tmp_path).__enter__()
        os.write(write, b"x")
        os.kill(os.getpid(), 9)
    os.read(read, 1)
    os.waitpid(pid, 0)
    assert str(pid) in (tmp_path / "lock").read_text()
    with FolderLock(tmp_path):
        assert str(os.getpid()) in (tmp_path / "lock").read_text()


def test_lock_does_not_outlive_its_holder_in_a_worker(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    read, write = os.pipe()
    with lock:
        pid = os.fork()
        if pid == 0:  # a worker that goes on after the trainer has ended
            os.close(write)
            os.read(read, 1)
            os._exit(0)
    try:
        with FolderLock(tmp_path):
            pass
    finally:
        os.close(write)
        os.waitpid(pid, 0)


@pytest.fixture
def small_disk(tmp_path: Path) -> Any:
    """A file system of 300 kB; skips where one cannot be made."""
    folder = tmp_path / "disk"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(words, capture_output=True).returncode != 0:
        pytest.skip("needs permission to mount a small tmpfs")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


def test_a_really_full_disk(small_disk: Path) -> None:
    path = small_disk / "file"
    atomic_write(path, b"old")
    with pytest.raises(OSError) as caught:
        atomic_write(path, bytes(1_000_000))
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == b"old"
    assert names(small_disk) == ["file"]
