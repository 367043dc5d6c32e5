r"""The syntax of player specifications: `name[,key=value ...]`.

Examples: `random`, `stockfish,depth=1,random=0.5`, `uci,command=./engine --fast`.

A value extends to the next comma; a comma inside it is written `\,`, or the whole value is put in
double quotes. Quotes elsewhere belong to the value: `uci,command=./engine --name "My engine"`. A
nested player (`book,otherwise=stockfish;depth=1`) separates its options by semicolons. Nothing is
ever passed to a shell.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass


class SpecError(ValueError):
    """An invalid player specification; the message names the fault and the remedy."""


@dataclass(frozen=True)
class PlayerSpec:
    """A parsed specification: a player's name and its options as text."""

    name: str
    options: Mapping[str, str]

    def __str__(self) -> str:
        """The canonical form, which parses to the same specification."""
        return ",".join(
            [_quoted(self.name), *(f"{k}={_quoted(v)}" for k, v in self.options.items())]
        )


def parse_spec(text: str) -> PlayerSpec:
    """Split a specification into name and options."""
    parts = _split(text.strip())
    name = parts[0].strip()
    if not name or "=" in name:
        raise SpecError(f"player {text!r} does not start with a name, as in 'stockfish,depth=1'")
    options: dict[str, str] = {}
    for part in parts[1:]:
        key, equals, value = part.partition("=")
        key = key.strip()
        if not equals or not key:
            raise SpecError(f"player {text!r}: {part!r} is not of the form key=value")
        if key in options:
            raise SpecError(f"player {text!r}: {key!r} is given twice")
        options[key] = value.strip()
    return PlayerSpec(name, options)


# A whole value (or name) in double quotes, up to the next comma or the end.
_WHOLE = re.compile(r'\s*"((?:[^"\\]|\\.)*)"\s*(?=,|\Z)', re.DOTALL)
_ESCAPED = re.compile(r'\\([,"\\])')


def _split(text: str) -> list[str]:
    parts, current = [], ""
    position = 0
    may_quote = True  # at the start of a name or value
    while position < len(text):
        whole = _WHOLE.match(text, position) if may_quote else None
        if whole is not None:
            current += _ESCAPED.sub(r"\1", whole[1])
            position = whole.end()
            may_quote = False
            continue
        if may_quote and text[position] == '"' and '"' not in text[position + 1 :]:
            raise SpecError(f"player {text!r}: a double quote is not closed")
        escaped = _ESCAPED.match(text, position)
        if escaped is not None:
            current += escaped[1]
            position = escaped.end()
            may_quote = False
            continue
        character = text[position]
        position += 1
        if character == ",":
            parts.append(current)
            current, may_quote = "", True
            continue
        may_quote = (character == "=" and "=" not in current) or (may_quote and character.isspace())
        current += character
    return [*parts, current]


def _quoted(value: str) -> str:
    if not re.search(r'[,"\\]', value):
        return value
    return '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'


def inner_spec(text: str) -> str:
    """The specification of a nested player: semicolons stand for commas."""
    return text.replace(";", ",")


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint for an unknown word: the closest known one, or all of them."""
    names = sorted(known)
    close = difflib.get_close_matches(word, names, 1, 0.5)
    return f"did you mean {close[0]!r}?" if close else f"there are {', '.join(names) or 'none'}"


# Parsers of option values. Each raises a ValueError that says what it expected.


_INTEGER = re.compile(r"-?[0-9]{1,40}")  # `int` refuses thousands of digits in its own words


def whole(low: int, high: int) -> Callable[[str], int]:
    """An integer in a range."""

    def parse(text: str) -> int:
        if not _INTEGER.fullmatch(text) or not low <= int(text) <= high:
            raise ValueError(f"expected a whole number from {low} to {high}")
        return int(text)

    return parse


positive_int = whole(1, (1 << 31) - 1)  # an int of the native code
large_int = whole(1, 1 << 62)


def number(low: float, high: float) -> Callable[[str], float]:
    """A number in a range."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise ValueError(f"expected a number from {low:g} to {high:g}")
        return value

    return parse


def seconds(text: str) -> float:
    """A duration: `0.05`, `0.05s` or `50ms`."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)(ms|s)?", text)
    if match is None or float(match[1]) <= 0:
        raise ValueError("expected seconds above 0, as 0.05, 0.05s or 50ms")
    return float(match[1]) / (1000.0 if match[2] == "ms" else 1.0)


def probability(text: str) -> float:
    """A number from 0 to 1, or a percentage such as `25%`."""
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise ValueError("expected a number from 0 to 1, or a percentage")
    return value


def boolean(text: str) -> bool:
    """True or false, or another usual pair of words."""
    if text.lower() in ("true", "yes", "on", "1"):
        return True
    if text.lower() in ("false", "no", "off", "0"):
        return False
    raise ValueError("expected true or false")


def one_of(*known: str) -> Callable[[str], str]:
    """One of several words."""

    def parse(text: str) -> str:
        if text not in known:
            raise ValueError(f"expected {', '.join(known[:-1])} or {known[-1]}")
        return text

    return parse


def words(text: str) -> str:
    """Any text that is not empty."""
    if not text:
        raise ValueError("expected some text")
    return text
