"""Links and file names in the documentation lead to something that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.paths import PROJECT

PAGES = [
    *sorted((PROJECT / "docs").glob("*.md")),
    *(PROJECT / name for name in ("README.md", "CONTRIBUTING.md", "core/README.md")),
]
FOLDERS = (PROJECT, PROJECT / "src" / "rookery", PROJECT / "core")  # paths are relative to one
FILE = re.compile(r"`((?:[a-z_0-9-]+/)+[A-Za-z_0-9.-]+\.(?:py|h|cpp|md|toml|json|sh))`")


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^):]+)\)", text):
        name, _, anchor = target.partition("#")
        path = page.parent / name if name else page
        assert path.exists(), target
        if anchor:
            assert anchor in anchors(path), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_named_files_exist(page: Path) -> None:
    for name in FILE.findall(page.read_text(encoding="utf-8")):
        if not name.startswith(("runs/", "replay/", "games/", "checkpoints/")):  # of a run
            assert any((folder / name).exists() for folder in FOLDERS), name
