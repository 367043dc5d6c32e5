"""The command line with the algorithm `tiny` registered: python tiny_driver.py train ..."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from rookery.cli import main
from rookery.runs.algorithms import ALGORITHMS
from support.tiny_algorithm import ALGORITHM

ALGORITHMS.register(ALGORITHM)

if __name__ == "__main__":
    sys.exit(main())
