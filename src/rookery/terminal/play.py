"""A game against any player in the terminal: `rookery play --terminal`.

Moves are typed in SAN or UCI; `help` lists the commands. Input may come from a pipe. The game is
appended to a PGN file when it ends or is abandoned.
"""

from __future__ import annotations

import contextlib
import datetime
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import ClassVar, TextIO

import chess.pgn
import numpy as np
from rich.console import Console

from rookery._core import STANDARD_BOARD, Game
from rookery.base.user_folders import games_folder, make_private
from rookery.data.notation import read_move, sans_of
from rookery.data.pgn import pgn_game
from rookery.data.small_board import chess_board
from rookery.engines.faults import EngineFault
from rookery.players.base import Decision, Player, capabilities_of, require_board
from rookery.players.thinking import Setting, Thinker
from rookery.terminal.board import draw_board
from rookery.terminal.interruptible import choose_interruptibly

PGN_FILE = "terminal.pgn"  # in the folder of the person's games
LEVEL_NAMES = ("Level", "Skill Level")  # settings that are levels
ENDINGS = {
    "checkmate": "checkmate",
    "stalemate": "stalemate",
    "insufficient_material": "neither side can mate",
    "seventyfive_moves": "75 moves without capture or pawn move",
    "fivefold_repetition": "the same position for the fifth time",
    "fifty_moves": "50 moves without capture or pawn move",
    "threefold_repetition": "the same position for the third time",
}
HELP = """\
Type a move: e2e4, Nf3, exd5, O-O, e8=Q. Other commands:
  moves      list the legal moves       hint       show what your opponent would play
  undo       take back your last move   why        show what it expected at its last move
  draw       claim a draw               resign     resign the game
  flip       flip the board             board      show the board again
  fen, pgn   print position or game     level N    set its level (or elo N)
  help       this list                  quit       leave; the game is saved"""


class Over(Exception):
    """The game ends by resignation, a draw claim, a fault or because the person leaves."""

    def __init__(self, result: str, reason: str) -> None:
        """Keep the result as in PGN ("*": unfinished) and the reason."""
        super().__init__(reason)
        self.result = result
        self.reason = reason


def run(
    player: str | Player,
    color: str = "white",
    *,
    fen: str | None = None,
    board: str = STANDARD_BOARD,
    seed: int | None = None,
    pgn: str | Path | None = None,
    ask: Callable[[str], str] | None = None,
    output: TextIO | None = None,
) -> int:
    """Play games until the person stops; returns the exit status.

    `color` is the person's: "white", "black" or "random". Without a FEN games begin with the start
    position of the board. Games are appended to the file `pgn`,
    by default in the folder of the person's games.
    `ask` prompts for a line and raises EOFError at the end of input.
    """
    if color not in ("white", "black", "random"):
        raise ValueError(f"color is {color!r}; it must be white, black or random")
    console = Console(file=output, highlight=False, soft_wrap=True)
    rng = np.random.default_rng(seed)
    opponent = _made(player)
    try:
        require_board(opponent.name, capabilities_of(opponent).boards, board)
        while True:
            white = bool(rng.integers(2)) if color == "random" else color == "white"
            table = Table(opponent, white, Game(fen, board=board), rng, console, ask or _input())
            if not table.play(Path(pgn) if pgn is not None else games_folder() / PGN_FILE):
                return 0
    finally:
        opponent.close()


def _made(player: str | Player) -> Player:
    if not isinstance(player, str):
        return player
    from rookery.players.registry import make_player

    if player.split(",")[0] == "human":
        raise ValueError("player 'human' is yourself; choose another from 'rookery players'")
    return make_player(player)


def _input() -> Callable[[str], str]:
    """Return `input`, with line editing and history on a terminal."""
    if sys.stdin is not None and sys.stdin.isatty():
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 (importing it is enough)
    return input


class Table:
    """One game between a person and a player."""

    def __init__(
        self,
        opponent: Player,
        white: bool,
        game: Game,
        rng: np.random.Generator,
        console: Console,
        ask: Callable[[str], str],
    ) -> None:
        """Set up the board; `white`: the person has White."""
        self.opponent = opponent
        self.white = white
        self.white_below = white
        self.game = game
        self.last: tuple[str, Decision] | None = (
            None  # the opponent's last move: FEN before it, decision
        )
        self._rng = rng
        self._console = console
        self._ask = ask

    def play(self, pgn: Path) -> bool:
        """Play to the end, save, and ask whether to play again."""
        side = "White" if self.white else "Black"
        self._say(
            f"You have {side} against [bold]{_plain(self.opponent.name)}[/]. Type 'help' for help."
        )
        self.opponent.new_game()
        left = False
        try:
            result, reason = self._play()
        except Over as over:
            result, reason, left = over.result, over.reason, over.result == "*"
        except KeyboardInterrupt:
            result, reason, left = "*", "interrupted", True
        self._finish(result, reason, pgn)
        return not left and self._again()

    def _play(self) -> tuple[str, str]:
        while (outcome := self.game.outcome()) is None:
            if self.game.turn == self.white:
                self._persons_move()
            else:
                self._opponents_move()
        draw_board(self._console, self.game, self.white_below)
        kind, winner = outcome
        return {None: "1/2-1/2", True: "1-0", False: "0-1"}[winner], ENDINGS.get(kind, kind)

    def _persons_move(self) -> None:
        draw_board(self._console, self.game, self.white_below)
        if self.game.can_claim_draw():
            self._say("You may claim a draw: type 'draw'.")
        while self.game.turn == self.white:
            try:
                typed = self._ask("Your move: ").strip()
            except EOFError:
                raise Over("*", "no more input") from None
            word, _, rest = typed.partition(" ")
            command = self._commands.get(word.lower())
            if command is not None:
                command(self, rest.strip())
                continue
            try:
                self.game.push(read_move(self._position(), typed))
            except ValueError as error:
                self._say(f"{_plain(str(error))}. Type 'moves' for the legal moves or 'help'.")

    def _opponents_move(self) -> None:
        decision = self._decision()
        if decision.claims_draw and self.game.can_claim_draw():
            raise Over("1/2-1/2", f"{self.opponent.name} claims a draw")
        self.last = (self.game.fen(), decision)
        opinion = ""
        if decision.value is not None:
            opinion = f" (it expects {50 + 50 * decision.value:.0f} %)"
        name, move = _plain(self.opponent.name), self._san(decision.move)
        self.game.push(decision.move)
        self._say(f"{name} plays [bold]{move}[/]{opinion}")

    def _decision(self) -> Decision:
        """Ask the opponent for a move in the current position."""
        waiting = self._console.status("thinking") if self._console.is_terminal else nullcontext()
        try:
            with waiting:
                return choose_interruptibly(self.opponent, self.game, self._rng)
        except EngineFault as fault:
            raise Over("*", f"{self.opponent.name} failed: {fault}") from fault

    # Commands

    def _help(self, rest: str) -> None:
        self._say(HELP)

    def _moves(self, rest: str) -> None:
        self._say(" ".join(self._san(move) for move in self.game.legal_moves()))

    def _board(self, rest: str) -> None:
        draw_board(self._console, self.game, self.white_below)

    def _flip(self, rest: str) -> None:
        self.white_below = not self.white_below
        self._board(rest)

    def _hint(self, rest: str) -> None:
        decision = self._decision()
        line = " ".join(sans_of(self._position(), _line(decision)))
        self._say(f"{_plain(self.opponent.name)} would play [bold]{line}[/]")

    def _why(self, rest: str) -> None:
        if self.last is None:
            self._say("It has not moved yet.")
            return
        fen, decision = self.last
        board = chess_board(self.game, fen)
        words = [f"It expected {' '.join(sans_of(board, _line(decision)))}"]
        if decision.value is not None:
            words.append(f"and {50 + 50 * decision.value:.0f} % of the point for itself")
        known = [
            _fact(key, value)
            for key, value in decision.details.items()
            if isinstance(value, int | float | str)
        ]
        if known:
            words.append(f"({_plain(', '.join(known))})")
        self._say(" ".join(words) + ".")

    def _undo(self, rest: str) -> None:
        if self.game.ply < 2:
            self._say("There is no move of yours to take back.")
            return
        taken = [self.game.pop(), self.game.pop()][::-1]
        self.last = None
        self._board(rest)
        self._say(f"Taken back: {' '.join(taken)}")

    def _draw(self, rest: str) -> None:
        if not self.game.can_claim_draw():
            self._say("There is no draw to claim: neither 50 moves nor a third repetition.")
            return
        raise Over("1/2-1/2", "draw claimed")

    def _resign(self, rest: str) -> None:
        raise Over("0-1" if self.white else "1-0", "you resigned")

    def _quit(self, rest: str) -> None:
        raise Over("*", "you left")

    def _fen(self, rest: str) -> None:
        self._say(self.game.fen())

    def _pgn(self, rest: str) -> None:
        self._say(_plain(str(self.as_pgn("*", ""))))

    def _level(self, rest: str) -> None:
        found = self._configure(LEVEL_NAMES, rest, "level ('elo N' may work)")
        if found and "UCI_LimitStrength" in self._settings():
            self._configure(["UCI_LimitStrength"], "false", "Elo")  # would override the level

    def _elo(self, rest: str) -> None:
        if self._configure(["UCI_Elo"], rest, "Elo"):
            self._configure(["UCI_LimitStrength"], "true", "Elo")

    def _settings(self) -> dict[str, Setting]:
        """Return the opponent's settings by name."""
        if not isinstance(self.opponent, Thinker):
            return {}
        return {setting.name: setting for setting in self.opponent.settings}

    def _configure(self, names: Sequence[str], value: str, what: str) -> bool:
        """Change the first of these settings that the opponent has."""
        settings = self._settings()
        for name in names:
            if name in settings:
                return self._set(settings[name], value)
        self._say(f"{_plain(self.opponent.name)} has no {what}.")
        return False

    def _set(self, setting: Setting, value: str) -> bool:
        assert isinstance(self.opponent, Thinker)  # it has settings
        numbers = setting.kind == "spin"
        low, high = setting.low or 0, setting.high or 0
        if numbers and not (value.isdecimal() and low <= int(value) <= high):
            self._say(f"{setting.name} must be from {low} to {high}.")
            return False
        try:
            self.opponent.configure(setting.name, value)
        except ValueError as error:
            self._say(_plain(str(error)))
            return False
        if numbers:
            self._say(f"{setting.name} is now {value}.")
        return True

    _commands: ClassVar[dict[str, Callable[[Table, str], None]]] = {
        "help": _help,
        "?": _help,
        "": _help,
        "moves": _moves,
        "board": _board,
        "flip": _flip,
        "hint": _hint,
        "why": _why,
        "undo": _undo,
        "draw": _draw,
        "resign": _resign,
        "quit": _quit,
        "exit": _quit,
        "fen": _fen,
        "pgn": _pgn,
        "level": _level,
        "elo": _elo,
    }

    # End of the game

    def _finish(self, result: str, reason: str, pgn: Path) -> None:
        mine, theirs = ("1-0", "0-1") if self.white else ("0-1", "1-0")
        verdicts = {mine: "You win", theirs: "You lose", "1/2-1/2": "A draw", "*": "Not finished"}
        self._say(f"[bold]{verdicts[result]}[/]: {_plain(reason)}. {result}")
        if not self.game.ply:
            return
        text = f"{self.as_pgn(result, reason)}\n\n"
        try:
            make_private(pgn.parent)
            with pgn.open("a", encoding="utf-8") as file:
                file.write(text)
            self._say(f"The game was added to {_plain(str(pgn))}.")
        except OSError as error:
            self._say(f"The game could not be saved ({_plain(str(error))}); here it is:")
            self._say(_plain(text))

    def _again(self) -> bool:
        try:
            return self._ask("Another game? [y/N] ").strip().lower() in ("y", "yes")
        except (EOFError, KeyboardInterrupt):
            return False

    def as_pgn(self, result: str, reason: str) -> chess.pgn.Game:
        """Return the game so far as PGN."""
        names = ["human", self.opponent.name]
        white, black = names if self.white else names[::-1]
        return pgn_game(
            self.game.moves(),
            white,
            black,
            result,
            start=self.game.start_fen,
            chess960=self.game.chess960,
            headers={
                "Event": "Rookery, terminal game",
                "Date": datetime.date.today().strftime("%Y.%m.%d"),
                "Termination": reason,
            },
        )

    def _san(self, move: str) -> str:
        return " ".join(sans_of(self._position(), [move]))

    def _position(self) -> chess.Board:
        return chess_board(self.game)

    def _say(self, text: str) -> None:
        self._console.print(text)


def _fact(name: str, value: float | str) -> str:
    """A detail of a decision in words; scores are the opponent's."""
    match name, value:
        case "centipawns", int() | float():
            return f"{value / 100:+.2f} pawns for itself"
        case "nodes", int():
            return f"{value:,} nodes"
        case "seconds", float():
            return f"{value:.2f} s"
    return f"{name} {value}"


def _line(decision: Decision) -> tuple[str, ...]:
    """Return the first moves of the principal variation."""
    return (decision.line or (decision.move,))[:8]


def _plain(text: str) -> str:
    """Escape the markup of rich."""
    return text.replace("[", r"\[")
