"""A TOML writer; the standard library only reads TOML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(content: Mapping[str, Any], comments: Mapping[str, str] | None = None) -> str:
    """Format a nested mapping as TOML, with comments by dotted key."""
    return "\n".join(_table(content, "", comments or {})).strip() + "\n"


def _table(content: Mapping[str, Any], prefix: str, comments: Mapping[str, str]) -> list[str]:
    lines = [f"[{prefix.rstrip('.')}]"] if prefix else []
    tables = []
    for key, value in content.items():
        name = _key(key)
        if isinstance(value, Mapping):
            tables.append((f"{prefix}{name}.", value))
            continue
        line = f"{name} = {_value(value)}"
        comment = " ".join(comments.get(f"{prefix}{name}", "").split())
        lines.append(f"{line}  # {comment}" if comment else line)
    for name, table in tables:
        lines += ["", *_table(table, name, comments)]
    return lines


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    # JSON's escapes are valid in TOML; only DEL, which JSON leaves alone, must be escaped too.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        # The repr of a finite float has a point or an exponent, as TOML requires.
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + "}"
    raise TypeError(f"TOML has no form for {value!r}")
