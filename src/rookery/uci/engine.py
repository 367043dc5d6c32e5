"""What each UCI command does; the package docstring defines the order.

The reader thread calls `receive` with each line and never waits for a search. Everything that
involves the player (loading, options, searches) runs in order on one worker thread.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from rookery import __version__
from rookery._core import STANDARD_BOARD, Game
from rookery.players.base import Player, capabilities_of, require_board
from rookery.players.thinking import Setting, Thinker
from rookery.uci import options as settings
from rookery.uci.commands import one_line, read_go, read_position, read_setoption, shown
from rookery.uci.info import drawing
from rookery.uci.knowledge import Knowledge
from rookery.uci.options import Options
from rookery.uci.search import Search, Setup

MOST_WAITING = 64  # pending searches
ABOUT = f"Rookery {__version__}, chess engines trained by reinforcement learning; GPL-3.0-or-later"


class Engine:
    """A player under UCI, independent of the streams."""

    def __init__(
        self,
        make_player: Callable[[], Player],
        write: Callable[[str], None],
        *,
        name: str = "",
        seed: int | None = None,
        board: str | None = None,
        on_failure: Callable[[str], None] | None = None,
    ) -> None:
        """Start loading the player.

        `write` writes one line and is called from several threads. `name` is appended to `id name`.
        `board` is the only one offered; None: all that the player plays on.
        `on_failure` is called with the reason if the player cannot be made.
        """
        self._write = write
        self._title = f"Rookery {__version__}" + (f" {name}" if name else "")
        self._rng = np.random.default_rng(seed)
        self._on_failure = on_failure
        self._make_player = make_player
        self._board = board
        self._game = Game(board=board or STANDARD_BOARD)
        self._options = Options()
        self._player: Player | None = None
        self._thinker: Thinker | None = None  # the player, if it is a `Thinker`
        self._loaded = threading.Event()
        self._uci_waits = False  # for the player, whose options belong to the answer
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._undone = 0  # unfinished tasks
        self._waiting: list[Search] = []  # unanswered searches, oldest first
        self._lock = threading.Lock()  # for the two above
        self._knowledge = Knowledge(self._say)
        self._worker = threading.Thread(target=self._work, daemon=True, name="uci worker")
        self._worker.start()

    # Reader thread

    def receive(self, line: str) -> bool:
        """Execute or queue one command; returns False for `quit`."""
        words = line.split()
        if not words:
            return True
        if words[0] == "quit":
            return False
        command = self._commands.get(words[0])
        try:
            if command is None:
                self._say(f"unknown command {shown(line.strip())} ignored")
            else:
                command(self, words[1:])
        except (ValueError, IndexError) as error:
            self._say(f"error: {one_line(error)}")
        except Exception as error:  # no input may crash the engine
            self._say(f"error: {shown(words[0])} failed: {type(error).__name__} {one_line(error)}")
        return True

    def close(self, seconds: float) -> bool:
        """Stop and answer all searches and close the player; returns whether that was in time."""
        self._stop([])
        self._tasks.put(None)
        self._worker.join(seconds)
        for search in self._unanswered():
            search.give_up(self._write)
        return not self._worker.is_alive()

    def wait_loaded(self, seconds: float) -> None:
        """Wait until the player is loaded if `uci` or a `go` is unanswered."""
        if self._uci_waits or self._unanswered():
            self._loaded.wait(seconds)

    def wait_idle(self, seconds: float) -> bool:
        """Wait until everything sent so far is done; returns whether that was in time."""
        done = threading.Event()
        self._give(done.set)
        return done.wait(seconds)

    def _uci(self, words: Sequence[str]) -> None:
        if self._loaded.is_set():
            self._introduce()
        else:
            self._uci_waits = True
            self._give(self._introduce)

    def _introduce(self) -> None:
        """Answer `uci`, on either thread."""
        self._write(f"id name {self._title}")
        self._write("id author the Rookery developers")
        for line in settings.offer_lines((*self._settings(), *self._general())):
            self._write(line)
        self._write("uciok")
        self._uci_waits = False

    def _isready(self, words: Sequence[str]) -> None:
        loading = not self._loaded.is_set() and not self._uci_waits
        if self._unanswered() or loading or not self._undone:
            self._write("readyok")
        else:
            self._give(lambda: self._write("readyok"))

    def _position(self, words: Sequence[str]) -> None:
        options = self._options
        self._game = read_position(words, options.chess960, options.variant)

    def _go(self, words: Sequence[str]) -> None:
        go, complaints = read_go(words)
        for complaint in complaints:
            self._say(complaint)
        waiting = self._unanswered()
        for search in waiting:
            if search.endless or len(waiting) >= MOST_WAITING:
                search.stop()
        while len(self._unanswered()) > MOST_WAITING:
            time.sleep(0.001)  # all of them are stopped, so this is short
        search = Search(go, self._game.copy(), self._options)
        with self._lock:
            self._waiting.append(search)
        self._give(lambda: self._run(search))

    def _stop(self, words: Sequence[str]) -> None:
        for search in self._unanswered():
            search.stop()

    def _ponderhit(self, words: Sequence[str]) -> None:
        if not any(search.ponderhit() for search in self._unanswered()):
            self._say("ponderhit ignored: not pondering")

    def _ucinewgame(self, words: Sequence[str]) -> None:
        self._give(self._new_game)

    def _setoption(self, words: Sequence[str]) -> None:
        name, value = read_setoption(words)
        general = settings.find(self._general(), name)
        if general is not None:
            value, remark = settings.checked_value(general, value)
            if remark:
                self._say(remark)
            chosen = self._options.with_value(settings.key(name), value)
            self._options = chosen
            self._give(lambda: self._knowledge.prepare(chosen))
        elif self._loaded.is_set() and self._own(name) is None:
            raise ValueError(f"there is no option {shown(name)}")
        if general is None or not self._loaded.is_set():
            optional = general is not None  # the player may have one of the same name
            self._give(lambda: self._configure(name, value, optional))

    def _draw(self, words: Sequence[str]) -> None:
        for line in drawing(self._game):
            self._write(line)

    def _accept(self, words: Sequence[str]) -> None:
        """Accept `debug` and `register`, which need no action."""

    _commands: ClassVar[dict[str, Callable[[Engine, Sequence[str]], None]]] = {
        "uci": _uci,
        "isready": _isready,
        "position": _position,
        "go": _go,
        "stop": _stop,
        "ponderhit": _ponderhit,
        "ucinewgame": _ucinewgame,
        "setoption": _setoption,
        "d": _draw,
        "debug": _accept,
        "register": _accept,
    }

    # Worker thread

    def _work(self) -> None:
        try:
            player = self._make_player()
            if self._board is not None:
                require_board(player.name, capabilities_of(player).boards, self._board)
            self._player = player
            self._thinker = self._player if isinstance(self._player, Thinker) else None
            boards = self._boards()
            if boards and STANDARD_BOARD not in boards:  # what it plays without a UCI_Variant
                self._options = replace(self._options, variant=boards[0])
        except Exception as error:  # reported; ends the process
            self._say(f"error: {one_line(error)}")
            if self._on_failure is not None:
                self._on_failure(one_line(error))
        self._loaded.set()
        while (task := self._tasks.get()) is not None:
            try:
                task()
            except Exception as error:  # no command may end this thread
                self._say(f"error: {type(error).__name__} {one_line(error)}")
            with self._lock:
                self._undone -= 1
        self._knowledge.close()
        if self._player is not None:
            self._player.close()

    def _run(self, search: Search) -> None:
        try:
            if self._player is None:
                search.give_up(self._write)
                return
            known = None
            options = search.options
            if not search.go.is_analysis and options.lines == 1 and search.game.outcome() is None:
                known = self._knowledge.choose(search.game, options, self._rng)
            search.run(
                Setup(
                    self._player,
                    self._thinker,
                    self._rng,
                    self._write,
                    own_overhead=self._own("Move Overhead") is not None,
                    known=known,
                )
            )
        finally:
            search.give_up(self._write)  # no effect if it has answered
            with self._lock:
                self._waiting.remove(search)

    def _new_game(self) -> None:
        if self._player is not None:
            self._player.new_game()

    def _configure(self, name: str, value: str, optional: bool) -> None:
        """Change one of the player's own options."""
        setting = self._own(name)
        if setting is None:
            if not optional:
                self._say(f"error: there is no option {shown(name)}")
            return
        try:
            value, remark = settings.checked_value(setting, value)
            if remark:
                self._say(remark)
            assert self._thinker is not None  # only a `Thinker` has settings
            self._thinker.configure(setting.name, value)
            for remark in settings.advice(setting, value):
                self._say(remark)
        except (ValueError, MemoryError) as error:
            self._say(f"error: {one_line(error)}")

    # Both threads

    def _give(self, task: Callable[[], None]) -> None:
        with self._lock:
            self._undone += 1
        self._tasks.put(task)

    def _settings(self) -> Sequence[Setting]:
        """Return the player's own settings."""
        return () if self._thinker is None else self._thinker.settings

    def _general(self) -> Sequence[Setting]:
        """Return the general settings that apply; all of them until the player is loaded."""
        thinks = self._thinker is not None or not self._loaded.is_set()
        return settings.general_settings(self._settings(), thinks, ABOUT, self._boards())

    def _boards(self) -> tuple[str, ...] | None:
        """Return the boards on offer; None: any."""
        if self._board is not None:
            return (self._board,)
        return None if self._player is None else capabilities_of(self._player).boards

    def _own(self, name: str) -> Setting | None:
        return settings.find(self._settings(), name)

    def _unanswered(self) -> list[Search]:
        with self._lock:
            return list(self._waiting)

    def _say(self, text: str) -> None:
        self._write(f"info string {text}")
