"""Monte Carlo tree search with a network (`runs/az,simulations=200`).

Its options are `rookery.players.options.TREE_SEARCH`. With both `simulations` and `movetime` the
search ends at whichever comes first. A `temperature` above 0 draws moves with probabilities
proportional to visits ^ (1 / temperature). docs/alphazero.md explains the constants of PUCT.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from rookery._core import Game, MctsSearch, MoveError, NativeEvaluator
from rookery.nets.evaluator import Evaluator, load_evaluator
from rookery.nets.model_file import board_of
from rookery.nets.native import CoreEvaluator
from rookery.players.base import Capabilities, Decision, Limits, Player, require_board
from rookery.players.lateness import Clock, Lateness
from rookery.players.options import TREE_SEARCH
from rookery.players.policy import policy_player
from rookery.players.spec import PlayerSpec, SpecError, nearest
from rookery.players.thinking import Line, MoveNote, Setting, Thought

SLICE = 0.05  # seconds between checks of clock and stop
REPORT_SECONDS = 0.5
UNLIMITED = (1 << 31) - 1  # simulations
MOVES_LEFT = 30  # assumed until the end of the game
OVERHEAD = 0.02  # seconds of the clock that are never used


@dataclass(frozen=True)
class MctsSettings:
    """Parameters of the search."""

    simulations: int | None = None  # per move; None without a movetime: DEFAULT_SIMULATIONS
    movetime: float | None = None  # seconds
    temperature: float = 0.0
    c_init: float = 1.745
    c_base: float = 38739.0
    c_factor: float = 3.894
    fpu_reduction: float = 0.33
    policy_temperature: float = 1.0
    gumbel: int = 0
    leaves: int = 0  # evaluated per batch; 0: chosen by the kind of evaluator
    megabytes: int = 256
    stop_early: bool = True  # once no other move can get more visits: the same move, sooner


DEFAULT_SIMULATIONS = 400

_OPTIONS = {option.name: option for option in TREE_SEARCH}


class MctsPlayer:
    """Tree search with an evaluator; a `rookery.players.thinking.Thinker`."""

    def __init__(
        self,
        evaluator: Evaluator,
        settings: MctsSettings | None = None,
        name: str = "",
        native: NativeEvaluator | None = None,
    ) -> None:
        """Search with an evaluator of actions az4672 and values in [-1, 1].

        `native` is the same network evaluated by the core, by default that of a `CoreEvaluator`.
        """
        if evaluator.actions != "az4672":
            raise ValueError(
                f"{evaluator.name} has the actions {evaluator.actions!r}; a tree search needs "
                "'az4672'"
            )
        if not evaluator.bounded:
            raise ValueError(
                f"the values of {evaluator.name} are rewards without bounds; a tree search needs "
                "a network with values in [-1, 1]"
            )
        self.evaluator = evaluator
        self.search_settings = settings or MctsSettings()
        self.name = name or evaluator.name
        if native is None and isinstance(evaluator, CoreEvaluator):
            native = evaluator.native
        self.native = native
        self.search = self._new_search(self.search_settings)
        self._lateness = Lateness()
        self._stop = threading.Event()
        self._hit = threading.Event()
        self.settings = (
            Setting("Hash", "spin", str(self.search_settings.megabytes), 1, 65536),
            Setting("Simulations", "spin", str(self.search_settings.simulations or 0), 0, 10**8),
            Setting("Temperature", "string", f"{self.search_settings.temperature:g}"),
            Setting("CInit", "string", f"{self.search_settings.c_init:g}"),
        )

    @property
    def capabilities(self) -> Capabilities:
        """Timed if it has its own movetime."""
        return Capabilities(
            timed=self.search_settings.movetime is not None, boards=(board_of(self.evaluator),)
        )

    def _new_search(self, s: MctsSettings) -> MctsSearch:
        return MctsSearch(
            self.evaluator.observation,
            c_init=s.c_init,
            c_base=s.c_base,
            c_factor=s.c_factor,
            fpu_reduction=s.fpu_reduction,
            root_fpu_reduction=s.fpu_reduction,
            policy_temperature=s.policy_temperature,
            gumbel_actions=s.gumbel,
            megabytes=s.megabytes,
            cache_megabytes=max(1, min(64, s.megabytes // 4)),
        )

    def configure(self, name: str, value: str) -> None:
        """Change a setting between searches."""
        fields = {
            "hash": "megabytes",
            "simulations": "simulations",
            "temperature": "temperature",
            "cinit": "c_init",
        }
        key = fields.get(name.lower())
        if key is None:
            known = [setting.name for setting in self.settings]
            raise ValueError(f"there is no setting {name!r}; {nearest(name, known)}")
        try:
            parsed = _OPTIONS[key].parse(value)
        except ValueError as error:
            raise ValueError(f"{name} = {value!r}: {error}") from None
        if key == "simulations" and parsed == 0:
            parsed = None
        chosen = replace(self.search_settings, **{key: parsed})
        self.search = self._new_search(chosen)  # without memory for it, the old search stays
        self.search_settings = chosen

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        """Search, then take the best move or draw one with the temperature."""
        decision = self.think(game, limits or Limits())
        temperature = self.search_settings.temperature
        if temperature == 0 or decision.details.get("proven"):
            return decision
        edges = self.search.root_edges()
        visits = np.array([edge["visits"] for edge in edges], np.float64)
        if not visits.any():
            visits = np.array([edge["prior"] for edge in edges], np.float64)
        weights = (visits / visits.max()) ** (1.0 / temperature)
        place = int(rng.choice(len(edges), p=weights / weights.sum()))
        edge, line = edges[place], tuple(self.search.line(place))
        value = decision.value if edge["value"] is None else edge["value"]
        return Decision(edge["move"], value, line, details=decision.details)

    def think(
        self,
        game: Game,
        limits: Limits,
        report: Callable[[Thought], None] | None = None,
        *,
        lines: int = 1,
        search_moves: Sequence[str] | None = None,
        pondering: bool = False,
    ) -> Decision:
        """Search until the limits are met or `stop` is called."""
        self._stop.clear()
        self._hit.clear()
        require_board(self.name, (board_of(self.evaluator),), game.board)
        if not game.legal_count():
            raise MoveError(f"there is no legal move to choose in {game.fen()!r}")
        planned = self._lateness.begin(game, limits)
        simulations, seconds = self._budget(planned, limits, pondering)
        self.search.set_game(game)
        # Unlimited if time is the limit, and until ponderhit.
        bound = UNLIMITED if simulations is None or pondering else simulations
        # Stopping early would change the visits that a temperature draws from.
        stop_early = (
            self.search_settings.stop_early
            and bound < UNLIMITED
            and lines == 1
            and not self.search_settings.temperature
        )
        self.search.begin(bound, stop_early=stop_early, only=list(search_moves or []))
        began = clock = time.perf_counter()
        reported = began
        waiting = pondering
        while not self.search.done and not self._stop.is_set():
            now = time.perf_counter()
            if waiting and self._hit.is_set():
                waiting, clock = False, now
            if not waiting:
                if seconds is not None and now - clock >= seconds:
                    break
                if simulations is not None and self.search.simulations >= simulations:
                    break
            left = SLICE
            if seconds is not None and not waiting:
                left = min(left, max(0.001, seconds - (now - clock)))
            self._advance(left)
            if report is not None and time.perf_counter() - reported >= REPORT_SECONDS:
                reported = time.perf_counter()
                report(self.thought(lines, reported - began))
        self._require_root()
        if not pondering:
            spent = time.perf_counter() - began
            self._lateness.end(game, limits, spent if seconds is None else min(spent, seconds))
        if report is not None:
            report(self.thought(lines, time.perf_counter() - began))
        return self._decision(bound)

    def _budget(
        self, clock: Clock | None, limits: Limits, pondering: bool
    ) -> tuple[int | None, float | None]:
        """The smaller of the player's and the match's limits: simulations, seconds (None: none)."""
        own = self.search_settings
        asked = limits.simulations if limits.simulations is not None else limits.nodes
        simulations = min(
            (each for each in (own.simulations, asked) if each is not None), default=None
        )
        times = [each for each in (own.movetime, limits.movetime) if each is not None]
        if clock is not None:
            moves = min(MOVES_LEFT, limits.moves_to_go or MOVES_LEFT)
            share = clock.left / moves + 0.8 * clock.increment
            # The last increment is never spent: it pays for the next move's delays.
            kept = OVERHEAD + (0.0 if limits.moves_to_go == 1 else clock.increment)
            times.append(max(0.001, min(share, clock.left - kept)))
        if simulations is None and not times and not pondering:
            simulations = DEFAULT_SIMULATIONS
        seconds = min(times, default=None)
        return simulations, seconds

    def _advance(self, seconds: float) -> None:
        """Search for a moment."""
        leaves = self.search_settings.leaves
        if self.native is not None:
            self.search.run(self.native, leaves or 1, seconds)
            return
        until = time.perf_counter() + seconds
        while not self.search.done and not self._stop.is_set():
            if self.search.gather(leaves or 8):
                search = self.search
                logits, values = self.evaluator.evaluate(
                    search.observations, search.legal_actions, search.legal_offsets
                )
                search.apply(logits, values)
            if time.perf_counter() >= until:
                return

    def _require_root(self) -> None:
        """Evaluate the root if the search had no time to."""
        while True:
            try:
                self.search.best_edge()
                return
            except ValueError:
                self.search.begin(0)
                self._stop.clear()
                self._advance(SLICE)

    def _decision(self, bound: int) -> Decision:
        """The best move; "ended" says why a search made fewer simulations than `bound`."""
        search = self.search
        edges = search.root_edges()
        place = search.best_edge()
        best = edges[place]
        proven = best["status"] in ("won", "lost")
        if search.simulations >= bound:
            ended = "simulations"
        elif not search.done:
            ended = "time"  # or `stop`
        else:
            ended = "proven" if proven else "decided"  # no other move can get more visits
        details = {
            "simulations": search.simulations,
            "ended": ended,
            "nodes": search.nodes,
            "depth": search.max_depth,
            "visits": {edge["move"]: edge["visits"] for edge in edges if edge["visits"]},
            "proven": proven,
        }
        value = float(np.clip(search.root_value, -1, 1))
        return Decision(best["move"], value, tuple(search.line(place)), details=details)

    def thought(self, lines: int, seconds: float) -> Thought:
        """The current state of the search."""
        search = self.search
        try:
            edges = search.root_edges()
        except ValueError:  # the root has not been evaluated yet
            return Thought((), seconds=seconds)
        best = search.best_edge()
        # A move that was never visited has no score, and so no line.
        seen = [i for i in range(len(edges)) if i == best or edges[i]["visits"]]
        order = sorted(seen, key=lambda i: (i != best, -edges[i]["visits"]))
        found = []
        for place in order[: max(1, lines)]:
            edge = edges[place]
            value = edge["value"] if edge["value"] is not None else search.root_value
            value = {"won": 1.0, "lost": -1.0}.get(edge["status"], value)
            mate = None
            if edge["mate_plies"] is not None:
                mate = (edge["mate_plies"] + 1) // 2 * (1 if edge["status"] == "won" else -1)
            centipawns = None if mate is not None else centipawns_of(value)
            found.append(Line(tuple(search.line(place)), value, centipawns, mate))
        notes = tuple(
            MoveNote(e["move"], e["prior"], e["visits"], e["value"])
            for e in sorted(edges, key=lambda e: (-e["visits"], -e["prior"]))
        )
        return Thought(
            tuple(found),
            depth=max((len(line.moves) for line in found), default=0),
            selective_depth=search.max_depth,
            nodes=search.simulations,
            seconds=seconds,
            notes=notes,
        )

    def stop(self) -> None:
        """Make a running `think` return soon."""
        self._stop.set()
        self.search.stop()

    def ponderhit(self) -> None:
        """Apply the limits from now on."""
        self._hit.set()

    def new_game(self) -> None:
        """Clear the tree."""
        self.search.forget()

    def close(self) -> None:
        """Do nothing."""


def centipawns_of(value: float) -> int:
    """Centipawns of a value in [-1, 1], on lc0's scale."""
    bounded = float(np.clip(value, -0.999, 0.999))
    return round(90.0 * float(np.tan(1.5637541897 * bounded)))


def mcts_player(spec: PlayerSpec, options: dict[str, Any]) -> Player:
    """The player of a network with the options TREE_SEARCH; `simulations=0` plays the policy."""
    if options.get("simulations") == 0:
        return policy_player(spec, options)
    return search_player(spec, options)


def search_player(spec: PlayerSpec, options: dict[str, Any]) -> MctsPlayer:
    """The tree-search player of a network, evaluated natively if possible."""
    source = spec.name
    try:
        return MctsPlayer(load_evaluator(source), MctsSettings(**options), str(spec))
    except (ValueError, MemoryError) as error:
        raise SpecError(f"player {source!r}: {error}") from error
