"""Perfect play from endgame tables: the shortest mate, the longest resistance.

With Gaviota tables distances are to mate, so the attacker always makes progress and the defender
resists longest. With Syzygy tables alone the result is kept, by the shortest way to the next
capture or pawn move.
"""

from __future__ import annotations

import threading
from typing import Any, ClassVar

import numpy as np

from rookery._core import Game, MoveError
from rookery.data.paths import MissingDataError
from rookery.data.tablebases import HOW_TO_GET, Probe, Tablebases, find_tablebases
from rookery.players.base import Capabilities, Decision, Limits, Player
from rookery.players.spec import PlayerSpec, inner_spec

# Ranks of a move, higher is better for the mover: (result, how quickly or slowly).
Rank = tuple[int, int]


class CachedTables:
    """Tables that remember their answers: endgames ask for the same positions again and again.

    All users of the same folders share what is known. Safe to use from several threads.
    """

    _shared: ClassVar[dict[tuple[str, ...], dict[int, Probe | None]]] = {}
    _mirrored: ClassVar[dict[tuple[str, ...], dict[str, Probe | None]]] = {}
    _lock = threading.Lock()  # python-chess's Gaviota reader keeps blocks without one

    def __init__(self, tables: Tablebases, size: int = 1 << 21) -> None:
        """Remember at most `size` positions of `tables`, which stay the caller's to close."""
        self.tables = tables
        self._size = size
        folders = tuple(str(path) for path in (*tables.gaviota_folders, *tables.syzygy_folders))
        self._known = self._shared.setdefault(folders, {})
        self._either = self._mirrored.setdefault(folders, {})

    def probe(self, game: Game) -> Probe | None:
        """What the tables say about the position, from the side to move."""
        key = game.key
        try:
            return self._known[key]
        except KeyError:
            pass
        with self._lock:
            if len(self._known) >= self._size:
                self._known.clear()
                self._either.clear()
            name = _either_way(game.epd())
            if name not in self._either:
                self._either[name] = self.tables.probe(game)
            self._known[key] = self._either[name]
            return self._known[key]


def _either_way(epd: str) -> str:
    """One key for a position and its mirror image (a-file to h-file), which are worth the same."""
    placement, rest = epd.split(" ", 1)
    if not rest.endswith(" - -"):
        return epd  # castling or en passant: leave it alone
    mirrored = "/".join(row[::-1] for row in placement.split("/"))
    return f"{min(placement, mirrored)} {rest}"


class TablebasePlayer:
    """Plays perfectly wherever a table knows the position."""

    def __init__(
        self,
        tables: Tablebases | None = None,
        otherwise: Player | None = None,
        name: str = "tablebase",
    ) -> None:
        """Take open tables (closed with the player), or all in the usual places.

        Args:
            tables: endgame tables.
            otherwise: plays where no table helps; without it such a position is an error.
            name: how the player is called.
        """
        self.name = name
        self.tables = find_tablebases() if tables is None else tables
        self.otherwise = otherwise
        # Among equally good moves `rng` decides, and nothing else.
        parts = () if otherwise is None else (otherwise,)
        self.capabilities = Capabilities(memoryless=True, parts=parts)
        self._cached = CachedTables(self.tables)
        if not self.tables.available:
            self.tables.close()
            raise MissingDataError(f"the player 'tablebase' needs endgame tables; {HOW_TO_GET}")

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Choose among the best moves at random."""
        ranked = rank_moves(game, self._cached)
        if ranked is None:
            if self.otherwise is not None:
                return self.otherwise.choose(game, rng, limits)
            raise MoveError(f"no endgame table knows {game.fen()!r}")
        if not ranked:
            raise MoveError(f"there is no legal move to choose in {game.fen()!r}")
        top = max(ranked.values())
        best = [move for move, rank in ranked.items() if rank == top]
        return Decision(best[int(rng.integers(len(best)))], value=float(top[0]))

    def new_game(self) -> None:
        """Tell the other player, if there is one."""
        if self.otherwise is not None:
            self.otherwise.new_game()

    def close(self) -> None:
        """Close the tables."""
        self.tables.close()
        if self.otherwise is not None:
            self.otherwise.close()


def rank_moves(game: Game, tables: CachedTables) -> dict[str, Rank] | None:
    """Rank every legal move for the mover; None unless tables know all positions after them."""
    if game.piece_count() > 7:
        return None
    child = game.copy()
    ranks: dict[str, Rank] = {}
    probed: dict[str, tuple[Probe, bool]] = {}  # with: was it a capture or pawn move?
    for move in child.legal_moves():
        child.push(move)
        over = child.outcome()
        if over is not None:
            ranks[move] = (0, 0) if over[1] is None else (1, 1)
        elif child.is_threefold or child.is_fifty_moves:
            ranks[move] = (0, 0)
        else:
            probe = tables.probe(child)
            if probe is None:
                return None
            probed[move] = (probe, child.halfmove_clock == 0)
        child.pop()
    # Distances to mate and to the next capture or pawn move cannot be compared. Where some are
    # of the second kind, a capture or pawn move that keeps the win is itself the progress.
    to_zero = any(probe.metric == "dtz" for probe, _ in probed.values())
    for move, (probe, zeroed) in probed.items():
        distance = 0 if to_zero and zeroed else probe.distance
        ranks[move] = rank_of_probe(probe, distance)
    return ranks


def rank_of_probe(probe: Probe, distance: int) -> Rank:
    """Rank for the side that just moved, from what the tables say about the opponent."""
    if probe.result < 0:
        return (1, -distance)
    return (-1, distance) if probe.result > 0 else (0, 0)


def tablebase_player(spec: PlayerSpec, options: dict[str, Any]) -> TablebasePlayer:
    """The player `tablebase`: tables, and another player where they do not help."""
    from rookery.players.registry import make_player

    tables = find_tablebases(options.get("gaviota"), options.get("syzygy"))
    otherwise = make_player(inner_spec(options.get("otherwise", "greedy-safe")))
    return TablebasePlayer(tables, otherwise, str(spec))
