"""One game between two players, from its opening to a result that names its reason.

A player that breaks the rules forfeits: the record says who, what kind of fault, and the
evidence. Nothing a player does can raise out of `play_game` except an interrupt from outside.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from rookery.arena.limits import Adjudication, MatchLimits, ValueJudge
from rookery.arena.openings import Opening
from rookery.data.tablebases import Tablebases
from rookery.players.base import Decision, Player
from rookery.players.faults import EngineFault, clean

POINTS = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}  # White's


@dataclass(frozen=True)
class Fault:
    """A broken rule: by whom, of what kind (`players.faults.FAULT_KINDS`), and the evidence."""

    white: bool
    kind: str
    evidence: str


@dataclass(frozen=True)
class GameRecord:
    """A finished game. Points of view: `result` is White's, as in PGN."""

    pair: int  # from 0
    index: int  # 0: the first player has White; 1: colours swapped
    white: str
    black: str
    opening: Opening
    moves: tuple[str, ...]  # UCI, those of the opening included
    result: str  # "1-0", "0-1", "1/2-1/2"; "*" for a void game
    reason: str  # "checkmate", "fifty_moves", "adjudication: ...", "forfeit: ..."
    seconds: float
    fault: Fault | None = None
    void: bool = False  # counted nowhere: both sides or our own machine were at fault
    comments: tuple[str, ...] = field(default=(), repr=False)  # one a move after the opening

    @property
    def first_points(self) -> float:
        """Points of the first player of the pair; only for games that count."""
        points = POINTS[self.result]
        return points if self.index == 0 else 1.0 - points


def play_game(
    white: Player,
    black: Player,
    opening: Opening,
    rngs: tuple[np.random.Generator, np.random.Generator],
    *,
    limits: MatchLimits | None = None,
    adjudication: Adjudication | None = None,
    tables: Tablebases | None = None,
    pair: int = 0,
    index: int = 0,
    names: tuple[str, str] | None = None,
    overload: Callable[[float], float] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> GameRecord | None:
    """Play one game.

    Args:
        white: the player of the white pieces.
        black: the player of the black pieces.
        opening: where the game starts.
        rngs: randomness of White and of Black.
        limits: clocks and limits a move.
        adjudication: when to end the game early.
        tables: endgame tables, used if `adjudication.tablebase`.
        pair: number of the pair, for the record.
        index: number of the game in its pair, for the record.
        names: names of White and Black for the record; the players' own by default.
        overload: tells the longest delay that our own machine suffered since a (monotonic)
            moment; a loss on time by less than that is void instead.
        cancelled: asked before each move; if true the game is dropped.

    Returns:
        The record, or None if the game was cancelled.
    """
    table = _Table(
        (white, black), opening, rngs, limits or MatchLimits(), adjudication or Adjudication()
    )
    table.tables = tables
    table.overload = overload
    started = time.monotonic()
    outcome = table.start()
    while outcome is None:
        if cancelled is not None and cancelled():
            return None
        outcome = table.ended() or table.move()
    white_name, black_name = names or (white.name, black.name)
    return GameRecord(
        pair=pair,
        index=index,
        white=white_name,
        black=black_name,
        opening=opening,
        moves=tuple(table.game.moves()),
        result=outcome.result,
        reason=outcome.reason,
        seconds=time.monotonic() - started,
        fault=outcome.fault,
        void=outcome.result == "*",
        comments=tuple(table.comments),
    )


@dataclass(frozen=True)
class _Outcome:
    result: str
    reason: str
    fault: Fault | None = None


class _Table:
    """The state of a game in progress: board, clocks, watchers."""

    def __init__(
        self,
        players: tuple[Player, Player],
        opening: Opening,
        rngs: tuple[np.random.Generator, np.random.Generator],
        limits: MatchLimits,
        adjudication: Adjudication,
    ) -> None:
        self.players = players  # White, Black
        self.rngs = rngs
        self.game = opening.game()
        self.limits = limits
        self.adjudication = adjudication
        self.judge = ValueJudge(adjudication)
        self.tables: Tablebases | None = None
        self.overload: Callable[[float], float] | None = None
        self.comments: list[str] = []
        control = limits.time_control
        self.clocks = [control.seconds if control else None for _ in range(2)]
        self.opening_plies = self.game.ply

    def start(self) -> _Outcome | None:
        """Prepare both players; a broken one forfeits, two broken ones void the game."""
        faults: list[Fault] = []
        for side, player in enumerate(self.players):
            try:
                player.new_game()
            except EngineFault as fault:
                faults.append(Fault(side == 0, fault.kind, fault.evidence))
            except Exception as error:
                faults.append(Fault(side == 0, "error", _describe(error)))
        if len(faults) == 2:
            both = "; ".join(f"{'White' if f.white else 'Black'} {f.kind}" for f in faults)
            return _Outcome("*", f"void: both players failed to start ({both})", faults[0])
        return self._forfeit(faults[0]) if faults else None

    def ended(self) -> _Outcome | None:
        """Whether the rules, or the match's own limits, end the game here."""
        game = self.game
        over = game.outcome()
        if over is not None:
            termination, winner = over
            result = "1/2-1/2" if winner is None else "1-0" if winner else "0-1"
            return _Outcome(result, termination)
        if game.is_threefold:
            return _Outcome("1/2-1/2", "threefold_repetition")
        if game.is_fifty_moves:
            return _Outcome("1/2-1/2", "fifty_moves")
        cap = self.adjudication.max_plies
        if cap and game.ply >= cap:
            return _Outcome("1/2-1/2", f"adjudication: {cap} plies")
        if self.adjudication.tablebase and self.tables is not None:
            probe = self.tables.probe(game)
            if probe is not None:
                sign = probe.result if game.turn else -probe.result
                return _Outcome(
                    {1: "1-0", 0: "1/2-1/2", -1: "0-1"}[sign], "adjudication: endgame tables"
                )
        return None

    def move(self) -> _Outcome | None:
        """Ask the side to move, check everything, play the move."""
        game = self.game
        white = game.turn
        side = 0 if white else 1
        began = time.monotonic()
        try:
            decision = self.players[side].choose(
                game, self.rngs[side], self.limits.for_move(self.clocks[0], self.clocks[1])
            )
        except EngineFault as fault:
            return self._forfeit(Fault(white, fault.kind, fault.evidence), began)
        except Exception as error:
            return self._forfeit(Fault(white, "error", _describe(error)))
        elapsed = _thinking_time(decision, time.monotonic() - began)
        late = self._late(side, elapsed)
        if late:
            return self._forfeit(Fault(white, "time", late), began)
        if decision.claims_draw:
            if game.can_claim_draw():
                return _Outcome("1/2-1/2", "draw claimed")
            return self._forfeit(Fault(white, "illegal", f"wrong draw claim in {game.fen()}"))
        if not game.is_legal(decision.move):
            evidence = f"move {clean(decision.move, 40)!r} in {game.fen()}"
            return self._forfeit(Fault(white, "illegal", evidence))
        number = game.fullmove_number
        game.push(decision.move)
        self.comments.append(_comment(decision, elapsed))
        verdict = self.judge.verdict(white, decision.value, number)
        return _Outcome(verdict, "adjudication: both players agree") if verdict else None

    def _late(self, side: int, elapsed: float) -> str:
        """Evidence of a loss on time, or nothing; runs the clock."""
        margin = self.limits.margin
        movetime = self.limits.movetime
        if movetime is not None and self.clocks[side] is None and elapsed > movetime + margin:
            return f"took {elapsed:.3f} s of {movetime:.3f} s (margin {margin:g} s)"
        clock = self.clocks[side]
        if clock is None or self.limits.time_control is None:
            return ""
        if elapsed > clock + margin:
            return f"took {elapsed:.3f} s with {clock:.3f} s on the clock (margin {margin:g} s)"
        self.clocks[side] = max(0.0, clock - elapsed) + self.limits.time_control.increment
        return ""

    def _forfeit(self, fault: Fault, since: float | None = None) -> _Outcome:
        if fault.kind in ("time", "hang") and since is not None and self.overload is not None:
            delay = self.overload(since)
            if delay > self.limits.margin:
                reason = f"void: our own machine stalled for {delay:.3f} s ({fault.kind})"
                return _Outcome("*", reason, fault)
        side = "White" if fault.white else "Black"
        return _Outcome("0-1" if fault.white else "1-0", f"forfeit: {side} {fault.kind}", fault)


def _thinking_time(decision: Decision, measured: float) -> float:
    """Time of the search itself where the player's client measured it, else all of it."""
    inner = decision.details.get("seconds")
    return inner if isinstance(inner, float) and 0.0 <= inner <= measured else measured


def _comment(decision: Decision, elapsed: float) -> str:
    parts = []
    if decision.value is not None:
        depth = decision.details.get("depth")
        parts.append(f"{decision.value:+.2f}" + (f"/{depth}" if isinstance(depth, int) else ""))
    parts.append(f"{elapsed:.3f}s")
    return " ".join(parts)


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
