"""Parsing of UCI commands; out-of-range numbers are clamped, invalid ones reported."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from rookery._core import STANDARD_BOARD, Game
from rookery.players.base import Limits

MOST_MILLISECONDS = 2**31 - 1  # about 24 days; usual in other engines
MOST_NODES = 2**63 - 1
MOST_PLIES = 245
MOST_MATE_MOVES = 100
MOST_MOVES_TO_GO = 1000
MOST_COMPLAINTS = 5  # per line
MOST_DIGITS = 19  # of a number that fits 64 bits

_NUMBER = re.compile(r"([+-]?)([0-9]+)")
# Word of `go`: (smallest, largest) value. An expired clock counts as one millisecond.
_GO_NUMBERS = {
    "wtime": (1, MOST_MILLISECONDS),
    "btime": (1, MOST_MILLISECONDS),
    "winc": (0, MOST_MILLISECONDS),
    "binc": (0, MOST_MILLISECONDS),
    "movetime": (1, MOST_MILLISECONDS),
    "movestogo": (1, MOST_MOVES_TO_GO),
    "depth": (1, MOST_PLIES),
    "nodes": (1, MOST_NODES),
    "mate": (1, MOST_MATE_MOVES),
    "perft": (0, 64),
}
_GO_WORDS = {*_GO_NUMBERS, "searchmoves", "ponder", "infinite"}


@dataclass(frozen=True)
class Go:
    """The arguments of `go`; times in milliseconds, None: not given."""

    search_moves: tuple[str, ...] = ()  # as written
    ponder: bool = False
    infinite: bool = False
    depth: int | None = None
    nodes: int | None = None
    mate: int | None = None  # full moves
    movetime: int | None = None
    wtime: int | None = None
    btime: int | None = None
    winc: int | None = None
    binc: int | None = None
    movestogo: int | None = None
    perft: int | None = None

    @property
    def bounded(self) -> bool:
        """Whether a limit ends the search once pondering is over."""
        limits = (self.depth, self.nodes, self.mate, self.movetime, self.wtime, self.btime)
        return not self.infinite and any(limit is not None for limit in limits)

    @property
    def is_analysis(self) -> bool:
        """Whether this is analysis and not a move in a game."""
        return self.infinite or bool(self.search_moves) or self.mate is not None

    def limits(self, overhead: int = 0) -> Limits:
        """Convert to `Limits`, with `overhead` milliseconds of the clocks held in reserve."""
        # If a client sends only one clock, use it for both sides.
        white = self.wtime if self.wtime is not None else self.btime
        black = self.btime if self.btime is not None else self.wtime
        has_clock = white is not None
        return Limits(
            movetime=_seconds(self.movetime),
            nodes=self.nodes,
            depth=self._plies(),
            white_time=_seconds(white, overhead),
            black_time=_seconds(black, overhead),
            white_increment=_seconds(self.winc or 0) if has_clock else None,
            black_increment=_seconds(self.binc or 0) if has_clock else None,
            moves_to_go=self.movestogo if has_clock else None,
        )

    def _plies(self) -> int | None:
        if self.mate is None:
            return self.depth
        # A selective search may miss a mate at its nominal depth, so search deeper.
        enough = min(4 * self.mate + 8, MOST_PLIES)
        return enough if self.depth is None else min(self.depth, enough)


def read_number(word: str, low: int, high: int) -> int | None:
    """Parse an integer and clamp it to its range; None if it is not one."""
    match = _NUMBER.fullmatch(word)
    if match is None:
        return None
    sign, digits = match[1], match[2].lstrip("0") or "0"
    # Python refuses to parse thousands of digits; beyond 64 bits only the sign matters.
    value = int(digits) if len(digits) <= MOST_DIGITS else high + 1
    if sign == "-":
        value = -value if len(digits) <= MOST_DIGITS else low - 1
    return max(low, min(high, value))


def read_go(words: Sequence[str]) -> tuple[Go, list[str]]:
    """Parse the arguments of `go`; also returns complaints about invalid ones."""
    values: dict[str, int | bool | tuple[str, ...]] = {}
    complaints = []
    rest = deque(words)
    while rest:
        word = rest.popleft()
        if word in ("ponder", "infinite"):
            values[word] = True
        elif word == "searchmoves":
            moves = []
            while rest and rest[0] not in _GO_WORDS:
                moves.append(rest.popleft())
            values["search_moves"] = tuple(moves)
        elif word in _GO_NUMBERS:
            number = read_number(rest[0], *_GO_NUMBERS[word]) if rest else None
            if number is None:
                complaints.append(f"go: {word} without a number")
            else:
                values[word] = number
            if rest and (number is not None or rest[0] not in _GO_WORDS):
                rest.popleft()
        else:
            complaints.append(f"go: unknown word {shown(word)}")
    if len(complaints) > MOST_COMPLAINTS:
        complaints[MOST_COMPLAINTS:] = ["go: further errors omitted"]
    return Go(**values), complaints  # type: ignore[arg-type]


def read_position(words: Sequence[str], chess960: bool, board: str = STANDARD_BOARD) -> Game:
    """Parse the arguments of `position`; an invalid position is a `ValueError`."""
    if not words or words[0] not in ("startpos", "fen"):
        raise ValueError("position: expected 'startpos' or 'fen'")
    moves_at = words.index("moves") if "moves" in words else len(words)
    if words[0] == "startpos":
        if moves_at != 1:
            raise ValueError(f"position: expected 'moves' after 'startpos', not {shown(words[1])}")
        fen = None
    else:
        fen = " ".join(words[1:moves_at])
    game = Game(fen, chess960, board)
    for move in words[moves_at + 1 :]:
        try:
            game.push(move.lower())
        except ValueError:
            raise ValueError(
                f"position: illegal move {shown(move)} in {game.fen()!r}; "
                "the previous position is kept"
            ) from None
    return game


def read_setoption(words: Sequence[str]) -> tuple[str, str]:
    """Parse name and value of an option; both may contain spaces."""
    if not words or words[0].lower() != "name":
        raise ValueError("setoption: expected 'name'")
    lowered = [word.lower() for word in words]
    value_at = lowered.index("value") if "value" in lowered else len(words)
    name = " ".join(words[1:value_at])
    if not name:
        raise ValueError("setoption: the name is missing")
    return name, " ".join(words[value_at + 1 :])


def shown(text: str) -> str:
    """Quote input for a message: short, one line, ASCII only."""
    return ascii(text if len(text) <= 60 else text[:57] + "...")


def one_line(what: object) -> str:
    """Format an error for a message: at most 300 characters, one line, ASCII only."""
    text = ascii(" ".join(str(what).split()))[1:-1] or type(what).__name__
    return text if len(text) <= 300 else text[:297] + "..."


def _seconds(milliseconds: int | None, less: int = 0) -> float | None:
    return None if milliseconds is None else max(milliseconds - less, 1 if less else 0) / 1000.0
