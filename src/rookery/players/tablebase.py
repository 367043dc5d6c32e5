"""Perfect play from endgame tables.

With Gaviota tables (distance to mate) the attacker mates as fast as possible and the defender
resists as long as possible. With Syzygy tables alone the result is kept, by the shortest way to the
next capture or pawn move.
"""

from __future__ import annotations

import threading
from typing import Any, ClassVar

from numpy.random import Generator

from rookery._core import Game, MoveError
from rookery.data.paths import MissingDataError
from rookery.data.tablebases import HOW_TO_GET, Probe, Tablebases, find_tablebases
from rookery.players.base import Capabilities, Decision, Limits, Player
from rookery.players.spec import PlayerSpec, inner_spec

Rank = tuple[int, int]  # (result, speed) of a move for the mover; higher is better


class CachedTables:
    """A thread-safe cache of probes, shared by all users of the same folders."""

    _shared: ClassVar[dict[tuple[str, ...], dict[int, Probe | None]]] = {}
    _mirrored: ClassVar[dict[tuple[str, ...], dict[str, Probe | None]]] = {}
    _lock = threading.Lock()  # python-chess's Gaviota reader is not thread-safe

    def __init__(self, tables: Tablebases, size: int = 1 << 21) -> None:
        """Cache at most `size` positions of `tables`, which the caller closes."""
        self.tables = tables
        self._size = size
        folders = tuple(str(path) for path in (*tables.gaviota_folders, *tables.syzygy_folders))
        self._known = self._shared.setdefault(folders, {})
        self._either = self._mirrored.setdefault(folders, {})

    def probe(self, game: Game) -> Probe | None:
        """Probe the position, from the side to move."""
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
    """One key for a position and its mirror image (a-file to h-file), which have equal values."""
    placement, rest = epd.split(" ", 1)
    if not rest.endswith(" - -"):
        return epd  # castling or en passant is not symmetric
    mirrored = "/".join(row[::-1] for row in placement.split("/"))
    return f"{min(placement, mirrored)} {rest}"


class TablebasePlayer:
    """Plays perfectly wherever the tables contain the position."""

    def __init__(
        self,
        tables: Tablebases | None = None,
        otherwise: Player | None = None,
        name: str = "tablebase",
    ) -> None:
        """Use open tables (closed with the player), or all in the usual places.

        `otherwise` plays where no table helps; without it such a position is an error.
        """
        self.name = name
        self.tables = find_tablebases() if tables is None else tables
        self.otherwise = otherwise
        parts = () if otherwise is None else (otherwise,)
        self.capabilities = Capabilities(memoryless=True, parts=parts)
        self._cached = CachedTables(self.tables)
        if not self.tables.available:
            self.tables.close()
            raise MissingDataError(f"the player 'tablebase' needs endgame tables; {HOW_TO_GET}")

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        """Draw one of the best moves."""
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
        """Reset the other player, if there is one."""
        if self.otherwise is not None:
            self.otherwise.new_game()

    def close(self) -> None:
        """Close the tables and the other player."""
        self.tables.close()
        if self.otherwise is not None:
            self.otherwise.close()


def rank_moves(game: Game, tables: CachedTables) -> dict[str, Rank] | None:
    """Rank every legal move for the mover; None unless the tables contain all successors."""
    if game.piece_count() > 7:
        return None
    child = game.copy()
    ranks: dict[str, Rank] = {}
    probed: dict[str, tuple[Probe, bool]] = {}  # and whether it is a capture or pawn move
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
    # Distances to mate and to the next capture or pawn move cannot be compared. If some are of the
    # second kind, a capture or pawn move that keeps the win is progress in itself.
    to_zero = any(probe.metric == "dtz" for probe, _ in probed.values())
    for move, (probe, zeroed) in probed.items():
        distance = 0 if to_zero and zeroed else probe.distance
        ranks[move] = (-probe.result, probe.result * distance)  # the probe is the opponent's
    return ranks


def tablebase_player(spec: PlayerSpec, options: dict[str, Any]) -> TablebasePlayer:
    """The player `tablebase`, with another player where no table helps."""
    from rookery.players.registry import make_player

    tables = find_tablebases(options.get("gaviota"), options.get("syzygy"))
    otherwise = make_player(inner_spec(options.get("otherwise", "greedy-safe")))
    return TablebasePlayer(tables, otherwise, str(spec))
