"""JSON from a page: numbers must be finite, as what we send back must be JSON as well."""

from __future__ import annotations

import json
import math
from typing import Any


def read_json(text: str | bytes) -> Any:
    """Parse JSON; Infinity, NaN and numbers beyond any float are a `ValueError`."""
    return json.loads(text, parse_float=_finite, parse_constant=_finite)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:40]} is not finite")
    return number
