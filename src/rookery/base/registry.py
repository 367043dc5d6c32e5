"""Registries: what Rookery has built in, and what other packages add to it.

A registry maps names to small frozen descriptions. Code is named in them as "module:attribute" and
loaded by `load` when it is used, so that reading a registry imports neither torch nor any engine.

An installed package adds a description by an entry point of the registry's group:

    [project.entry-points."rookery.players"]
    lazy = "my_package:LAZY"

Only the entry point that is asked for is loaded. One that cannot be used is left out and named in
one line, of the log (standard error by default) where all are listed, of the error if it was asked
for; it never stops the others.
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
    """What a registry holds."""

    @property
    def name(self) -> str:
        """Unique in its registry."""
        ...


Entry = TypeVar("Entry", bound=Named)


def load(reference: str) -> Any:
    """The object that "module:attribute" names; its module is imported if need be."""
    try:
        return pkgutil.resolve_name(reference)
    except (AttributeError, ValueError) as error:
        raise ImportError(f"there is no {reference!r}: {error}") from error


class Registry(Mapping[str, Entry]):
    """Descriptions by name: built in, registered by this process, or of an installed package."""

    def __init__(self, noun: str, group: str, kind: type[Entry], built_in: Iterable[Entry]) -> None:
        """Begin with what is built in.

        Args:
            noun: What an entry is called in messages: "player".
            group: Entry points of other packages: "rookery.players".
            kind: The type of all entries.
            built_in: In the order in which they are listed.
        """
        self.noun, self.group = noun, group
        self._kind = kind
        self._entries = {entry.name: entry for entry in built_in}
        self._refused: dict[str, str] = {}  # why an entry point of this name cannot be used
        self._told: set[str] = set()  # which of them the log has named

    def __getitem__(self, name: str) -> Entry:
        """The entry of this name; loads it if it belongs to another package."""
        if name not in self._entries:
            self._load(name)
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        """All names: built in, registered, then those of other packages that can be used."""
        for name in self._points:
            self._load(name)
            if name in self._refused and name not in self._told:
                self._told.add(name)
                LOG.warning(self._refused[name])
        return iter(tuple(self._entries))

    def __len__(self) -> int:
        """How many there are."""
        return sum(1 for _ in self)

    def find(self, name: str) -> Entry:
        """The entry of this name.

        Raises:
            ValueError: there is none; the text names the nearest, or what is wrong with a plug-in.
        """
        if name in self:
            return self[name]
        if fault := self.fault(name):
            raise ValueError(fault)
        near = difflib.get_close_matches(name, self, 1, 0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(self))}"
        raise ValueError(f"unknown {self.noun} {name!r}; {hint}")

    def fault(self, name: str) -> str:
        """Why the entry of this name, of another package, cannot be used; "" if it can."""
        self._load(name)
        return self._refused.get(name, "")

    def register(self, entry: Entry) -> None:
        """Add an entry for this process only; registering the same one again changes nothing."""
        if self._entries.setdefault(entry.name, entry) != entry:
            raise ValueError(f"there is already a {self.noun} {entry.name!r}")

    @cached_property
    def _points(self) -> dict[str, EntryPoint]:
        """Entry points whose names are free."""
        found: dict[str, EntryPoint] = {}
        for point in sorted(entry_points(group=self.group), key=_origin):
            other = "Rookery itself" if point.name in self._entries else None
            if point.name in found:
                other = _origin(found[point.name])
            if other is None:
                found[point.name] = point
            else:
                LOG.warning(
                    f"{self.noun} {point.name!r} of {_origin(point)} is ignored: {other} has a "
                    f"{self.noun} of that name"
                )
        return found

    def _load(self, name: str) -> None:
        """Load an entry point, once."""
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
    """The package that an entry point comes from, and what it names."""
    package = f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown package"
    return f"{package} ({point.value})"
