"""Games as PGN, and the PGN file as the journal of a match.

Results are stored nowhere else: a resumed match reads them from its PGN, so that games and results
always agree, whenever it was killed. Each game is appended by one write and ends with a checksum;
an incomplete or damaged tail is cut off when resuming.
"""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from rookery.arena.game import Fault, PlayedGame
from rookery.base.file_lock import lock
from rookery.data.pgn import pgn_text, split_games

_HEADER = re.compile(r'^\[(\w+) "((?:[^"\\]|\\.)*)"\]$', re.MULTILINE)
_ENDING = re.compile(r"\{(?P<reason>[^{}]*) crc (?P<crc>[0-9a-f]{8})\} (?P<result>\S+)\n\n\Z")
_STANDARD_TERMINATIONS = {
    "time": "time forfeit",
    "hang": "time forfeit",
    "illegal": "rules infraction",
}


class PgnError(ValueError):
    """A PGN file that cannot be the journal of this match."""


@dataclass(frozen=True)
class StoredGame:
    """The part of a game that the results need."""

    pair: int
    index: int
    result: str
    reason: str
    fault_white: bool | None  # who was at fault; None: neither, or this machine
    fault_kind: str
    void: bool
    line_hash: int  # of start position and moves, to detect duplicates
    plies: int
    seconds: float
    other_kind: str = ""  # fault of the other player, if neither could start


def stored(record: PlayedGame) -> StoredGame:
    """Return the part of a record that the results need."""
    fault = None if record.excused else record.fault
    line = f"{record.opening.fen} {' '.join(record.moves)}".encode()
    return StoredGame(
        pair=record.pair,
        index=record.index,
        result=record.result,
        reason=record.reason,
        fault_white=fault.white if fault else None,
        fault_kind=fault.kind if fault else "",
        void=record.void,
        line_hash=int.from_bytes(hashlib.blake2b(line, digest_size=8).digest(), "big"),
        plies=len(record.moves),
        seconds=record.seconds,
        other_kind=record.other_fault.kind if record.other_fault else "",
    )


def to_pgn(record: PlayedGame, headers: dict[str, str]) -> str:
    """Format the game as PGN, ending with a blank line."""
    game = stored(record)
    tags = {
        "Event": "Rookery match",
        **headers,
        "Round": f"{record.pair + 1}.{record.index + 1}",
        "Opening": record.opening.name,
        "PlyCount": str(len(record.moves)),
        "Termination": _termination(record),
        "Reason": record.reason,
        "Excused" if record.excused else "Fault": _blame(record.fault),
        "OtherFault": _blame(record.other_fault),
        "Void": "yes" if record.void else "",
        "LineHash": f"{game.line_hash:016x}",
        "Seconds": f"{record.seconds:.3f}",
    }
    opening = [""] * (len(record.moves) - len(record.comments))
    written = pgn_text(
        record.moves,
        record.white,
        record.black,
        record.result,
        start=record.opening.fen,
        chess960=record.opening.chess960,
        headers=tags,
        comments=[*opening, *record.comments],
        columns=90,
    )
    text = written.removesuffix(record.result)
    reason = record.reason.replace("{", "(").replace("}", ")")
    body = f"{text.rstrip()}\n{{{reason} crc "
    return f"{body}{zlib.crc32(body.encode()):08x}}} {record.result}\n\n"


def _blame(fault: Fault | None) -> str:
    if fault is None:
        return ""
    return f"{'white' if fault.white else 'black'} {fault.kind}: {fault.evidence}"


def _kind_of(blame: str) -> str:
    return blame.partition(" ")[2].partition(":")[0]


def _termination(record: PlayedGame) -> str:
    if record.void:
        return "unterminated"
    if record.fault is not None:
        return _STANDARD_TERMINATIONS.get(record.fault.kind, "abandoned")
    return "adjudication" if record.reason.startswith("adjudication") else "normal"


def read_games(text: str) -> Iterator[tuple[str, StoredGame, dict[str, str]]]:
    """Yield text, result and headers of a journal's games up to the first damaged one."""
    for chunk in split_games(text):
        ending = _ENDING.search(chunk)
        if ending is None:
            return
        body = chunk[: ending.start("crc")]
        if zlib.crc32(body.encode()) != int(ending["crc"], 16):
            return
        tags = {k: v.replace('\\"', '"').replace("\\\\", "\\") for k, v in _HEADER.findall(chunk)}
        try:
            pair, index = (int(part) - 1 for part in tags["Round"].split("."))
            fault = tags.get("Fault", "")
            game = StoredGame(
                pair=pair,
                index=index,
                result=tags["Result"],
                reason=tags["Reason"],
                fault_white=fault.startswith("white") if fault else None,
                fault_kind=_kind_of(fault),
                void=tags.get("Void") == "yes",
                line_hash=int(tags["LineHash"], 16),
                plies=int(tags["PlyCount"]),
                seconds=float(tags["Seconds"]),
                other_kind=_kind_of(tags.get("OtherFault", "")),
            )
        except (KeyError, ValueError):
            return
        yield chunk, game, tags


class Journal:
    """The PGN file of one match, open for appending and locked against a second writer."""

    def __init__(self, path: Path, match: str, headers: dict[str, str]) -> None:
        """Create or resume the file.

        `match` is the fingerprint of players, openings, limits and seed: the file of another match
        is rejected. `headers` are the tags of every game.
        """
        self.path = path
        self.games: list[StoredGame] = []
        self.dropped_bytes = 0
        self.damaged_copy: Path | None = None  # of the tail, unless that was an incomplete game
        self._closed = False
        self._headers = {**headers, "Match": match}
        if path.exists() and not path.is_file() and not path.is_dir():
            # A device may be endless, and a match cannot resume from it.
            raise PgnError(f"{path} is not a regular file; choose another for the games")
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            self._lock()
            self._load(match)
        except BaseException:
            os.close(self._file)
            raise

    def append(self, record: PlayedGame) -> None:
        """Add a finished game; it is stored when this returns."""
        if self._closed:
            # The descriptor may belong to another file by now.
            raise ValueError(f"{self.path}: the journal is closed, so the game is not stored")
        data = to_pgn(record, self._headers).encode()
        if os.write(self._file, data) != len(data):
            raise OSError(f"{self.path}: only part of a game was written; free some disk space")
        self.games.append(stored(record))

    def close(self) -> None:
        """Sync and close the file; idempotent."""
        if self._closed:
            return
        self._closed = True
        os.fsync(self._file)
        os.close(self._file)

    def _lock(self) -> None:
        try:
            lock(self._file)
        except OSError:
            raise PgnError(f"{self.path} is in use by another match; choose another file") from None

    def _load(self, match: str) -> None:
        raw = Path(self.path).read_bytes()
        text = raw.decode("utf-8", "replace")
        kept = 0
        seen: set[tuple[int, int]] = set()
        for chunk, game, tags in read_games(text):
            if tags.get("Match") != match:
                self._refuse()
            if (game.pair, game.index) in seen:
                raise PgnError(f"{self.path} holds game {tags['Round']} twice")
            seen.add((game.pair, game.index))
            self.games.append(game)
            kept += len(chunk.encode())
        self.dropped_bytes = len(raw) - kept
        if not self.dropped_bytes:
            return
        rest = raw[kept:]
        if not self.games and f'[Match "{match}"]'.encode() not in rest:
            self._refuse()
        if not _is_torn_game(rest, match):
            # Damage in the middle, or a game of another match: keep a copy of the tail.
            self.damaged_copy = self.path.with_name(self.path.name + ".damaged")
            self.damaged_copy.write_bytes(rest)
        os.ftruncate(self._file, kept)

    def _refuse(self) -> NoReturn:
        raise PgnError(
            f"{self.path} belongs to another match (other players, openings, limits or seed); "
            "choose another file or delete this one"
        )


def _is_torn_game(rest: bytes, match: str) -> bool:
    """Whether the tail of a journal is only the beginning of a game of this match."""
    if not rest.strip():
        return True
    if not rest.startswith(b"[Event ") or rest.count(b"[Event ") > 1:
        return False
    headers, blank, _ = rest.partition(b"\n\n")
    return not blank or f'[Match "{match}"]'.encode() in headers
