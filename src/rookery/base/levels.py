"""Which compiled form of the native module is used.

A build for one machine has one `rookery/_core.*`. A wheel for x86-64 has one for each level of CPU,
`rookery/levels/LEVEL/_core.*`; the best that this CPU can run becomes `rookery._core` at import.
The environment variable ROOKERY_CPU chooses another, to compare them or to rule out a fault.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

VARIABLE = "ROOKERY_CPU"
LEVELS = ("baseline", "avx2", "avx512")  # each can run what the ones before it can
CORE = "rookery._core"
FOLDER = Path(__file__).resolve().parents[1] / "levels"


def installed_levels(folder: Path = FOLDER) -> list[str]:
    """The levels of this installation, the plainest first; none if it was built for one machine."""
    return [level for level in LEVELS if _module_file(folder, level) is not None]


def choose_level(installed: list[str], cpu: str, wanted: str = "") -> str:
    """The level to use on a CPU of level `cpu`: the one that is wanted, or the best."""
    runs = [level for level in installed if LEVELS.index(level) <= LEVELS.index(cpu)]
    if not wanted:
        return runs[-1]
    if wanted not in installed:
        raise ImportError(f"{VARIABLE} is {wanted!r}; this installation has {', '.join(installed)}")
    if wanted not in runs:
        raise ImportError(
            f"{VARIABLE} is {wanted!r}, but this CPU cannot run that; it runs {', '.join(runs)}"
        )
    return wanted


def load_level(folder: Path = FOLDER) -> str:
    """Make the chosen level `rookery._core`; "" if there is only one, found in the usual way."""
    installed = installed_levels(folder)
    if not installed or CORE in sys.modules:
        return ""
    from rookery._cpu import level as level_of_this_cpu  # compiled for any CPU

    level = choose_level(installed, level_of_this_cpu(), os.environ.get(VARIABLE, ""))
    spec = importlib.util.spec_from_file_location(CORE, _module_file(folder, level))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[CORE] = module
    spec.loader.exec_module(module)
    return level


def _module_file(folder: Path, level: str) -> Path | None:
    paths = (folder / level / f"_core{suffix}" for suffix in EXTENSION_SUFFIXES)
    return next((path for path in paths if path.is_file()), None)
