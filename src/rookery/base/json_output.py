"""JSON that commands print and runs record: NaN and infinities become null."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from typing import Any


def write_json(result: Mapping[str, object]) -> None:
    """Write a command's result, one JSON object, to standard output."""
    json.dump(finite(result), sys.stdout, indent=2)
    sys.stdout.write("\n")
    sys.stdout.flush()


def finite(value: Any) -> Any:
    """Replace NaN and infinities by None, at any depth."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value
