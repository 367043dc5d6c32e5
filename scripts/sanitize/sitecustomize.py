"""Import the native module that ROOKERY_CORE names, for "make sanitize-python".

Python runs this file at its start if its folder is on PYTHONPATH. It precedes the editable install,
also in the processes that tests start.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec
from typing import Any

CORE = os.environ.get("ROOKERY_CORE", "")


class CoreFinder:
    """Finds `rookery._core`, nothing else."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Where the module is."""
        if name != "rookery._core" or not CORE:
            return None
        return importlib.util.spec_from_file_location(name, CORE)


sys.meta_path.insert(0, CoreFinder)
