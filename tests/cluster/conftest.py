"""One Ray cluster of two one-core nodes for all tests of this folder that run in one process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rookery.cluster.pool import Pool
from support.loopback_cluster import LoopbackCluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[LoopbackCluster]:
    """A head and two nodes."""
    pytest.importorskip("ray", reason="Ray is not installed")
    with LoopbackCluster(2) as made:
        yield made


@pytest.fixture(scope="session")
def pool(cluster: LoopbackCluster) -> Iterator[Pool]:
    """A connection to it."""
    with Pool(cluster.address, check_share=0.2) as made:
        made.wait_for_nodes(2)
        yield made
