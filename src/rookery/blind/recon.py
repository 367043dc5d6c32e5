"""Bots of the package reconchess as players of ours.

A bot hears exactly what reconchess's own `play_turn` would tell it, in the same order. Its module
is executed privately for each player and two of its names are replaced, without touching its file:
`random` by a generator seeded from the game's, so that a match can be repeated, and `print` by one
to standard error. `TroutBot` gives Stockfish half a second a move; here it gets fixed nodes, so
that its strength does not depend on the machine, and a new Stockfish where a board that is
impossible in chess has killed the old one (in the package the bot then passes for ever). Engines
that a bot starts before its first turn run under our guard, so that none of them outlives us.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import inspect
import os
import random
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import chess
import chess.engine
from numpy.random import Generator

from rookery._core import BlindKnowledge
from rookery.base.extras import how_to_install
from rookery.engines.chess_engine import GuardedEngine, under_guard
from rookery.engines.find import find_stockfish

try:
    import reconchess
except ImportError as error:
    raise ImportError(
        f"bots of reconchess need that package; install it with: {how_to_install('blind')}"
    ) from error

TROUT_NODES = 20_000
BUILT_IN = {"attacker": "attacker_bot", "trout": "trout_bot", "recon-random": "random_bot"}


def bot_path(name: str) -> Path:
    """Return the file of one of the package's own bots, or the path itself."""
    if name not in BUILT_IN:
        return Path(name)
    return Path(reconchess.__file__).parent / "bots" / f"{BUILT_IN[name]}.py"


def load_bot_module(path: Path) -> ModuleType:
    """Execute a bot's file as a module of its own."""
    if not path.is_file():
        raise ValueError(f"there is no bot file {path}; give the path of a Python file")
    spec = importlib.util.spec_from_file_location(f"blind_bot_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        with _search_first(path.parent):
            spec.loader.exec_module(module)
    except Exception as error:  # a bot's file may do anything
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(f"the bot file {path} cannot be loaded: {reason}") from error
    return module


@contextlib.contextmanager
def _search_first(folder: Path) -> Any:
    """Let a bot import its neighbours, as reconchess does."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def bot_class(module: ModuleType, path: Path) -> type[Any]:
    """Return the module's bot by reconchess's rule: its only one, or that of `get_player()`."""
    found = [
        value
        for value in vars(module).values()
        if inspect.isclass(value)
        and issubclass(value, reconchess.Player)
        and value is not reconchess.Player
    ]
    if hasattr(module, "get_player"):
        chosen: type[Any] = module.get_player()
        return chosen
    if len(found) != 1:
        raise ValueError(
            f"{path} has {len(found)} classes of reconchess players; it needs one, or a function "
            "get_player() that returns one"
        )
    return found[0]


class FixedNodes:
    """A Stockfish that searches fixed nodes whatever limit it is given, and can be restarted."""

    def __init__(self, engine: chess.engine.SimpleEngine, program: str, nodes: int) -> None:
        """Take over a running engine."""
        self._engine, self._program = engine, program
        self._limit = chess.engine.Limit(nodes=nodes)
        self._configure()
        self.restarts = 0

    def _configure(self) -> None:
        self._engine.configure({"Threads": 1, "Hash": 16})

    def play(self, board: chess.Board, limit: chess.engine.Limit) -> chess.engine.PlayResult:
        """Search; an engine that dies is replaced for the next call and the error is passed on."""
        try:
            result = self._engine.play(board, self._limit)
            self._check_interrupt()  # an engine that is being ended may still answer
            return result
        except chess.engine.EngineTerminatedError:
            self._check_interrupt()
            self.restarts += 1
            self._engine.close()
            with under_guard():
                self._engine = chess.engine.SimpleEngine.popen_uci(self._program)
            self._configure()
            raise

    def _check_interrupt(self) -> None:
        """Raise what no bot catches if the match was interrupted."""
        if isinstance(self._engine, GuardedEngine) and self._engine.interrupted:
            raise RuntimeError("the match was interrupted") from None

    def quit(self) -> None:
        """Ask the process to end."""
        self._engine.quit()

    def close(self) -> None:
        """End the process."""
        self._engine.close()


def _require_stockfish() -> None:
    program = find_stockfish()
    if program is None or shutil.which(program) is None:
        missing = f": {program} is not a program" if program else ""
        raise ValueError(
            f"trout needs Stockfish{missing}; install it, or set ROOKERY_STOCKFISH to its path"
        )


class ReconPlayer:
    """A bot of reconchess; a new one is made for every game."""

    def __init__(self, name: str, nodes: int = TROUT_NODES) -> None:
        """Take the name of one of the package's bots, or the path of a bot's file."""
        self.name = name
        self._nodes = nodes
        self._path = bot_path(name)
        self._bot: Any = None
        if name == "trout":
            _require_stockfish()
        bot_class(load_bot_module(self._path), self._path)  # refuse a bad file before any game

    def new_game(self, knowledge: BlindKnowledge, rng: Generator) -> None:
        """Make a bot and tell it its colour and the start position."""
        self.close()
        stockfish = find_stockfish()
        if stockfish is not None:
            os.environ.setdefault("STOCKFISH_EXECUTABLE", stockfish)
        module = load_bot_module(self._path)
        if getattr(module, "random", None) is random:
            vars(module)["random"] = random.Random(int(rng.integers(1 << 62)))
        vars(module)["print"] = functools.partial(print, file=sys.stderr)
        board = chess.Board(knowledge.start_fen)
        with under_guard():
            self._bot = bot_class(module, self._path)()
            if self.name == "trout":
                program = os.environ["STOCKFISH_EXECUTABLE"]
                self._bot.engine = FixedNodes(self._bot.engine, program, self._nodes)
            self._bot.handle_game_start(knowledge.white, board, "opponent")

    def choose_sense(self, knowledge: BlindKnowledge, rng: Generator, seconds: float) -> int | None:
        """Report the turn before and the opponent's move, then ask."""
        number = knowledge.turn_count - 1
        if number > 0:
            self._report_move(knowledge.turn(number - 1))
        capture = knowledge.turn(number)["opponent_capture"]
        self._bot.handle_opponent_move_result(capture is not None, capture)
        moves = [chess.Move.from_uci(uci) for uci in knowledge.requests()]
        square = self._bot.choose_sense(list(chess.SQUARES), moves, seconds)
        return None if square is None else int(square)

    def choose_move(self, knowledge: BlindKnowledge, rng: Generator, seconds: float) -> str | None:
        """Report the sense, then ask."""
        sight = knowledge.turn(knowledge.turn_count - 1)["sight"]
        self._bot.handle_sense_result(
            [(square, letter and chess.Piece.from_symbol(letter)) for square, letter in sight]
        )
        moves = [chess.Move.from_uci(uci) for uci in knowledge.requests()]
        move = self._bot.choose_move(moves, seconds)
        return None if move is None else str(move.uci())

    def game_over(self, knowledge: BlindKnowledge, won: bool | None) -> None:
        """Report the end."""
        if knowledge.turn_count and knowledge.turn(knowledge.turn_count - 1)["moved"]:
            self._report_move(knowledge.turn(knowledge.turn_count - 1))
        winner = None if won is None else won == knowledge.white
        reason = None if won is None else reconchess.WinReason.KING_CAPTURE
        self._bot.handle_game_end(winner, reason, reconchess.GameHistory())

    def close(self) -> None:
        """End the bot's engine, if a game was broken off."""
        engine = getattr(self._bot, "engine", None)
        if engine is not None:
            for end in ("quit", "close"):
                with contextlib.suppress(Exception):  # a bot's engine may be anything, in any state
                    getattr(engine, end)()
        self._bot = None

    def _report_move(self, turn: dict[str, Any]) -> None:
        requested, taken = (
            None if turn[key] is None else chess.Move.from_uci(turn[key])
            for key in ("requested", "taken")
        )
        capture = turn["capture"]
        self._bot.handle_move_result(requested, taken, capture is not None, capture)
