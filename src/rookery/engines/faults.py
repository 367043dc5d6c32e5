"""Faults of players, with the evidence that is written to the PGN."""

from __future__ import annotations

FAULT_KINDS = {
    "missing": "the program could not be started",
    "handshake": "no uciok or readyok in time",
    "crash": "the program ended or closed its output",
    "hang": "no answer in time where no clock runs",
    "time": "the clock or the time for the move ran out",
    "illegal": "an illegal, null or unreadable move",
    "flood": "too much output, or an endless line",
    "option": "an option that the engine does not offer, or a value outside its range",
    "error": "the player raised an error",
}


class EngineFault(Exception):
    """A player broke the rules of the match and forfeits the game."""

    def __init__(self, kind: str, evidence: str, allowance: float | None = None) -> None:
        """Make a fault.

        Args:
            kind: A key of `FAULT_KINDS`.
            evidence: What happened; shortened to one printable line for the PGN.
            allowance: For `time` and `hang`, the seconds allowed for the answer; None: unknown.
        """
        if kind not in FAULT_KINDS:
            raise ValueError(f"unknown fault kind {kind!r}")
        self.kind = kind
        self.evidence = clean(evidence)
        self.allowance = allowance
        super().__init__(f"{kind}: {self.evidence}")


def fault_of(error: Exception) -> EngineFault:
    """Convert any exception raised by a player into a fault."""
    if isinstance(error, EngineFault):
        return error
    try:
        return EngineFault("error", f"{type(error).__name__}: {error}")
    except Exception:  # an error that cannot even be printed
        return EngineFault("error", type(error).__name__)


def clean(text: str, limit: int = 300) -> str:
    """Make text from an engine safe for files and terminals: one printable line."""
    printable = "".join(ch if ch.isprintable() else "?" for ch in text[: 2 * limit])
    return printable if len(printable) <= limit else printable[: limit - 3] + "..."
