"""One game between two players, from its opening to its result.

A player that breaks the rules forfeits; the record names the player, the kind of fault and the
evidence. No error of a player propagates out of `play_game`.
"""

from __future__ import annotations

import math
import numbers
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from rookery._core import Game
from rookery.arena.limits import Adjudication, MatchLimits, ValueJudge
from rookery.data.openings import Opening
from rookery.data.tablebases import Tablebases
from rookery.engines.faults import clean, fault_of
from rookery.players.base import Decision, Player

POINTS = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}  # White's


@dataclass(frozen=True)
class Fault:
    """A broken rule: by whom, its kind (`engines.faults.FAULT_KINDS`) and the evidence."""

    white: bool
    kind: str
    evidence: str


@dataclass(frozen=True)
class PlayedGame:
    """A finished game."""

    pair: int  # from 0
    index: int  # 0: the first player has White; 1: colours swapped
    white: str
    black: str
    opening: Opening
    moves: tuple[str, ...]  # UCI, including the opening
    result: str  # "1-0", "0-1", "1/2-1/2"; "*" for a void game
    reason: str  # "checkmate", "fifty_moves", "adjudication: ...", "forfeit: ..."
    seconds: float
    fault: Fault | None = None
    void: bool = False  # not counted: both players failed, or this machine stalled
    other_fault: Fault | None = None  # Black's, if neither player could start
    comments: tuple[str, ...] = field(default=(), repr=False)  # one per move after the opening

    @property
    def excused(self) -> bool:
        """Whether a stall of this machine explains `fault`."""
        return self.void and self.other_fault is None

    @property
    def first_points(self) -> float:
        """Points of the first player of the pair; only for games that count."""
        points = POINTS[self.result]
        return points if self.index == 0 else 1.0 - points


def game_rngs(seed: int, pair: int, index: int) -> tuple[np.random.Generator, np.random.Generator]:
    """Return the random streams of White and Black in one game of a match."""
    white, black = (
        np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(3, pair, index, side)))
        for side in range(2)
    )
    return white, black


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
) -> PlayedGame | None:
    """Play one game and return its record, or None if it was cancelled.

    `rngs` are White's and Black's; `pair`, `index` and `names` (default: the players' own) go into
    the record. `overload` returns the longest stall of this machine since a `time.monotonic()`
    moment: a loss on time that it explains makes the game void. `cancelled` is polled before each
    move.
    """
    table = _Table(
        (white, black),
        opening.game(),
        rngs,
        limits or MatchLimits(),
        adjudication or Adjudication(),
        tables,
        overload,
    )
    started = time.monotonic()
    outcome = table.start()
    while outcome is None:
        if cancelled is not None and cancelled():
            return None
        outcome = table.ended() or table.move()
    white_name, black_name = names or (white.name, black.name)
    return PlayedGame(
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
        other_fault=outcome.other_fault,
        comments=tuple(table.comments),
    )


@dataclass(frozen=True)
class _Outcome:
    result: str
    reason: str
    fault: Fault | None = None
    other_fault: Fault | None = None


@dataclass
class _Table:
    """The state of a game in progress."""

    players: tuple[Player, Player]  # White, Black
    game: Game
    rngs: tuple[np.random.Generator, np.random.Generator]
    limits: MatchLimits
    adjudication: Adjudication
    tables: Tablebases | None
    overload: Callable[[float], float] | None

    def __post_init__(self) -> None:
        self.judge = ValueJudge(self.adjudication)
        self.comments: list[str] = []
        control = self.limits.time_control
        self.clocks = [control.seconds if control else None for _ in range(2)]

    def start(self) -> _Outcome | None:
        """Start both players; one that fails forfeits, and if both fail the game is void."""
        faults: list[Fault] = []
        for side, player in enumerate(self.players):
            try:
                player.new_game()
            except Exception as error:
                fault = fault_of(error)
                faults.append(Fault(side == 0, fault.kind, fault.evidence))
        if len(faults) == 2:
            both = "; ".join(f"{'White' if f.white else 'Black'} {f.kind}" for f in faults)
            return _Outcome("*", f"void: both players failed to start ({both})", *faults)
        return self._forfeit(faults[0]) if faults else None

    def ended(self) -> _Outcome | None:
        """Return the outcome if the rules or the adjudication end the game here."""
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
        """Ask the side to move, check the answer, and play the move."""
        game = self.game
        white = game.turn
        side = 0 if white else 1
        began = time.monotonic()
        try:
            decision = self.players[side].choose(
                game, self.rngs[side], self.limits.for_move(self.clocks[0], self.clocks[1])
            )
            wrong = _malformed(decision)
        except Exception as error:
            fault = fault_of(error)
            broken = Fault(white, fault.kind, fault.evidence)
            return self._excuse(broken, fault.allowance, began) or self._forfeit(broken)
        if wrong:
            return self._forfeit(Fault(white, "error", wrong))
        elapsed = _thinking_time(decision, time.monotonic() - began)
        late = self._late(side, elapsed)
        if late is not None:
            evidence, allowance = late
            broken = Fault(white, "time", evidence)
            return self._excuse(broken, allowance, began, elapsed) or self._forfeit(broken)
        if decision.claims_draw:
            if game.can_claim_draw():
                return _Outcome("1/2-1/2", "draw claimed")
            return self._forfeit(Fault(white, "illegal", f"wrong draw claim in {game.fen()}"))
        if not _is_legal(game, decision.move):
            evidence = f"move {clean(decision.move, 40)!r} in {game.fen()}"
            return self._forfeit(Fault(white, "illegal", evidence))
        number = game.fullmove_number
        game.push(decision.move)
        self.comments.append(_comment(decision, elapsed))
        verdict = self.judge.verdict(white, decision.value, number)
        return _Outcome(verdict, "adjudication: both players agree") if verdict else None

    def _late(self, side: int, elapsed: float) -> tuple[str, float] | None:
        """Run the clock; return evidence of a loss on time and the seconds allowed, or None."""
        margin = self.limits.margin
        movetime = self.limits.movetime
        if movetime is not None and self.clocks[side] is None and elapsed > movetime + margin:
            return f"took {elapsed:.3f} s of {movetime:.3f} s (margin {margin:g} s)", movetime
        clock = self.clocks[side]
        if clock is None or self.limits.time_control is None:
            return None
        if elapsed > clock + margin:
            evidence = f"took {elapsed:.3f} s with {clock:.3f} s on the clock (margin {margin:g} s)"
            return evidence, clock
        self.clocks[side] = max(0.0, clock - elapsed) + self.limits.time_control.increment
        return None

    def _excuse(
        self, fault: Fault, allowance: float | None, since: float, elapsed: float | None = None
    ) -> _Outcome | None:
        """Return a void outcome if a stall of this machine explains the fault, else None.

        `allowance` is the time for the move, which was requested at the `time.monotonic()` moment
        `since` and took `elapsed` seconds (default: the time since then).
        """
        if fault.kind not in ("time", "hang") or allowance is None or self.overload is None:
            return None
        taken = time.monotonic() - since if elapsed is None else elapsed
        delay = self.overload(since)
        if fault.kind == "hang":
            # No answer at all: only a stall about as long as the wait explains that.
            explained = delay >= allowance / 2
        else:
            explained = delay > 0 and taken - allowance - delay <= self.limits.margin
        if not explained:
            return None
        reason = f"void: this machine stalled for {delay:.3f} s ({fault.kind})"
        return _Outcome("*", reason, fault)

    def _forfeit(self, fault: Fault) -> _Outcome:
        side = "White" if fault.white else "Black"
        return _Outcome("0-1" if fault.white else "1-0", f"forfeit: {side} {fault.kind}", fault)


def _malformed(decision: object) -> str:
    """Return what is wrong with the types in a player's answer, or ""."""
    if not isinstance(decision, Decision):
        return f"answered with {_type(decision)} instead of a Decision"
    if not isinstance(decision.move, str):
        return f"its move is {_type(decision.move)}, not text"
    value = decision.value
    if value is not None and not isinstance(value, numbers.Real):
        return f"its value is {_type(value)}, not a number"
    if value is not None and math.isnan(value):
        return "its value is not a number (NaN)"
    if not isinstance(decision.details, Mapping):
        return f"its details are {_type(decision.details)}, not a mapping"
    return ""


def _type(value: object) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"


def _is_legal(game: Game, move: str) -> bool:
    try:
        return game.is_legal(move)
    except Exception:  # text that cannot be encoded, such as a lone surrogate
        return False


def _thinking_time(decision: Decision, measured: float) -> float:
    """Return the search time that the engine client measured, else the whole time."""
    inner = decision.details.get("seconds")
    return inner if isinstance(inner, float) and 0.0 <= inner <= measured else measured


def _comment(decision: Decision, elapsed: float) -> str:
    parts = []
    if decision.value is not None:
        depth = decision.details.get("depth")
        parts.append(f"{decision.value:+.2f}" + (f"/{depth}" if isinstance(depth, int) else ""))
    parts.append(f"{elapsed:.3f}s")
    return " ".join(parts)
