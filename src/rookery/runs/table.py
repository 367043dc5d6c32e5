"""The numbers of a run as one tidy table: a row per iteration, a column per number."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rookery.base.storage import atomic_write
from rookery.runs.reader import RunReader


def table_of(run: Path) -> list[dict[str, Any]]:
    """Metrics and timings of each iteration, with dotted names such as `losses.value`."""
    reader = RunReader(run)
    timings = {row.get("iteration"): row for row in reader.timing()}
    rows = []
    for row in reader.metrics():
        timing = {f"timing.{k}": v for k, v in timings.get(row["iteration"], {}).items()}
        rows.append({**_flat(row), **_flat({k: v for k, v in timing.items() if v is not None})})
    return rows


def write_table(run: Path, path: Path) -> int:
    """Write the table as .csv or .parquet; the number of rows."""
    rows = table_of(run)
    if not rows:
        raise ValueError(f"{run} has no metrics yet; is it a run folder?")
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if path.suffix == ".parquet":
        import pyarrow
        import pyarrow.parquet

        buffer = io.BytesIO()
        arrays = {name: [row.get(name) for row in rows] for name in columns}
        pyarrow.parquet.write_table(pyarrow.table(arrays), buffer)
        atomic_write(path, buffer.getvalue())
    elif path.suffix == ".csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, columns)
        writer.writeheader()
        writer.writerows(rows)
        atomic_write(path, text.getvalue())
    else:
        raise ValueError(f"--out {str(path)!r} must end in .csv or .parquet")
    return len(rows)


def _flat(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{prefix}{key}.")
        elif not isinstance(value, list):
            found[f"{prefix}{key}"] = value
    return found
