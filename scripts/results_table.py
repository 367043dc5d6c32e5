"""Write the table of main results in docs/results.md from the recipes' own results.

python scripts/results_table.py            rewrites the table between its two marks
python scripts/results_table.py --check    fails if the page is out of date
"""

from __future__ import annotations

import sys
from pathlib import Path

from rookery.training.listing import NOT_MEASURED, list_recipes

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "results.md"
BEGIN = "<!-- begin: python scripts/results_table.py -->\n"
END = "<!-- end -->\n"
DETAILS = {  # section with commands and conditions, by algorithm
    "alphazero": "alphazero",
    "blind": "blind-chess",
    "ddqn": "double-dqn",
    "ddqn-paper": "double-dqn",
    "dqn": "endings",
    "endgame": "endings",
    "engine": "the-engine",
    "ppo": "ppo-a-policy-without-search",
    "supervised": "alphazero",
    "tdleaf": "td-leaf",
}
FAMILIES = {  # the same for recipes whose names begin so
    "alphazero-paper": "vanhoutte-2022-at-the-size-of-a-cpu",
    "ppo-v": "the-ten-versions-of-salisch-2023",
    "pepper": "deep-pepper",
    "giraffe": "giraffe",
}


def render() -> str:
    """Make the table: our own recipes first, then those that reproduce a paper."""
    papers = {path.stem for path in (ROOT / "src/rookery/recipes/papers").glob("*.toml")}
    rows = [row for row in list_recipes() if row["result"] != NOT_MEASURED]
    rows.sort(key=lambda row: row["name"] in papers)
    lines = ["| recipe | result |", "|---|---|"]
    for row in rows:
        found = [FAMILIES[name] for name in FAMILIES if row["name"].startswith(name)]
        anchor = found[0] if found else DETAILS[row["algorithm"]]
        lines.append(f"| [`{row['name']}`](#{anchor}) | {row['result']} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Rewrite or check the page."""
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END, 1)
    new = f"{head}{BEGIN}\n{render()}\n{END}{tail}"
    if arguments == ["--check"]:
        if new != text:
            print("docs/results.md is out of date; run: python scripts/results_table.py")
        return int(new != text)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
