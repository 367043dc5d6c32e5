"""What mkdocs adds to docs/: reference pages made from the code, and the files that pages link to.

Pages are written for the repository, with links to its files. On the site each linked file becomes
a page of its own (source/ and project/), so that every link works offline.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|mailto:|#)([^)\s]+)\)")
LANGUAGES = {".py": "python", ".h": "cpp", ".cpp": "cpp", ".toml": "toml", ".json": "json"}
API = (
    "rookery.players.registry", "rookery.players.base", "rookery.players.spec",
    "rookery.nets", "rookery.nets.evaluator", "rookery.nets.model_file", "rookery.nets.registry",
    "rookery.nets.device", "rookery.arena.match", "rookery.arena.elo", "rookery.envs.chess_env",
    "rookery.envs.vector", "rookery.training.trainer", "rookery.training.recipe",
    "rookery.training.session", "rookery.runs.reader", "rookery.runs.algorithms",
    "rookery.data.samples", "rookery.encodings",
)  # fmt: skip


def on_files(files: Files, config: Any) -> Files:
    """Add the reference and every file outside docs/ that a page links to."""
    for name, text in reference().items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    waiting = [path for path in DOCS.glob("*.md")]
    seen: set[str] = set()
    while waiting:
        page = waiting.pop()
        for _, target in LINK.findall(page.read_text(encoding="utf-8")):
            path = (page.parent / target.partition("#")[0]).resolve()
            address = address_of(path)
            if address is None or address in seen:
                continue
            seen.add(address)
            files.append(File.generated(config, address, content=page_of(path)))
            if path.suffix == ".md":
                waiting.append(path)
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Make links outside docs/ lead to the pages of those files."""
    here = page.file.src_uri
    return rewrite(markdown, origin_of(here), posixpath.dirname(here))


def origin_of(address: str) -> Path:
    """The folder to which the links of a page are relative."""
    if address.startswith("project/"):
        return (ROOT / address.removeprefix("project/")).parent
    return (DOCS / address).parent


def rewrite(markdown: str, origin: Path, here: str) -> str:
    """Replace the links of a page; a link to a folder becomes its name."""

    def replaced(match: re.Match[str]) -> str:
        text, target = match.groups()
        name, hash_sign, anchor = target.partition("#")
        path = (origin / name).resolve()
        if not name or not path.is_relative_to(ROOT):
            return match.group()
        if path.is_dir():
            return text
        address = address_of(path)
        if address is None:
            if not path.is_relative_to(DOCS) or origin.is_relative_to(DOCS):
                return match.group()
            address = path.relative_to(DOCS).as_posix()
        if path.suffix != ".md":
            hash_sign = anchor = ""
        return f"[{text}]({posixpath.relpath(address, here or '.')}{hash_sign}{anchor})"

    return LINK.sub(replaced, markdown)


def address_of(path: Path) -> str | None:
    """Where a file outside docs/ (or an example in it) is on the site."""
    if not path.is_file() or not path.is_relative_to(ROOT):
        return None
    name = path.relative_to(ROOT).as_posix()
    if path.is_relative_to(DOCS) and not name.startswith("docs/examples/"):
        return None
    return f"project/{name}" if path.suffix == ".md" else f"source/{name}.md"


def page_of(path: Path) -> str:
    """A file as a page: Markdown as it is, anything else as code; not part of the search."""
    text = path.read_text(encoding="utf-8", errors="replace")
    head = "---\nsearch:\n  exclude: true\n---\n"
    if path.suffix == ".md":
        return head + text
    name = path.relative_to(ROOT).as_posix()
    fence = "`" * 5
    return f"{head}# {name}\n\n{fence}{LANGUAGES.get(path.suffix, 'text')}\n{text}\n{fence}\n"


# --- The reference ---


def reference() -> dict[str, str]:
    """Pages made from the code, by name."""
    os.environ["COLUMNS"] = "90"  # of the help texts
    return {"commands": commands(), "recipes": recipes(), "json": json_keys(), "api": api()}


def commands() -> str:
    """The help of every command."""
    from rookery.cli import command_names, make_parser

    parts = ["# Commands\n\nThe help of each command, as `rookery COMMAND --help` prints it.\n"]
    for name in command_names():
        (group,) = (a for a in make_parser([name])._actions if a.dest == "==SUPPRESS==")
        text = group.choices[name].format_help()  # type: ignore[index, call-overload]
        parts.append(f"## {name}\n\n```text\n{text}```\n")
    return "\n".join(parts)


def recipes() -> str:
    """Every recipe with its summary and result; every algorithm with all its keys."""
    from rookery.base.registry import load
    from rookery.runs.algorithms import ALGORITHMS
    from rookery.training.listing import list_recipes
    from rookery.training.recipe import _leaves

    parts = ["# Recipes\n", "| recipe | algorithm | what it is | result |", "|---|---|---|---|"]
    for row in list_recipes():
        cells = (f"`{row['name']}`", row["algorithm"], row["summary"], row["result"])
        parts.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    parts.append("\nThe keys below are set with `--set KEY=VALUE` or in a recipe of your own.\n")
    for algorithm in ALGORITHMS.values():
        parts += [f"## {algorithm.name}\n", "| key | default | meaning |", "|---|---|---|"]
        for key, field in _leaves(load(algorithm.recipe)):
            default = (
                "" if field.is_required() else repr(field.get_default(call_default_factory=True))
            )
            parts.append(f"| `{key}` | {_code(default)} | {_cell(field.description or '')} |")
        parts.append("")
    return "\n".join(parts)


def json_keys() -> str:
    """What `--json` prints, from the types that the commands print."""
    from dataclasses import fields

    from rookery.training.loop import Outcome

    lines = [
        "# JSON\n",
        "With `--json` a command prints exactly one object to standard output; after an error",
        'it is `{"error": text}`. Keys may be added; none is removed without a note in the',
        "changelog.\n",
        "| command | keys |",
        "|---|---|",
    ]
    train = ", ".join(f"`{field.name}`" for field in fields(Outcome))
    rows = {"train, resume": train, **_example_keys()}
    lines += [f"| {name} | {keys} |" for name, keys in rows.items()]
    return "\n".join(lines) + "\n"


def _example_keys() -> dict[str, str]:
    """The keys of commands, from small runs of them."""
    from rookery.arena.match import MatchSettings, run_match
    from rookery.doctor import examine
    from rookery.players.registry import make_player

    match = run_match(
        lambda: make_player("greedy"),
        lambda: make_player("random"),
        MatchSettings(games=2, seed=1, concurrency=1),
        names=("greedy", "random"),
    ).to_json()
    named = {"arena, blind arena": match, "doctor": examine()}
    return {name: ", ".join(f"`{key}`" for key in found) for name, found in named.items()}


def api() -> str:
    """The modules that others build on; mkdocstrings fills them in."""
    head = "# Python API\n\n`Game`, `VectorGames` and their errors are in `rookery` itself.\n"
    return head + "\n".join(f"\n## {name}\n\n::: {name}\n" for name in API)


def _cell(text: object) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def _code(text: str) -> str:
    return f"`{_cell(text)}`" if text else ""
