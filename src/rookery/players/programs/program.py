"""What all players that are other programs share: when the process starts, and when it ends."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from rookery.engines.process import EngineProcess, ProcessLimits


class Program(ABC):
    """A process that starts when it is first needed, and again after a fault."""

    def __init__(self, command: Sequence[str], limits: ProcessLimits) -> None:
        """Start nothing yet; `command` is an argument list."""
        self._command, self._process_limits = command, limits
        self._process: EngineProcess | None = None

    @abstractmethod
    def _handshake(self, process: EngineProcess) -> None:
        """Greet a process that has just started; an `EngineFault` ends it."""

    def close(self) -> None:
        """End the engine and its descendants."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def _running(self) -> EngineProcess:
        if self._process is None:
            self._process = EngineProcess(self._command, self._process_limits)
            with self._closed_on_fault():
                self._handshake(self._process)
        return self._process

    @contextlib.contextmanager
    def _closed_on_fault(self) -> Iterator[None]:
        """End the engine if an exception leaves the block: its state is then unknown."""
        try:
            yield
        except BaseException:
            self.close()
            raise
