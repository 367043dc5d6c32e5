"""Objects that hold files or processes and are closed at the end of a `with` block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """Makes `with` call `close`."""

    @abstractmethod
    def close(self) -> None:
        """Give everything back; may be called more than once."""

    def __enter__(self) -> Self:
        """The object itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()
