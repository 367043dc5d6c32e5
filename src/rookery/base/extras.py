"""How to install what is optional: the extras of pyproject.toml, the same words everywhere."""

from __future__ import annotations


def how_to_install(extra: str = "") -> str:
    """The command that brings an extra; without one, that of Rookery itself.

    It names the checkout and not the package: no index of packages has ours, and `constraints.txt`
    keeps the versions that were tested.
    """
    what = f"'.[{extra}]'" if extra else "."
    return f"pip install -c constraints.txt {what} (in the checkout of Rookery)"
