"""What a run computes with: cores, torch's device, and the cluster if its recipe names one."""

from __future__ import annotations

import os

from rookery.base.cores import usable_cores
from rookery.cluster.pool import Pool
from rookery.runs.algorithms import ALGORITHMS
from rookery.runs.nodes import write_nodes
from rookery.training.folder import RunError, RunFolder
from rookery.training.recipe import Recipe


def worker_count(asked: int) -> int:
    """Cores to use: 0 means all available to this process, and more than these is an error."""
    cores, installed = usable_cores(), os.cpu_count() or 1
    if asked > cores:
        have = f"{cores} core{'s' if cores > 1 else ''}"
        if cores < installed:
            have = f"{have} of {installed} that this process may use (its affinity mask)"
        else:
            have = f"{have} of this machine"
        raise RunError(f"{asked} workers are more than the {have}; pass --workers 0 for all")
    return asked or cores


def device_for(recipe: Recipe) -> str:
    """Where torch computes; algorithms that learn in C++ have only the CPU."""
    from rookery.nets.device import choose_device

    if ALGORITHMS.find(recipe.algorithm).devices:
        return str(choose_device(recipe.run.device))
    if recipe.run.device in ("auto", "cpu"):
        return "cpu"
    raise RunError(
        f"run.device is {recipe.run.device!r}, but {recipe.algorithm} learns on the CPU only; "
        "set it to auto or cpu"
    )


def open_pool(recipe: Recipe, folder: RunFolder) -> Pool | None:
    """Connect to the cluster of the recipe, if it names one."""
    run = recipe.run
    if not run.cluster:
        return None
    pool = Pool(
        run.cluster,
        folder.log,
        run.cluster_checks,
        worker_count(run.workers),
        on_status=lambda status: write_nodes(folder.path, status),
    )
    pool.wait_for_nodes()
    folder.log(f"connected to the cluster {run.cluster}: {pool.slots} cores")
    return pool
