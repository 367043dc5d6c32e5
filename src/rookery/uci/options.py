"""UCI options: the general ones, and parsing and printing of all.

A player's own settings (`Thinker.settings`: Hash, Threads, UCI_Elo, ...) come first; the general
ones are added if they apply and the player has none of the same name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rookery._core import STANDARD_BOARD, known_boards
from rookery.base.cores import usable_cores
from rookery.players.thinking import Setting
from rookery.uci.commands import read_number, shown

# Names of boards; standard chess has the name that GUIs know.
VARIANTS = ("chess", *(board.name for board in known_boards() if board.name != STANDARD_BOARD))
MOST_LINES = 218  # no position has more legal moves
EMPTY = "<empty>"  # how UCI spells an empty string

# General options and their fields in `Options`; "": without effect.
_THINKERS = {
    Setting("MultiPV", "spin", "1", 1, MOST_LINES): "lines",
    Setting("Ponder", "check", "false"): "",
    Setting("UCI_ShowWDL", "check", "false"): "show_wdl",
}
_ANY_PLAYER = {
    Setting("Move Overhead", "spin", "30", 0, 5000): "overhead",
    Setting("OwnBook", "check", "false"): "own_book",
    Setting("BookFile", "string", EMPTY): "book_file",
    Setting("SyzygyPath", "string", EMPTY): "syzygy_path",
    Setting("GaviotaTbPath", "string", EMPTY): "gaviota_path",
    Setting("UCI_Chess960", "check", "false"): "chess960",
}


@dataclass(frozen=True)
class Options:
    """Values of the general options."""

    lines: int = 1  # MultiPV
    show_wdl: bool = False
    overhead: int = 30  # milliseconds of the clock held in reserve
    own_book: bool = False
    book_file: str = ""  # "": the first book in the default folders
    syzygy_path: str = ""  # folders, separated as in PATH
    gaviota_path: str = ""
    chess960: bool = False
    variant: str = VARIANTS[0]  # the name of a board

    def with_value(self, name: str, value: str) -> Options:
        """Return a copy with one option (by its `key`) set to a checked value."""
        field = _FIELDS.get(name)
        if not field:
            return self
        kind = type(getattr(self, field))
        converted: Any = value == "true" if kind is bool else kind(value)
        return replace(self, **{field: converted})


def key(name: str) -> str:
    """Normalise an option name: case and repeated spaces do not matter."""
    return " ".join(name.lower().split())


_FIELDS = {key(setting.name): field for setting, field in (_THINKERS | _ANY_PLAYER).items()}
_FIELDS[key("UCI_Variant")] = "variant"


def _variant_setting(boards: Sequence[str] | None) -> Setting:
    names = tuple("chess" if board == STANDARD_BOARD else board for board in boards or ())
    choices = names or VARIANTS
    return Setting("UCI_Variant", "combo", choices[0], choices=choices)


def general_settings(
    own: Sequence[Setting], thinks: bool, about: str, boards: Sequence[str] | None
) -> tuple[Setting, ...]:
    """Return the general options that apply and are not among the player's `own`.

    `thinks`: the player is a `Thinker`; `about` is the value of UCI_EngineAbout; `boards` are those
    that it plays on, None: any.
    """
    taken = {key(setting.name) for setting in own}
    general = (
        *(_THINKERS if thinks else ()),
        *_ANY_PLAYER,
        _variant_setting(boards),
        Setting("UCI_EngineAbout", "string", about),
    )
    return tuple(setting for setting in general if key(setting.name) not in taken)


def find(settings: Sequence[Setting], name: str) -> Setting | None:
    """Return the setting of that name, or None."""
    return next((setting for setting in settings if key(setting.name) == key(name)), None)


def offer_lines(settings: Sequence[Setting]) -> Iterator[str]:
    """Yield the `option` lines of the answer to `uci`."""
    for setting in settings:
        words = ["option name", setting.name, "type", setting.kind]
        if setting.kind != "button":
            words += ["default", setting.default or EMPTY]
        if setting.kind == "spin":
            words += ["min", str(setting.low or 0), "max", str(_high(setting))]
        for choice in setting.choices:
            words += ["var", choice]
        yield " ".join(words)


def checked_value(setting: Setting, value: str) -> tuple[str, str]:
    """Return the value in normal form, and a remark if it was changed; raises `ValueError`."""
    match setting.kind:
        case "spin":
            low, high = setting.low or 0, _high(setting)
            number = read_number(value, low, high)
            if number is None:
                raise ValueError(
                    f"option {setting.name}: {shown(value)} is not a whole number ({low} to {high})"
                )
            exact = str(number) == value.lstrip("+")
            return str(number), "" if exact else f"option {setting.name} set to {number}"
        case "check":
            if value.lower() not in ("true", "false"):
                raise ValueError(
                    f"option {setting.name}: expected true or false, not {shown(value)}"
                )
            return value.lower(), ""
        case "combo":
            for choice in setting.choices:
                if choice.lower() == value.lower():
                    return choice, ""
            raise ValueError(
                f"option {setting.name}: {shown(value)} is not one of {', '.join(setting.choices)}"
            )
        case "button":
            return "", ""
        case _:
            return "" if value == EMPTY else value, ""


def advice(setting: Setting, value: str) -> Iterator[str]:
    """Yield remarks about an accepted value that is probably a mistake."""
    cores = usable_cores()
    if key(setting.name) == "threads" and int(value) > cores:
        yield f"{value} threads compete for {cores} cores; {cores} threads are faster"


def _high(setting: Setting) -> int:
    return 2**31 - 1 if setting.high is None else setting.high
