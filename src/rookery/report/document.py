"""One self-contained HTML page that allows only its own style and script, by their hashes."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib import resources


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


def asset(name: str) -> str:
    """The text of a file in the folder assets."""
    return (resources.files("rookery.report") / "assets" / name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
