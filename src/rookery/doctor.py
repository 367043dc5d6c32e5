"""What is installed, what is missing and how to get it, and what this machine can do.

`examine` returns plain data (the JSON of `rookery doctor --json`), `report` writes it for people.
Nothing optional is imported: versions come from the packages' metadata.
"""

from __future__ import annotations

import os
import platform
import shutil
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rookery._core import STARTING_FEN, perft
from rookery.base.cores import usable_cores
from rookery.base.extras import how_to_install
from rookery.data import books, tablebases
from rookery.data.paths import data_folder
from rookery.engines import find

# Packages by what they are for; the extra that brings them, or "" for the base install.
PACKAGES = (
    ("numpy", "arrays", ""),
    ("chess", "PGN, UCI engines, books, tables", ""),
    ("rich", "terminal output", ""),
    ("gymnasium", "environments", "envs"),
    ("pettingzoo", "two-agent environment", "envs"),
    ("torch", "training", "train"),
    ("safetensors", "model files", "train"),
    ("pyarrow", "training samples", "train"),
    ("pydantic", "recipes", "train"),
    ("onnxruntime", "fast inference", "train"),
    ("tensorboard", "training curves", "train"),
    ("starlette", "web page", "web"),
    ("uvicorn", "web server", "web"),
    ("websockets", "web server", "web"),
    ("sb3-contrib", "MaskablePPO", "sb3"),
    ("ray", "RLlib and clusters", "rllib"),
    ("open-spiel", "peer in benchmarks", "bench"),
)
# Engines that can be opponents, with the way to get them; `rookery players` knows the first two
# by name, and any other one as uci,command=...
ENGINES = (
    ("stockfish", "apt-get install stockfish"),
    ("sunfish", "make test, or set ROOKERY_SUNFISH to the path of sunfish-uci"),
    ("gnuchess", "apt-get install gnuchess"),
    ("fairy-stockfish", "apt-get install fairy-stockfish"),
    ("toga2", "apt-get install toga2"),
)
CPU_FEATURES = ("sse4_2", "popcnt", "avx2", "bmi2", "avx512f", "avx512_vnni", "asimd")
SPEED_DEPTH = 5  # a perft of 4.9 million nodes


def examine() -> dict[str, Any]:
    """Look at everything; the result is plain data for JSON."""
    found_books, book_problems = _books()
    tables, table_problems = _tablebases()
    return {
        "rookery": _version("rookery") or "not installed",
        "python": platform.python_version(),
        "machine": _machine(),
        "packages": [_package(*row) for row in PACKAGES],
        "engines": [_engine(*row) for row in ENGINES],
        "data_folder": str(data_folder() or ""),
        "books": found_books,
        "tablebases": tables,
        "problems": book_problems + table_problems,
    }


def _machine() -> dict[str, Any]:
    """Describe processor, memory and disk, and measure the rules core."""
    flags = _cpu_flags()
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": _cpu_name(),
        "architecture": platform.machine(),
        "cores": os.cpu_count() or 1,
        "usable_cores": usable_cores(),
        "features": {name: name in flags for name in CPU_FEATURES},
        "memory_gib": _memory("MemTotal"),
        "free_memory_gib": _memory("MemAvailable"),
        "free_disk_gib": round(shutil.disk_usage(Path.cwd()).free / 2**30, 1),
        "nvidia_gpu": Path("/proc/driver/nvidia/version").exists(),
        "perft_nodes_per_second": _perft_speed(),
    }


def _cpu_lines(key: str) -> str:
    """Return the first value of a key in /proc/cpuinfo, or an empty text."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return ""


def _cpu_name() -> str:
    """Name the processor."""
    return _cpu_lines("model name") or platform.processor() or platform.machine()


def _cpu_flags() -> set[str]:
    """List the processor's features, as Linux names them on x86 or ARM."""
    return set((_cpu_lines("flags") or _cpu_lines("Features")).split())


def _memory(key: str) -> float | None:
    """Return an entry of /proc/meminfo in GiB, None where there is no such file."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    for line in lines:
        name, _, value = line.partition(":")
        if name == key:
            return round(int(value.split()[0]) / 2**20, 1)
    return None


def _perft_speed() -> int:
    """Measure the rules core on one thread, in nodes per second."""
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
    """List the opening books, and those that cannot be read."""
    found, problems = [], []
    for path in books.book_paths():
        try:
            with books.Book(path) as book:
                found.append({"path": str(path), "entries": len(book)})
        except (OSError, ValueError) as error:
            problems.append(str(error))
    return found, problems


def _tablebases() -> tuple[dict[str, Any], list[str]]:
    """Describe the endgame tables; probing one shows that they can be read."""
    with tablebases.find_tablebases() as tables:
        endings = tables.endings()
        problems = []
        if "KPvK" in endings:
            try:
                known = tables.probe("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1")
            except (OSError, ValueError, IndexError) as error:
                known = None
                problems.append(f"endgame tables cannot be read: {error}")
            if known is not None and known.result != 1:
                problems.append("endgame tables are damaged: a won KPK position is not won there")
        return {
            "gaviota": [str(folder) for folder in tables.gaviota_folders],
            "syzygy": [str(folder) for folder in tables.syzygy_folders],
            "endings": endings,
        }, problems


def report(result: dict[str, Any]) -> str:
    """Write the result of `examine` for people."""
    machine = result["machine"]
    features = [name for name, there in machine["features"].items() if there]
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
    lines += ["", "Endgame tables", *_table_lines(result["tablebases"])]
    if result["problems"]:
        lines += ["", "Problems", *(f"  {problem}" for problem in result["problems"])]
    return "\n".join(lines)


def _line(name: str, found: str | None, purpose: str, remedy: str, note: str) -> str:
    """Write one line about something that is there or missing."""
    if found:
        return f"  ok       {name} {found}"
    words = ", ".join(word for word in (purpose, note) if word)
    return f"  missing  {name} ({words}): {remedy}"


def _table_lines(tables: dict[str, Any]) -> list[str]:
    """Write the lines about endgame tables."""
    folders = [("Gaviota", folder) for folder in tables["gaviota"]]
    folders += [("Syzygy", folder) for folder in tables["syzygy"]]
    if not folders:
        return [f"  missing  tablebase probing and rewards are off: {tablebases.HOW_TO_GET}"]
    lines = [f"  ok       {kind} in {folder}" for kind, folder in folders]
    endings = tables["endings"]
    shown = ", ".join(endings[:8]) + (", ..." if len(endings) > 8 else "")
    return [*lines, f"           {len(endings)} endings: {shown}"]
