"""Base class of objects that own files or processes and are closed by a `with` block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """Implements the context manager protocol with `close`."""

    @abstractmethod
    def close(self) -> None:
        """Release all resources; may be called more than once."""

    def __enter__(self) -> Self:
        """The object itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()
