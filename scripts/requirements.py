"""Print the requirements of pyproject.toml, extras included, one per line.

`pip install '.[dev]'` would build the native module just to learn what else to install. The
Makefile installs the dependencies on their own, so that they survive every rebuild of the core.

Usage: python scripts/requirements.py EXTRA ...
"""

import sys
import tomllib
from pathlib import Path


def requirements(project: dict[str, object], extras: list[str]) -> list[str]:
    """Collect the base requirements and those of the extras; "rookery[x]" means extra x."""
    optional = project["optional-dependencies"]
    assert isinstance(optional, dict)
    collected = list(project["dependencies"])  # type: ignore[call-overload]
    for extra in extras:
        if extra not in optional:
            raise SystemExit(f"unknown extra {extra!r}; choose from: {', '.join(sorted(optional))}")
        for requirement in optional[extra]:
            if requirement.startswith(f"{project['name']}["):
                inner = requirement.partition("[")[2].rstrip("]").split(",")
                collected += requirements(project, inner)
            else:
                collected.append(requirement)
    return list(dict.fromkeys(collected))


if __name__ == "__main__":
    pyproject = Path(__file__).parent.parent / "pyproject.toml"
    print("\n".join(requirements(tomllib.loads(pyproject.read_text())["project"], sys.argv[1:])))
