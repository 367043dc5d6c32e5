"""Registries of built-in components and those that other packages add as plug-ins.

A registry maps names to small frozen descriptions. They refer to code as "module:attribute", which
`load` imports on first use, so that reading a registry imports neither torch nor any engine.

An installed package adds a description by an entry point in the registry's group:

    [project.entry-points."rookery.players"]
    lazy = "my_package:LAZY"

Looking up a name loads only that entry point. A broken one never affects the others: listing the
registry skips it with one log line (standard error by default); looking it up raises the reason.
"""

from __future__ import annotations

import difflib
import logging
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Protocol, TypeVar

LOG = logging.getLogger("rookery.plugins")


class Named(Protocol):
    """An entry of a registry."""

    @property
    def name(self) -> str:
        """Unique in its registry."""
        ...


Entry = TypeVar("Entry", bound=Named)


def load(reference: str) -> Any:
    """Import and return the object that "module:attribute" refers to."""
    try:
        return pkgutil.resolve_name(reference)
    except (AttributeError, ValueError) as error:
        raise ImportError(f"there is no {reference!r}: {error}") from error


class Registry(Mapping[str, Entry]):
    """Descriptions by name: built in, registered by this process, or from installed packages."""

    def __init__(self, noun: str, group: str, kind: type[Entry], built_in: Iterable[Entry]) -> None:
        """Start with the built-in entries, in listing order.

        `noun` names an entry in messages ("player"), `group` is the entry point group of plug-ins
        ("rookery.players"), and every entry must be of type `kind`.
        """
        self.noun, self.group = noun, group
        self._kind = kind
        self._entries = {entry.name: entry for entry in built_in}
        self._refused: dict[str, str] = {}  # name -> why its entry point cannot be used
        self._logged: set[str] = set()  # refused names already logged

    def __getitem__(self, name: str) -> Entry:
        """The entry of this name; loads it if it is a plug-in."""
        if name not in self._entries:
            self._load(name)
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        """All names: built in, registered, then usable plug-ins."""
        for name in self._points:
            self._load(name)
            if name in self._refused and name not in self._logged:
                self._logged.add(name)
                LOG.warning(self._refused[name])
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        """Number of usable entries."""
        return sum(1 for _ in self)

    def find(self, name: str) -> Entry:
        """The entry of this name, or a ValueError with the closest name or the plug-in's fault."""
        if name in self:
            return self[name]
        if fault := self.fault(name):
            raise ValueError(fault)
        near = difflib.get_close_matches(name, self, 1, 0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(self))}"
        raise ValueError(f"unknown {self.noun} {name!r}; {hint}")

    def fault(self, name: str) -> str:
        """Why the plug-in of this name cannot be used; "" if it can."""
        self._load(name)
        return self._refused.get(name, "")

    def register(self, entry: Entry) -> None:
        """Add an entry for this process only; registering the same one again changes nothing."""
        if self._entries.setdefault(entry.name, entry) != entry:
            raise ValueError(f"there is already a {self.noun} {entry.name!r}")

    @cached_property
    def _points(self) -> dict[str, EntryPoint]:
        """Entry points by name, without those whose name is taken."""
        found: dict[str, EntryPoint] = {}
        for point in sorted(entry_points(group=self.group), key=_origin):
            if point.name not in self._entries and point.name not in found:
                found[point.name] = point
                continue
            other = _origin(found[point.name]) if point.name in found else "Rookery itself"
            LOG.warning(
                f"{self.noun} {point.name!r} of {_origin(point)} is ignored: {other} has a "
                f"{self.noun} of that name"
            )
        return found

    def _load(self, name: str) -> None:
        """Load an entry point unless that was already tried."""
        point = self._points.get(name)
        if point is None or name in self._entries or name in self._refused:
            return
        try:
            entry = point.load()
            if not isinstance(entry, self._kind):
                raise TypeError(f"{point.value} is not a {self._kind.__name__}")
            if entry.name != name:
                raise ValueError(f"{point.value} calls itself {entry.name!r}")
        except Exception as error:  # whatever another package's module raises
            words = " ".join(f"{type(error).__name__}: {error}".split())
            self._refused[name] = (
                f"{self.noun} {name!r} of {_origin(point)} cannot be used: {words}"
            )
        else:
            self._entries[name] = entry


def _origin(point: EntryPoint) -> str:
    """Package, version and target of an entry point."""
    package = f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown package"
    return f"{package} ({point.value})"
