"""The install command shown when an optional dependency (an extra of pyproject.toml) is missing."""

from __future__ import annotations


def how_to_install(extra: str = "") -> str:
    """The command that installs an extra, or Rookery itself without one.

    It installs from the checkout: Rookery is on no package index, and `constraints.txt` pins the
    tested versions.
    """
    what = f"'.[{extra}]'" if extra else "."
    return f"pip install -c constraints.txt {what} (in the checkout of Rookery)"
