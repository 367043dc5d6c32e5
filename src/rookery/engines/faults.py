"""Faults of players: what went wrong, and the evidence that goes into the PGN."""

from __future__ import annotations

FAULT_KINDS = {
    "missing": "the program could not be started",
    "handshake": "no uciok or readyok in time",
    "crash": "the program ended or closed its output",
    "hang": "no answer in time where no clock runs",
    "time": "the clock or the time for the move ran out",
    "illegal": "an illegal, null or unreadable move",
    "flood": "more output than any search needs, or a line without end",
    "option": "an option that the engine does not offer, or a value outside its range",
    "error": "the player raised an error",
}


class EngineFault(Exception):
    """A player broke the rules of the match and forfeits the game.

    Attributes:
        kind: a key of `FAULT_KINDS`.
        evidence: one line for the PGN: what was seen, never longer than a few hundred characters.
        allowance: for `time` and `hang`, the seconds there were for the answer; None: unknown.
    """

    def __init__(self, kind: str, evidence: str, allowance: float | None = None) -> None:
        """Make a fault; control characters in the evidence are replaced."""
        if kind not in FAULT_KINDS:
            raise ValueError(f"unknown fault kind {kind!r}")
        self.kind = kind
        self.evidence = clean(evidence)
        self.allowance = allowance
        super().__init__(f"{kind}: {self.evidence}")


def fault_of(error: Exception) -> EngineFault:
    """Any error of a player as a fault: engines bring theirs, Python players just raise."""
    if isinstance(error, EngineFault):
        return error
    try:
        return EngineFault("error", f"{type(error).__name__}: {error}")
    except Exception:  # an error that cannot even be printed
        return EngineFault("error", type(error).__name__)


def clean(text: str, limit: int = 300) -> str:
    """One printable line: engines may send anything, and this ends up in files and terminals."""
    printable = "".join(ch if ch.isprintable() else "?" for ch in text[: 2 * limit])
    return printable if len(printable) <= limit else printable[: limit - 3] + "..."
