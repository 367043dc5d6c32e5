"""Locating optional data.

Without books or tables the features that need them are off, with a message. `ROOKERY_DATA` is a
folder with this layout:

    openings/*.bin                  Polyglot books
    tablebases/gaviota/*.gtb.cp4    Gaviota tables
    tablebases/syzygy/*.rtbw|rtbz   Syzygy tables
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

# For development: a shared data folder beside the checkout is found automatically.
_CHECKOUT = Path(__file__).resolve().parents[3]
_BESIDE_CHECKOUT = _CHECKOUT.parent / "shared" / "data"


class MissingDataError(FileNotFoundError):
    """A missing book, table or position file; the message says how to get it."""


def data_folder() -> Path | None:
    """Return the folder `ROOKERY_DATA`, or the one beside a checkout, or None."""
    named = os.environ.get("ROOKERY_DATA")
    if named:
        return Path(named)
    installed = not (_CHECKOUT / "pyproject.toml").is_file()
    return None if installed or not _BESIDE_CHECKOUT.is_dir() else _BESIDE_CHECKOUT


def search_folders(inside: str, usual: Sequence[str], variable: str = "") -> list[Path]:
    """List the existing folders for one kind of data, the user's own first.

    Args:
        inside: Path inside the data folder.
        usual: Folders used by distributions.
        variable: Environment variable with further folders, separated as in `PATH`.
    """
    candidates = [Path(part) for part in os.environ.get(variable, "").split(os.pathsep) if part]
    folder = data_folder()
    if folder is not None:
        candidates.append(folder / inside)
    candidates += [Path(place).expanduser() for place in usual]
    return [candidate for candidate in dict.fromkeys(candidates) if candidate.is_dir()]
