"""Marks for tests that need something installed, so that there is one reason for each."""

from __future__ import annotations

import pytest

from rookery.data.tablebases import find_tablebases
from rookery.engines.find import CLASSIC_ENGINES, find_classic_engine, find_stockfish, find_sunfish

needs_stockfish = pytest.mark.skipif(
    find_stockfish() is None, reason="needs Stockfish: install Debian's stockfish"
)
needs_sunfish = pytest.mark.skipif(
    find_sunfish() is None, reason="needs Sunfish in .venv-sunfish: make test installs it"
)
needs_classic_engines = pytest.mark.skipif(
    not all(map(find_classic_engine, CLASSIC_ENGINES)),
    reason=f"needs Debian's {', '.join(CLASSIC_ENGINES)}",
)
needs_tables = pytest.mark.skipif(
    not {"KPvK", "KQvK", "KRvK"} <= set(find_tablebases().endings()),
    reason="needs endgame tables: install Debian's gaviotatb",
)
