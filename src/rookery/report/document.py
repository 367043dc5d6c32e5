"""One self-contained HTML page that allows only its own style and script, by their hashes."""

from __future__ import annotations

import base64
import hashlib
import re
from html import escape, unescape
from importlib import resources
from pathlib import Path

from rookery.base.storage import atomic_write


def document(title: str, body: str, script: str = "") -> str:
    """The whole page; `body` is HTML, everything in it escaped."""
    style = asset("style.css")
    allowed = f"script-src '{_hash(script)}'; " if script else ""
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; {allowed}"
        "base-uri 'none'; form-action 'none'"
    )
    ending = f"<script>{script}</script>\n" if script else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style></head>\n"
        f"<body>\n{body}\n{ending}</body></html>\n"
    )


def drawings(page: str) -> dict[str, str]:
    """The charts of a page as SVG files of their own, by a name made from their titles."""
    found: dict[str, str] = {}
    for drawing in re.findall(r'<svg class="chart\b.*?</svg>', page, re.DOTALL):
        title = unescape(re.search(r'aria-label="([^"]*)"', drawing)[1])  # type: ignore[index]
        name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "chart"
        number = 1 + sum(known.partition(".")[0] == name for known in found)
        found[name if number == 1 else f"{name}.{number}"] = standalone(drawing)
    return found


def write_drawings(page: str, folder: Path) -> None:
    """Write the charts of a page to files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, drawing in drawings(page).items():
        atomic_write(folder / f"{name}.svg", drawing)


def standalone(drawing: str) -> str:
    """An inline SVG with its style, for other documents."""
    style = f"<style>{escape(asset('style.css'), quote=False)}</style>"
    paper = '<rect width="100%" height="100%" fill="#fdfdfb"/>'
    head, tag, rest = drawing.partition(">")
    return f'{head} xmlns="http://www.w3.org/2000/svg"{tag}{style}{paper}{rest}\n'


def asset(name: str) -> str:
    """The text of a file in the folder assets."""
    return (resources.files("rookery.report") / "assets" / name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
