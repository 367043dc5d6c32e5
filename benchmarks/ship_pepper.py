"""Write the network of a run of `pepper` as a shipped network, its embeddings in half precision.

python benchmarks/ship_pepper.py runs/pepper src/rookery/networks/pepper.safetensors
"""

from __future__ import annotations

import sys
from pathlib import Path

from rookery.nets.evaluator import read_model
from rookery.nets.model_file import describe, parse_model, save_model
from rookery.nets.slots import halved


def main() -> None:
    """Convert one network."""
    source, target = sys.argv[1], Path(sys.argv[2])
    origin, data = read_model(source)
    network, info = parse_model(data, origin)
    small = halved(network)
    save_model(target, small, describe(small, info.recipe, info.totals, info.ratings))
    print(f"{target}: {target.stat().st_size:,} bytes, from {origin}")


if __name__ == "__main__":
    main()
