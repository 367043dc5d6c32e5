"""One `go`: from the command to its `bestmove`.

Two threads are involved, and no more: on a busy machine every change of threads takes
milliseconds. The reader creates a `Search` and may call `stop` or `ponderhit` at any time. The
engine's worker runs the searches in order. A stop that comes before the player is ready is repeated
on a thread of its own, and a player that fails or answers with an illegal move is replaced by a
legal one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rookery._core import Game, bot_move, find_mate, perft
from rookery.players.base import Decision, Limits, Player
from rookery.players.thinking import Thinker, Thought
from rookery.uci.commands import Go, one_line, shown
from rookery.uci.info import decision_line, over_line, thought_lines
from rookery.uci.options import Options

STOP_AGAIN_SECONDS = 0.01  # a stop may come before the player is ready for it
MATE_SECONDS, MATE_NODES = 10.0, 10**9  # of the exact search of `go mate`, before the player's own
PERFT_PLIES_AT_ONCE = 4  # about 20 ms, after which a stop is noticed


@dataclass(frozen=True)
class Setup:
    """The player of a search, and its output."""

    player: Player
    thinker: Thinker | None  # the player, if it is a `Thinker` (isinstance is slow)
    rng: np.random.Generator
    write: Callable[[str], None]  # one line of output
    own_overhead: bool = False  # the player has its own Move Overhead option
    known: tuple[str, Decision] | None = None  # source and move from book or tablebase


class Search:
    """A search with exactly one answer."""

    def __init__(self, go: Go, game: Game, options: Options) -> None:
        """Prepare; `game` must be a private copy."""
        self.go = go
        self.game = game
        self.options = options
        self.answered = False
        self._changed = threading.Condition()
        self._stopped = False  # by the client
        self._pondering = go.ponder
        self._thinker: Thinker | None = None  # while it thinks
        self._answering = threading.Lock()
        self._best_so_far = ""  # first move of the best reported line
        self._told = False
        self._hit_again = False  # repeat ponderhit: the player may not have been ready for it

    # Reader thread

    @property
    def endless(self) -> bool:
        """Whether only `stop` would end it in its current state."""
        return not self._stopped and (self._pondering or not self.go.bounded)

    def stop(self) -> None:
        """End the search with its best move so far."""
        with self._changed:
            insist = self._thinker is not None and not self._stopped
            self._stopped = True
            self._changed.notify_all()
        if insist:
            self._start_insisting()

    def _start_insisting(self) -> None:
        threading.Thread(target=self._insist, daemon=True, name="stop").start()

    def _insist(self) -> None:
        """Stop the player again and again: the first time it may not have been ready."""
        with self._changed:
            while self._thinker is not None:
                self._thinker.stop()
                self._changed.wait(STOP_AGAIN_SECONDS)

    def ponderhit(self) -> bool:
        """End pondering; returns whether this search was pondering."""
        with self._changed:
            if not self._pondering or self._stopped:
                return False
            self._pondering = False
            self._hit_again = not self._told
            if self._thinker is not None:
                self._thinker.ponderhit()
            self._changed.notify_all()
            return True

    # Worker thread

    def run(self, setup: Setup) -> None:
        """Search and write the answer."""
        if self.go.perft is not None:
            self._count(setup.write)
            self.answered = True
            return
        if self.game.outcome() is not None:
            setup.write(over_line(self.game))
            self._hold()
            self.answer("bestmove (none)", setup.write)
            return
        began = time.monotonic()
        decision = self._decide(setup)
        if not self._told:
            setup.write(decision_line(decision, time.monotonic() - began))
        if decision.claims_draw:
            setup.write("info string the player would claim a draw")
        self._hold()
        self.answer(self._best_move(decision), setup.write)

    def answer(self, text: str, write: Callable[[str], None]) -> None:
        """Write the `bestmove`, unless it has been written."""
        with self._answering:
            if not self.answered:
                self.answered = True
                write(text)

    def give_up(self, write: Callable[[str], None]) -> None:
        """Answer at once without the player."""
        if self.go.perft is None:
            over = self.game.outcome() is not None
            self.answer("bestmove (none)" if over else f"bestmove {self._fallback()}", write)

    def _decide(self, setup: Setup) -> Decision:
        if setup.known is not None:
            source, decision = setup.known
            setup.write(f"info string move from {source}")
            return decision
        outcome: Decision | Exception
        try:
            outcome = self._asked(setup)
        except Exception as error:  # no player error may break the protocol
            outcome = error
        if isinstance(outcome, Decision) and self.game.is_legal(outcome.move):
            return outcome
        what = outcome if isinstance(outcome, Exception) else f"illegal {shown(str(outcome))}"
        setup.write(f"info string error: {setup.player.name} failed: {one_line(what)}")
        move = self._fallback()
        return Decision(move, line=(move,))

    def _asked(self, setup: Setup) -> Decision:
        limits = self.go.limits(0 if setup.own_overhead else self.options.overhead)
        moves = self._search_moves(setup.write)
        if setup.thinker is None:
            decision = setup.player.choose(self.game, setup.rng, limits)
            if moves and decision.move not in moves:  # only a `Thinker` takes searchmoves
                return Decision(moves[int(setup.rng.integers(len(moves)))])
            return decision
        if self.go.mate is not None and (mate := self._exact_mate(moves)):
            return mate
        return self._thought(setup.thinker, limits, moves, setup)

    def _thought(
        self, thinker: Thinker, limits: Limits, moves: list[str], setup: Setup
    ) -> Decision:
        """Let a `Thinker` think; meanwhile the reader may stop it."""
        with self._changed:
            self._thinker = thinker
            stopped, pondering = self._stopped, self._pondering
        if stopped:  # while waiting: search briefly
            limits = Limits(depth=1)
            self._start_insisting()
        try:
            return thinker.think(
                self.game,
                limits,
                lambda thought: self._tell(thought, setup),
                lines=min(self.options.lines, len(moves) or self.game.legal_count()),
                search_moves=moves or None,
                pondering=pondering,
            )
        finally:
            with self._changed:
                self._thinker = None
                self._changed.notify_all()

    def _exact_mate(self, moves: list[str]) -> Decision | None:
        """The mate that was asked for, from a search that prunes nothing; None: not found.

        The player's own search prunes: it may miss a mate that begins with a quiet sacrifice.
        """
        until = time.monotonic() + self._mate_seconds()
        nodes = MATE_NODES if self.go.nodes is None else min(MATE_NODES, self.go.nodes)
        line, searched, _ = find_mate(
            self.game,
            self.go.mate or 1,
            nodes,
            moves,
            lambda: self._stopped or time.monotonic() > until,
        )
        if not line:
            return None
        details = {"mate": (len(line) + 1) // 2, "depth": len(line), "nodes": searched}
        return Decision(line[0], 1.0, tuple(line), details=details)

    def _mate_seconds(self) -> float:
        own = self.go.wtime if self.game.turn else self.go.btime
        if self.go.movetime is not None:
            return self.go.movetime / 2000
        return MATE_SECONDS if own is None else min(MATE_SECONDS, own / 20_000)

    def _search_moves(self, write: Callable[[str], None]) -> list[str]:
        legal = [move for move in self.go.search_moves if self.game.is_legal(move)]
        if len(legal) < len(self.go.search_moves):
            write("info string searchmoves: illegal moves ignored")
        return list(dict.fromkeys(legal))

    def _tell(self, thought: Thought, setup: Setup) -> None:
        """Report progress; called by the player on the search thread."""
        if self._hit_again and setup.thinker is not None:
            self._hit_again = False
            setup.thinker.ponderhit()
        if not thought.lines:
            return
        if thought.lines[0].moves:
            self._best_so_far = thought.lines[0].moves[0]
        numbered = self.options.lines > 1
        for line in thought_lines(thought, numbered, self.options.show_wdl):
            setup.write(line)
        self._told = True
        mate = thought.lines[0].mate
        found = self.go.mate is not None and mate is not None and 0 < mate <= self.go.mate
        if found and setup.thinker is not None:
            setup.thinker.stop()

    def _hold(self) -> None:
        """Delay the answer while the protocol forbids it: infinite or pondering."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._stopped or not (self.go.infinite or self._pondering)
            )

    def _best_move(self, decision: Decision) -> str:
        text = f"bestmove {decision.move}"
        if len(decision.line) > 1 and decision.line[0] == decision.move:
            after = self.game.copy()
            after.push(decision.move)
            if after.is_legal(decision.line[1]):
                text += f" ponder {decision.line[1]}"
        return text

    def _fallback(self) -> str:
        """Return a legal move without the player: its last best, or a simple choice."""
        if self.game.is_legal(self._best_so_far):
            return self._best_so_far
        return bot_move(self.game, "greedy-safe", self.game.key & ((1 << 63) - 1))

    def _count(self, write: Callable[[str], None]) -> None:
        """Execute `go perft`: count leaf nodes per root move."""
        began = time.monotonic()
        total = 0
        game = self.game.copy()
        for move in game.legal_moves() if self.go.perft else ():
            game.push(move)
            count = self._leaves(game, (self.go.perft or 1) - 1)
            game.pop()
            if self._stopped:
                write("info string perft stopped")
                return
            write(f"{move}: {count}")
            total += count
        total = total if self.go.perft else 1
        write(f"Nodes searched: {total}")
        write(f"info string {time.monotonic() - began:.3f} seconds")

    def _leaves(self, game: Game, plies: int) -> int:
        if plies <= PERFT_PLIES_AT_ONCE or self._stopped:
            return 0 if self._stopped else perft(game.fen(), plies, game.chess960)
        total = 0
        for move in game.legal_moves():
            game.push(move)
            total += self._leaves(game, plies - 1)
            game.pop()
        return total
