"""Small JSON files in a run folder that say what happens right now, for `rookery watch`.

They are replaced atomically, are not part of a checkpoint, and write errors never stop a run. The
page reads them while a trainer of any version, or somebody else, writes them.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LARGEST = 256 * 1024  # bytes; a larger file is not read


def write_snapshot(path: Path, content: Mapping[str, Any]) -> bool:
    """Replace the file, with the time added; returns whether it was written."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    stamped = {"time": round(time.time(), 3), **content}
    with contextlib.suppress(OSError):
        # Not synced: useless after a crash anyway.
        temporary.write_text(json.dumps(stamped, separators=(",", ":"), allow_nan=False))
        os.replace(temporary, path)
        return True
    return False


def read_snapshot(path: Path) -> dict[str, Any] | None:
    """What was written last, with a number as its `time`; None: missing, damaged or too large."""
    try:
        if path.is_symlink() or path.stat().st_size > LARGEST:
            return None
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(content, dict) or not isinstance(content.get("time"), int | float):
        return None
    return content
