"""The install command shown when an optional dependency (an extra of pyproject.toml) is missing."""

from __future__ import annotations

from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]  # if this is one


def how_to_install(extra: str = "") -> str:
    """The command that installs an extra, or Rookery itself without one.

    In a checkout `constraints.txt` pins the tested versions; elsewhere pip adds the extra to the
    Rookery that is installed.
    """
    words = f"[{extra}]" if extra else ""
    if not (CHECKOUT / "constraints.txt").is_file():
        return f"pip install 'rookery{words}'"
    what = f"'.{words}'" if extra else "."
    return f"pip install -c constraints.txt {what} (in the checkout of Rookery)"
