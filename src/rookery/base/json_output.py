"""The one JSON object that a command writes to standard output."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping


def write_json(result: Mapping[str, object]) -> None:
    """Write the one JSON object of a command to standard output.

    JSON has no infinities: an Elo difference without bound becomes null.
    """
    json.dump(_finite(result), sys.stdout, indent=2)
    sys.stdout.write("\n")
    sys.stdout.flush()


def _finite(value: object) -> object:
    """Replace numbers that JSON cannot express by None, at any depth."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
