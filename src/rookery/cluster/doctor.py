"""What each node of a cluster has: `rookery doctor --cluster`."""

from __future__ import annotations

import time
from typing import Any

from rookery.cluster import node
from rookery.cluster.pool import ClusterError, Pool

PATIENCE = 120.0  # seconds in which nodes should describe themselves


def examine_cluster(address: str) -> dict[str, Any]:
    """Ask all nodes; plain data."""
    with Pool(address, detailed=True) as pool:
        end = time.monotonic() + PATIENCE
        while pool.status.get("unknown", 1) or not pool.status["nodes"]:
            if time.monotonic() > end:
                break
            time.sleep(0.2)
        status = pool.status
    if not status["nodes"]:
        raise ClusterError(f"the cluster {address!r} has no node with a core for Rookery")
    problems = [f"{each['name']}: {each['refused']}" for each in status["nodes"] if each["refused"]]
    if status.get("unknown"):
        problems.append(f"{status['unknown']} nodes have not answered")
    return {
        "address": address,
        "trainer": node.facts(),
        "cores": status["slots"],
        "nodes": [
            {key: each[key] for key in ("name", "slots", "facts", "refused", "kernel")}
            for each in status["nodes"]
        ],
        "problems": problems,
    }


def report_cluster(found: dict[str, Any]) -> str:
    """Format the result of `examine_cluster` as text."""
    counts = ((len(found["nodes"]), "node"), (found["cores"], "core"))
    sizes = ", ".join(f"{count} {what}{'' if count == 1 else 's'}" for count, what in counts)
    lines = [f"Cluster {found['address']}: {sizes}"]
    for each in found["nodes"]:
        facts = each["facts"]
        has = (
            f"Rookery {facts.get('rookery', 'missing')}, Python {facts.get('python', '?')}, "
            f"torch {facts.get('torch') or 'missing'}; {facts.get('processor', '')}, "
            f"{facts.get('features', '')}"
        )
        mark = "refused" if each["refused"] else "ok"
        lines.append(f"  {mark:8} {each['name']}, cores: {each['slots']}; {has}")
        if each["refused"]:
            lines.append(f"           {each['refused']}")
        elif each["kernel"]:
            lines.append("           another processor or build: gets only work in integers")
    return "\n".join(lines)
