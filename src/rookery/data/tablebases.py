"""Endgame tables, Gaviota and Syzygy, read through python-chess with one interface.

    with find_tablebases() as tables:
        tables.probe("8/8/8/8/8/2k5/8/KR6 w - - 0 1")   # Probe(wdl=2, distance=.., metric='dtm')

Gaviota tables contain the distance to mate, Syzygy tables the distance to the next capture or pawn
move that keeps the result. If both contain a position, the distance to mate is preferred, since it
never increases on the way to mate; `metric="dtz"` selects the other one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import chess
import chess.gaviota
import chess.syzygy

from rookery._core import STANDARD_BOARD, Game
from rookery.base.closing import Closing
from rookery.data.paths import MissingDataError, search_folders

METRICS = ("dtm", "dtz")
GAVIOTA_FOLDERS = ("/usr/share/gaviotatb/gtb4", "/usr/share/gaviota", "~/.local/share/gaviota")
SYZYGY_FOLDERS = ("/usr/share/syzygy", "/usr/local/share/syzygy", "~/.local/share/syzygy")
HOW_TO_GET = (
    "install Debian's gaviotatb (3 pieces), or put tables in the folders tablebases/gaviota "
    "(*.gtb.cp4) or tablebases/syzygy (*.rtbw, *.rtbz) of a folder named by ROOKERY_DATA"
)


@dataclass(frozen=True)
class Probe:
    """A tablebase result, from the side to move."""

    wdl: int  # 2 win, 1 cursed win (fifty-move rule), 0 draw, -1 blessed loss, -2 loss
    distance: int  # plies to the mate (dtm) or to the next zeroing move (dtz), 0 or more
    metric: str  # "dtm" or "dtz"

    @property
    def result(self) -> int:
        """Result under the fifty-move rule: +1 won, 0 drawn, -1 lost, for the side to move."""
        return (self.wdl == 2) - (self.wdl == -2)


class Tablebases(Closing):
    """A set of open table folders. Close it, or use it in a `with` statement."""

    def __init__(
        self,
        gaviota: Sequence[str | os.PathLike[str]] = (),
        syzygy: Sequence[str | os.PathLike[str]] = (),
    ) -> None:
        """Open the tables in these folders, each of which must contain some."""
        self.gaviota_folders = [_checked(folder, "*.gtb.cp4", "Gaviota") for folder in gaviota]
        self.syzygy_folders = [_checked(folder, "*.rtbw", "Syzygy") for folder in syzygy]
        # The pure Python reader: the C library keeps its tables in global variables.
        self._gaviota = chess.gaviota.PythonTablebase()
        for folder in self.gaviota_folders:
            self._gaviota.add_directory(str(folder))
        self._syzygy = chess.syzygy.Tablebase()
        for folder in self.syzygy_folders:
            self._syzygy.add_directory(str(folder))
        self._largest = max((len(name.replace("v", "")) for name in self.endings()), default=0)

    @property
    def available(self) -> bool:
        """Whether there is any table at all."""
        return self._largest > 0

    def tells(self, metric: str) -> bool:
        """Whether there are tables with this distance, "dtm" or "dtz"."""
        return bool(self.gaviota_folders if metric == "dtm" else self.syzygy_folders)

    def endings(self) -> list[str]:
        """List the endings with a table, such as "KPvK", smallest first."""
        found = set()
        for folder in self.gaviota_folders:
            found |= {_gaviota_ending(path) for path in folder.glob("*.gtb.cp4")}
        for folder in self.syzygy_folders:
            found |= {path.name.split(".")[0] for path in folder.glob("*.rtbw")}
        return sorted(found, key=lambda name: (len(name), name))

    def describe(self) -> str:
        """Describe the tables in one line."""
        if not self.available:
            return f"no endgame tables found; {HOW_TO_GET}"
        kinds = {"Gaviota": self.gaviota_folders, "Syzygy": self.syzygy_folders}
        places = [f"{kind} in {folder}" for kind, folders in kinds.items() for folder in folders]
        return f"tables of up to {self._largest} pieces: {'; '.join(places)}"

    def probe(self, position: Game | str, metric: str | None = None) -> Probe | None:
        """Probe a game or FEN; None if no table contains it.

        `metric` "dtm" or "dtz" accepts only that distance; None prefers "dtm".
        """
        if metric is not None and metric not in METRICS:
            raise ValueError(f"metric is {metric!r}; it must be one of {', '.join(METRICS)}")
        game = Game(position) if isinstance(position, str) else position
        if game.piece_count() > self._largest or game.board != STANDARD_BOARD:
            return None
        board = chess.Board(game.fen())
        if board.castling_rights:
            return None  # tables exclude castling rights
        answer = self._probe_gaviota(board) if metric in (None, "dtm") else None
        if answer is None and metric in (None, "dtz"):
            answer = self._probe_syzygy(board)
        return answer

    def _probe_gaviota(self, board: chess.Board) -> Probe | None:
        """Distance to mate, ignoring the fifty-move rule."""
        try:
            plies = self._gaviota.probe_dtm(board)
        except KeyError:
            return None
        if plies == 0:
            return Probe(-2 if board.is_checkmate() else 0, 0, "dtm")
        return Probe(2 if plies > 0 else -2, abs(plies), "dtm")

    def _probe_syzygy(self, board: chess.Board) -> Probe | None:
        """Result under the fifty-move rule and distance to the next zeroing move."""
        try:
            wdl, plies = self._syzygy.probe_wdl(board), self._syzygy.probe_dtz(board)
        except KeyError:
            return None
        return Probe(wdl, 0 if board.is_checkmate() else abs(plies), "dtz")

    def close(self) -> None:
        """Close all files; may be called more than once."""
        self._gaviota.close()
        self._syzygy.close()


def _gaviota_ending(path: Path) -> str:
    """Turn a file name such as "krkp.gtb.cp4" into "KRvKP"."""
    pieces = path.name.split(".")[0].upper()
    weaker = pieces.index("K", 1)
    return f"{pieces[:weaker]}v{pieces[weaker:]}"


def _checked(folder: str | os.PathLike[str], pattern: str, kind: str) -> Path:
    """Return the folder if it contains tables of that kind."""
    path = Path(folder)
    if not path.is_dir() or not any(path.glob(pattern)):
        raise MissingDataError(f"there are no {kind} tables in {str(folder)!r}; {HOW_TO_GET}")
    return path


def find_tablebases(
    gaviota: str | os.PathLike[str] | None = None,
    syzygy: str | os.PathLike[str] | None = None,
) -> Tablebases:
    """Open the tables in the given folders, or else all in the usual places.

    The result may be empty (`available` is False): `describe` then says how to get tables.
    """
    if gaviota is not None or syzygy is not None:
        return Tablebases(
            [gaviota] if gaviota is not None else [], [syzygy] if syzygy is not None else []
        )
    gaviota_folders = search_folders("tablebases/gaviota", GAVIOTA_FOLDERS)
    syzygy_folders = search_folders("tablebases/syzygy", SYZYGY_FOLDERS, "SYZYGY_PATH")
    return Tablebases(
        [folder for folder in gaviota_folders if any(folder.glob("*.gtb.cp4"))],
        [folder for folder in syzygy_folders if any(folder.glob("*.rtbw"))],
    )
