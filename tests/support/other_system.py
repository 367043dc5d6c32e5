"""Linux without what another system lacks: python -m support.other_system SYSTEM ARGUMENT ...

Takes away the calls that macOS or Windows do not have, then runs the `rookery` command. It cannot
show that the native module compiles there, only that no Python code of ours needs those calls.
"""

from __future__ import annotations

import asyncio
import builtins
import ctypes
import importlib
import os
import select
import selectors
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

# Imported before anything is missing: their own ways on other systems are not ours to test.
for _name in (
    "torch",
    "pyarrow",
    "safetensors.torch",
    "tensorboard",
    "uvicorn",
    "starlette",
    "rich",
):
    importlib.import_module(_name)
asyncio.get_event_loop_policy()

LINUX_ONLY = {
    os: ["sched_getaffinity", "sched_setaffinity", "waitid", "memfd_create", "pidfd_open"],
    select: ["epoll"],
    selectors: ["EpollSelector"],
}
POSIX_ONLY = {
    os: [
        "fork", "forkpty", "register_at_fork", "set_blocking", "O_NOFOLLOW", "O_DIRECTORY",
        "getuid", "geteuid", "setsid", "getpgid", "killpg", "sysconf", "getloadavg", "mkfifo",
        "uname", "nice", "statvfs", "fchmod", "fchown", "chown", "WNOHANG",
    ],
    select: ["poll"],
    selectors: ["PollSelector"],
    signal: ["SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGKILL", "SIGCHLD", "SIGPIPE", "alarm"],
}  # fmt: skip
POSIX_MODULES = ("fcntl", "resource", "termios", "tty", "pty", "pwd", "grp")


def take_away(system: str) -> None:
    """Make this process look like "macos" or "windows"."""
    _remove(LINUX_ONLY)
    selectors.DefaultSelector = selectors.SelectSelector  # type: ignore[misc, assignment]
    _hide_proc()
    ctypes.CDLL = _no_mallopt(ctypes.CDLL)  # type: ignore[misc]
    if system == "macos":
        return
    subprocess.Popen.__init__ = _plain_children(subprocess.Popen.__init__)  # type: ignore[method-assign]
    for name in POSIX_MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    _remove(POSIX_ONLY)


def _remove(table: dict[Any, list[str]]) -> None:
    for module, names in table.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)


def _hide_proc() -> None:
    """There is no /proc."""

    def hiding(function: Any) -> Any:
        def wrapped(path: Any, *arguments: Any, **options: Any) -> Any:
            if isinstance(path, str | Path) and str(path).startswith("/proc"):
                raise FileNotFoundError(2, "No such file or directory", str(path))
            return function(path, *arguments, **options)

        return wrapped

    builtins.open = hiding(builtins.open)
    Path.open = hiding(Path.open)  # type: ignore[method-assign]
    os.listdir = hiding(os.listdir)
    os.stat = hiding(os.stat)


def _no_mallopt(original: Any) -> Any:
    def library(name: Any, *arguments: Any, **options: Any) -> Any:
        if name is None:
            raise OSError("there is no such library")
        return original(name, *arguments, **options)

    return library


def _plain_children(original: Any) -> Any:
    """Windows refuses these arguments."""

    def start(self: Any, *arguments: Any, **options: Any) -> None:
        if any(options.get(name) for name in ("pass_fds", "start_new_session", "preexec_fn")):
            raise ValueError("not supported on this system")
        original(self, *arguments, **options)

    return start


if __name__ == "__main__":
    take_away(sys.argv[1])
    from rookery.cli import main

    sys.exit(main(sys.argv[2:]))
