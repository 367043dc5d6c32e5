"""Checks this machine and the optional packages, engines, books and tablebases.

`examine` returns plain data (the JSON of `rookery doctor --json`), `report` formats it. Nothing
optional is imported: versions come from package metadata.
"""

from __future__ import annotations

import os
import platform
import shutil
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rookery import LEVEL, _cpu
from rookery._core import KERNELS, STARTING_FEN, perft
from rookery.base.cores import usable_cores
from rookery.base.extras import how_to_install
from rookery.base.levels import VARIABLE, installed_levels
from rookery.data import books, tablebases
from rookery.data.paths import data_folder
from rookery.engines import find

# Package, its purpose, and the extra that installs it ("": the base install).
PACKAGES = (
    ("numpy", "arrays", ""),
    ("chess", "PGN, UCI engines, books, tablebases", ""),
    ("rich", "terminal output", ""),
    ("starlette", "web page", ""),
    ("uvicorn", "web server", ""),
    ("websockets", "web server", ""),
    ("gymnasium", "environments", "envs"),
    ("pettingzoo", "two-agent environment", "envs"),
    ("torch", "training", "train"),
    ("safetensors", "model files", "train"),
    ("pyarrow", "training samples", "train"),
    ("pydantic", "recipes", "train"),
    ("onnxruntime", "fast inference", "train"),
    ("tensorboard", "training curves", "train"),
    ("sb3-contrib", "MaskablePPO", "sb3"),
    ("ray", "RLlib and clusters", "cluster"),
    ("open-spiel", "peer in benchmarks", "bench"),
    ("reconchess", "bots of blind chess", "blind"),
)
# Engines and how to install them. All are players by name but the last one, which is one with
# uci,command=...
ENGINES = (
    ("stockfish", "apt-get install stockfish"),
    ("sunfish", "make test, or set ROOKERY_SUNFISH to the path of sunfish-uci"),
    ("fairy-stockfish", "apt-get install fairy-stockfish"),
    *((name, f"apt-get install {name}") for name in find.CLASSIC_ENGINES),
    ("toga2", "apt-get install toga2"),
)
CPU_FEATURES = ("sse4_2", "popcnt", "avx2", "bmi2", "avx512f", "avx512_vnni", "asimd")
SPEED_DEPTH = 5  # a perft of 4.9 million nodes


def examine() -> dict[str, Any]:
    """Examine everything and return plain data."""
    found_books, book_problems = _books()
    tables, table_problems = _tablebases()
    return {
        "rookery": _version("rookery") or "not installed",
        "python": platform.python_version(),
        "machine": _machine(),
        "core": {
            "level": LEVEL or "native",
            "levels": installed_levels(),
            "cpu": _cpu.level(),
            "kernels": KERNELS,
        },
        "packages": [_package(*row) for row in PACKAGES],
        "engines": [_engine(*row) for row in ENGINES],
        "data_folder": str(data_folder() or ""),
        "books": found_books,
        "tablebases": tables,
        "problems": book_problems + table_problems,
    }


def _machine() -> dict[str, Any]:
    """Describe CPU, memory and disk, and measure perft."""
    cpu, memory = _proc("cpuinfo"), _proc("meminfo")
    # x86 and ARM use different names.
    flags = set((cpu.get("flags") or cpu.get("Features", "")).split())
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": cpu.get("model name") or platform.processor() or platform.machine(),
        "architecture": platform.machine(),
        "cores": os.cpu_count() or 1,
        "usable_cores": usable_cores(),
        "features": {name: name in flags for name in CPU_FEATURES},
        "memory_gib": _gib(memory.get("MemTotal")),
        "free_memory_gib": _gib(memory.get("MemAvailable")),
        "free_disk_gib": round(shutil.disk_usage(Path.cwd()).free / 2**30, 1),
        "nvidia_gpu": Path("/proc/driver/nvidia/version").exists(),
        "perft_nodes_per_second": _perft_speed(),
    }


def _proc(file: str) -> dict[str, str]:
    """Read a `key: value` file in /proc; empty if it does not exist."""
    try:
        text = Path("/proc", file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        found.setdefault(name.strip(), value.strip())
    return found


def _gib(kibibytes: str | None) -> float | None:
    return None if kibibytes is None else round(int(kibibytes.split()[0]) / 2**20, 1)


def _perft_speed() -> int:
    """Measure perft on one thread, in nodes per second."""
    began = time.perf_counter()
    nodes = perft(STARTING_FEN, SPEED_DEPTH)
    return round(nodes / (time.perf_counter() - began))


def _version(package: str) -> str | None:
    """Return a package's version, None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _package(name: str, purpose: str, extra: str) -> dict[str, Any]:
    """Describe one package."""
    found = _version(name)
    remedy = "" if found else how_to_install(extra)
    return {"name": name, "purpose": purpose, "extra": extra, "version": found, "remedy": remedy}


def _engine(name: str, remedy: str) -> dict[str, Any]:
    """Describe one engine."""
    variable = f"ROOKERY_{name.upper().replace('-', '_')}"
    path = find.find_sunfish() if name == "sunfish" else find.find_program(name, variable)
    return {"name": name, "path": path, "remedy": "" if path else remedy}


def _books() -> tuple[list[dict[str, Any]], list[str]]:
    """List the opening books, and errors of those that cannot be read."""
    found, problems = [], []
    for path in books.book_paths():
        try:
            with books.Book(path) as book:
                found.append({"path": str(path), "entries": len(book)})
        except (OSError, ValueError) as error:
            problems.append(str(error))
    return found, problems


def _tablebases() -> tuple[dict[str, Any], list[str]]:
    """Describe the tablebases, and probe one to check that they can be read."""
    with tablebases.find_tablebases() as tables:
        endings = tables.endings()
        problems = []
        if "KPvK" in endings:
            try:
                known = tables.probe("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1")
            except (OSError, ValueError, IndexError) as error:
                known = None
                problems.append(f"the tablebases cannot be read: {error}")
            if known is not None and known.result != 1:
                problems.append("the tablebases are damaged: a won KPK position is not won")
        return {
            "gaviota": [str(folder) for folder in tables.gaviota_folders],
            "syzygy": [str(folder) for folder in tables.syzygy_folders],
            "endings": endings,
        }, problems


def report(result: dict[str, Any]) -> str:
    """Format the result of `examine` as text."""
    machine = result["machine"]
    features = [name for name, found in machine["features"].items() if found]
    lines = [
        f"Rookery {result['rookery']} on Python {result['python']}, {machine['system']}",
        "",
        "Machine",
        f"  {machine['processor']}, {machine['usable_cores'] or machine['cores']} usable of "
        f"{machine['cores']} cores; {', '.join(features) or 'no known features'}",
        f"  memory {machine['free_memory_gib']} of {machine['memory_gib']} GiB free, "
        f"disk {machine['free_disk_gib']} GiB free, "
        f"{'an NVIDIA GPU' if machine['nvidia_gpu'] else 'no GPU (training runs on the CPU)'}",
        f"  perft {machine['perft_nodes_per_second'] / 1e6:.0f} million nodes per second per core",
        f"  {_core_line(result['core'])}",
        "",
        "Packages",
        *(
            _line(row["name"], row["version"], row["purpose"], row["remedy"], "")
            for row in result["packages"]
        ),
        "",
        "Engines (opponents)",
        *(
            _line(row["name"], row["path"], "", row["remedy"], "optional")
            for row in result["engines"]
        ),
        "",
        "Opening books",
        *(f"  ok       {row['path']}, {row['entries']} entries" for row in result["books"]),
    ]
    if not result["books"]:
        lines.append(f"  missing  book moves and book rewards are off: {books.HOW_TO_GET}")
    lines += ["", "Tablebases", *_table_lines(result["tablebases"])]
    if result["problems"]:
        lines += ["", "Problems", *(f"  {problem}" for problem in result["problems"])]
    return "\n".join(lines)


def _core_line(core: dict[str, Any]) -> str:
    """Format the line about the native module."""
    if core["level"] == "native":
        return f"native module built for one machine ({core['kernels']}); this CPU: {core['cpu']}"
    others = ", ".join(core["levels"])
    return f"native module: level {core['level']} of {others} ({VARIABLE} chooses another)"


def _line(name: str, found: str | None, purpose: str, remedy: str, note: str) -> str:
    """Format one line about something that is installed or missing."""
    if found:
        return f"  ok       {name} {found}"
    words = ", ".join(word for word in (purpose, note) if word)
    return f"  missing  {name} ({words}): {remedy}"


def _table_lines(tables: dict[str, Any]) -> list[str]:
    """Format the lines about tablebases."""
    lines = [f"  ok       Gaviota in {folder}" for folder in tables["gaviota"]]
    lines += [f"  ok       Syzygy in {folder}" for folder in tables["syzygy"]]
    if not lines:
        return [f"  missing  tablebase probing and rewards are off: {tablebases.HOW_TO_GET}"]
    endings = tables["endings"]
    shown = ", ".join(endings[:8]) + (", ..." if len(endings) > 8 else "")
    return [*lines, f"           {len(endings)} endings: {shown}"]
