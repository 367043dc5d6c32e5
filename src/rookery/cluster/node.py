"""What runs on a node: a function by its name, and a description of the node.

Processes of a node are used again for many pieces. Work functions may keep what is expensive to
make, such as a network, in `cached`.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeVar

from rookery._core import __file__ as core_file
from rookery.base.registry import load

T = TypeVar("T")

# Differences in these may change any result, those in KERNEL the last bits of floating-point sums.
MUST_AGREE = ("rookery", "sources", "python", "numpy", "torch", "machine")
KERNEL = ("core", "features")
FEATURES = ("avx", "avx2", "fma", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "asimd")

_cache: OrderedDict[Hashable, Any] = OrderedDict()
CACHED = 4


def cached(key: Hashable, make: Callable[[], T]) -> T:
    """A value made once in this process; the few last used ones are kept."""
    if key not in _cache:
        _cache[key] = make()
        while len(_cache) > CACHED:
            _cache.popitem(last=False)
    _cache.move_to_end(key)
    found: T = _cache[key]
    return found


def perform(work: str, content: bytes, shared: tuple[bytes, ...]) -> tuple[Any, ...]:
    """Do a piece; the fields of `jobs.Answer`."""
    began, cpu, modules = time.perf_counter(), time.process_time(), set(sys.modules)
    try:
        data, positions = load(work)(shared, content)
    except KeyboardInterrupt:  # the piece was given up
        if set(sys.modules) != modules:
            os._exit(1)  # torch, half imported, cannot be imported again in this process
        _cache.clear()
        raise
    digest = hashlib.sha256(data).hexdigest()
    return data, digest, positions, time.perf_counter() - began, time.process_time() - cpu


def facts() -> dict[str, str]:
    """What decides whether this node's results are those of another one."""
    return {
        "rookery": _version("rookery"),
        "sources": _sources(),
        "python": ".".join(map(str, sys.version_info[:2])),
        "numpy": _version("numpy"),
        "torch": _version("torch"),
        "machine": platform.machine(),
        "core": hashlib.sha256(Path(str(core_file)).read_bytes()).hexdigest()[:16],
        "features": " ".join(name for name in FEATURES if name in _flags()),
    }


def differences(ours: dict[str, str], theirs: dict[str, str], keys: tuple[str, ...]) -> str:
    """The facts in which two nodes differ, as text; empty if there are none."""
    return ", ".join(
        f"{key} {theirs.get(key) or 'none'} instead of {ours.get(key) or 'none'}"
        for key in keys
        if ours.get(key) != theirs.get(key)
    )


def describe() -> dict[str, Any]:
    """The facts, and what `rookery doctor --cluster` shows besides."""
    # Each fork of a node's worker would otherwise use as many threads as there are cores.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    return {
        "facts": facts(),
        "host": platform.node(),
        "processor": _processor(),
        "pid": os.getpid(),
    }


def _sources() -> str:
    """Hash of the package's Python files and recipes."""
    summary, root = hashlib.sha256(), Path(__file__).resolve().parents[1]
    for path in sorted([*root.rglob("*.py"), *root.rglob("*.toml")]):
        summary.update(str(path.relative_to(root)).encode())
        summary.update(path.read_bytes())
    return summary.hexdigest()[:16]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _cpuinfo(*keys: str) -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in keys:
            return value.strip()
    return ""


def _flags() -> set[str]:
    return set(_cpuinfo("flags", "Features").split())


def _processor() -> str:
    return _cpuinfo("model name") or platform.machine()
