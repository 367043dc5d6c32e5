"""`cluster.json` in a run folder: the nodes that play its games right now, for `rookery watch`.

The trainer replaces it every second or so while it works on a cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rookery.runs.snapshot import read_snapshot, write_snapshot

NODES = "cluster.json"
MOST_NODES = 200  # in the file
TOTALS = ("slots", "pieces", "under_way", "waiting", "retries", "copies", "checked", "disputes",
          "reconnections", "joined", "left")  # fmt: skip
COLUMNS = ("name", "slots", "under_way", "pieces", "positions_per_second", "refused")


def write_nodes(folder: Path, status: Mapping[str, Any]) -> None:
    """Write the status of a pool (`rookery.cluster.pool.Pool.status`)."""
    nodes = [{key: node.get(key) for key in COLUMNS} for node in status["nodes"][:MOST_NODES]]
    totals = {key: status.get(key, 0) for key in TOTALS}
    write_snapshot(folder / NODES, {**totals, "nodes": nodes})


def read_nodes(folder: Path) -> dict[str, Any] | None:
    """What was written last; None if the file is missing or damaged."""
    content = read_snapshot(folder / NODES)
    if content is None or not isinstance(content.get("nodes"), list):
        return None
    totals = {key: content[key] for key in TOTALS if isinstance(content.get(key), int)}
    nodes = [
        {key: node.get(key) for key in COLUMNS if isinstance(node.get(key), int | float | str)}
        for node in content["nodes"][:MOST_NODES]
        if isinstance(node, dict)
    ]
    return {"time": content["time"], **totals, "nodes": nodes}


def nodes_text(status: Mapping[str, Any]) -> str:
    """One line for the terminal."""
    usable = [node for node in status["nodes"] if not node["refused"]]
    parts = [
        f"{len(usable)} node{'' if len(usable) == 1 else 's'}",
        f"{status.get('under_way', 0)} pieces under way",
        f"{status.get('pieces', 0):,} done",
    ]
    if speed := _node_speed(status):
        parts.append(f"{speed:,.0f} positions/s a node")
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
    found["cluster_node_positions_per_second"] = round(_node_speed(status), 1)
    return {"cluster_nodes": float(usable), "cluster_slots": float(status["slots"]), **found}


def _node_speed(status: Mapping[str, Any]) -> float:
    """Mean positions per second of the nodes that have played any; 0 without one."""
    usable = (node for node in status["nodes"] if not node["refused"])
    speeds = [node["positions_per_second"] for node in usable if node["positions_per_second"]]
    return sum(speeds) / len(speeds) if speeds else 0.0
