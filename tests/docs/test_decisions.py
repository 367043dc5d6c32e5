"""The index of docs/decisions.md lists every entry, with its date and status."""

from __future__ import annotations

import re

from support.paths import PROJECT

TEXT = (PROJECT / "docs" / "decisions.md").read_text(encoding="utf-8")


def test_index_agrees_with_the_entries() -> None:
    rows = re.findall(
        r"^\| (\d+) \| \[(.*)\]\(#.*?\) \| \[.*\] ?\(#.*\) \| (.*) \| (.*) \|$", TEXT, re.M
    )
    entries = re.findall(r"^### (\d+)\. (.*)\n\n\*([\d-]+)\. (.*)\.\*$", TEXT, re.M)
    assert rows == sorted(entries, key=lambda entry: int(entry[0]))
    numbers = [int(row[0]) for row in rows]
    assert numbers[0] == 1 and len(set(numbers)) == len(numbers)
