"""Which level of the native module is used, and what is said about it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from rookery import LEVEL, _core, _cpu, doctor
from rookery.base.levels import LEVELS, choose_level, installed_levels
from support.paths import PROJECT

ALL = list(LEVELS)


def test_the_best_level_that_the_cpu_runs_is_chosen() -> None:
    assert [choose_level(ALL, cpu) for cpu in LEVELS] == ALL
    assert choose_level(["baseline", "avx2"], "avx512") == "avx2"
    assert choose_level(["baseline"], "avx512") == "baseline"


def test_another_can_be_chosen_but_none_that_would_crash() -> None:
    assert choose_level(ALL, "avx512", "avx2") == "avx2"
    with pytest.raises(ImportError, match="'avx512', but this CPU cannot run that; it runs base"):
        choose_level(ALL, "avx2", "avx512")
    with pytest.raises(ImportError, match="ROOKERY_CPU is 'sse'; this installation has baseline"):
        choose_level(ALL, "avx2", "sse")


def test_the_cpu_and_the_build_agree() -> None:
    assert _cpu.level() in LEVELS
    kernels = {"portable": "baseline"}.get(_core.KERNELS, _core.KERNELS)
    assert LEVELS.index(kernels) <= LEVELS.index(_cpu.level())  # or we would have crashed


def test_cmake_knows_the_same_levels() -> None:
    text = (PROJECT / "CMakeLists.txt").read_text()
    assert [level for level in LEVELS if f"set(ROOKERY_LEVEL_{level} " in text] == ALL


def test_doctor_says_which_level_is_used() -> None:
    core = doctor.examine()["core"]
    assert core["level"] == (LEVEL or "native") and core["kernels"] == _core.KERNELS
    wheel = {"level": "avx2", "levels": ALL, "cpu": "avx2", "kernels": "avx2"}
    text = doctor.report({**doctor.examine(), "core": wheel})
    assert "native module: level avx2 of baseline, avx2, avx512 (ROOKERY_CPU chooses" in text


def test_a_module_in_the_folder_of_levels_becomes_the_core(tmp_path: Path) -> None:
    """As in a wheel: this machine's module under two names, in a copy of the package."""
    folder = tmp_path / "levels"
    assert installed_levels(folder) == []
    for level in ("baseline", _cpu.level()):
        (folder / level).mkdir(parents=True, exist_ok=True)
        shutil.copy(_core.__file__, folder / level / f"_core{EXTENSION_SUFFIXES[0]}")
    assert installed_levels(folder)[0] == "baseline"
    code = (
        "import sys, pathlib\n"
        "import rookery\n"  # its own core is loaded: take it away again
        "del sys.modules['rookery._core']\n"
        "from rookery.base.levels import load_level\n"
        f"print(load_level(pathlib.Path({str(folder)!r})), sys.modules['rookery._core'].__file__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"ROOKERY_CPU": "baseline", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [
        "baseline",
        str(folder / "baseline" / f"_core{EXTENSION_SUFFIXES[0]}"),
    ]
