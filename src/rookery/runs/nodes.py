"""`cluster.json` in a run folder: the nodes that play its games right now, for `rookery watch`.

The trainer replaces it every second or so while it works on a cluster; it is not part of a
checkpoint, and write errors never stop a run.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

NODES = "cluster.json"
MOST_NODES = 200  # in the file
LARGEST = 256 * 1024  # bytes; a larger file is not read
TOTALS = ("slots", "pieces", "under_way", "waiting", "retries", "copies", "checked", "disputes",
          "reconnections", "joined", "left")  # fmt: skip
COLUMNS = ("name", "slots", "under_way", "pieces", "positions_per_second", "refused")


def write_nodes(folder: Path, status: Mapping[str, Any]) -> None:
    """Write the status of a pool (`rookery.cluster.pool.Pool.status`)."""
    nodes = [{key: node.get(key) for key in COLUMNS} for node in status["nodes"][:MOST_NODES]]
    totals = {key: status.get(key, 0) for key in TOTALS}
    content = {"time": round(time.time(), 3), **totals, "nodes": nodes}
    temporary = folder / f".{NODES}.{os.getpid()}.tmp"
    with contextlib.suppress(OSError):
        temporary.write_text(json.dumps(content, separators=(",", ":")))
        os.replace(temporary, folder / NODES)


def read_nodes(folder: Path) -> dict[str, Any] | None:
    """What was written last; None if the file is missing or damaged."""
    path = folder / NODES
    try:
        if path.is_symlink() or path.stat().st_size > LARGEST:
            return None
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(content, dict) or not isinstance(content.get("nodes"), list):
        return None
    when = content.get("time")
    totals = {key: content[key] for key in TOTALS if isinstance(content.get(key), int)}
    nodes = [
        {key: node.get(key) for key in COLUMNS if isinstance(node.get(key), int | float | str)}
        for node in content["nodes"][:MOST_NODES]
        if isinstance(node, dict)
    ]
    return {"time": when if isinstance(when, int | float) else 0, **totals, "nodes": nodes}


def nodes_text(status: Mapping[str, Any]) -> str:
    """One line for the terminal."""
    usable = [node for node in status["nodes"] if not node["refused"]]
    parts = [
        f"{len(usable)} node{'' if len(usable) == 1 else 's'}",
        f"{status.get('under_way', 0)} pieces under way",
        f"{status.get('pieces', 0):,} done",
    ]
    speeds = [node["positions_per_second"] for node in usable if node["positions_per_second"]]
    if speeds:
        parts.append(f"{sum(speeds) / len(speeds):,.0f} positions/s a node")
    parts += [
        f"{status[key]} {what}"
        for key, what in (("retries", "retries"), ("copies", "copies"), ("disputes", "disputes"))
        if status.get(key)
    ]
    refused = len(status["nodes"]) - len(usable)
    return ", ".join(parts) + (f", {refused} refused" if refused else "")


def nodes_timing(status: Mapping[str, Any]) -> dict[str, float]:
    """Entries of a row of timing.jsonl."""
    keys = ("pieces", "under_way", "retries", "copies", "checked", "disputes", "reconnections")
    usable = sum(not node["refused"] for node in status["nodes"])
    found = {f"cluster_{key}": float(status.get(key, 0)) for key in keys}
    return {"cluster_nodes": float(usable), "cluster_slots": float(status["slots"]), **found}
