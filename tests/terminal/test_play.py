"""Games in the terminal, typed through a pipe."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from pathlib import Path

import chess
import chess.pgn
import numpy as np
import pytest
from rich.console import Console

from rookery._core import Game
from rookery.commands.play import usual_level
from rookery.data.notation import read_move
from rookery.engines.faults import EngineFault
from rookery.players.base import Decision, Limits
from rookery.players.thinking import Setting
from rookery.terminal import play as terminal_play
from rookery.terminal.board import draw_board
from rookery.web.choices import Choices
from support.paths import TESTS
from support.thinkers import SlowThinker


def play(player, typed: str, tmp_path: Path, **options) -> tuple[str, list[chess.pgn.Game]]:
    """Play what is typed; returns what was written, and the games in the file."""
    lines = iter(typed.splitlines())

    def ask(prompt: str) -> str:
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    output = io.StringIO()
    file = tmp_path / "games.pgn"
    status = terminal_play.run(player, pgn=file, ask=ask, output=output, seed=1, **options)
    assert status == 0
    games = []
    if file.exists():
        with file.open() as text:
            while (game := chess.pgn.read_game(text)) is not None:
                games.append(game)
    return output.getvalue(), games


class Replies(SlowThinker):
    """Plays the moves that it is given."""

    name = "replies [1]"

    def __init__(self, *moves: str) -> None:
        super().__init__()
        self.moves = list(moves)
        self.settings = (Setting("UCI_Elo", "spin", "1500", 1000, 2000),)
        self.settings += (Setting("UCI_LimitStrength", "check", "false"),)

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        move = self.moves.pop(0)
        return Decision(move, 0.5, (move, "a2a3", "zzzz"), details={"nodes": 7})


def uci_moves(game: chess.pgn.Game) -> list[str]:
    return [move.uci() for move in game.mainline_moves()]


def test_a_whole_game(tmp_path: Path) -> None:
    text, games = play(Replies("e7e5", "b8c6", "g8f6"), "e4\nBc4\nqh5\nQxf7#\n", tmp_path)
    assert "You win: checkmate. 1-0" in text
    assert "replies [1] plays e5 (it expects 75 %)" in text
    assert uci_moves(games[0]) == ["e2e4", "e7e5", "f1c4", "b8c6", "d1h5", "g8f6", "h5f7"]
    headers = games[0].headers
    assert (headers["White"], headers["Black"], headers["Result"]) == (
        "human",
        "replies [1]",
        "1-0",
    )
    assert headers["Termination"] == "checkmate"


def test_playing_black(tmp_path: Path) -> None:
    text, games = play(Replies("f2f3", "g2g4"), "e5\nd8h4\n", tmp_path, color="black")
    assert "You have Black" in text and "You win: checkmate. 0-1" in text
    assert games[0].headers["Black"] == "human"
    assert " 1  R  N  B  K  Q  B  N  R" in text  # the board as Black sees it
    assert " 8  r  n  b  q  k  b  n  r" not in text


def test_commands(tmp_path: Path) -> None:
    typed = "help\n\nmoves\nwhy\nundo\ne4\nwhy\nfen\npgn\nflip\nboard\nhint\ndraw\nlevel 3\nelo 9\n"
    typed += "elo 1200\nundo\nd4\nresign\nn\n"
    player = Replies("e7e5", "g1f3", "d7d5")
    text, games = play(player, typed, tmp_path)
    assert text.count("Type a move:") == 2
    assert "Na3 Nc3 Nf3 Nh3 a3" in text
    assert "It has not moved yet." in text and "no move of yours to take back" in text
    assert "It expected e5 a3 and 75 % of the point for itself (7 nodes)." in text
    assert "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq" in text
    assert "1. e4 e5 *" in text
    assert "replies [1] would play Nf3" in text
    assert "There is no draw to claim" in text
    assert "has no level" in text and "UCI_Elo must be from 1000 to 2000" in text
    assert player.configured == [("UCI_Elo", "1200"), ("UCI_LimitStrength", "true")]
    assert "Taken back: e2e4 e7e5" in text
    assert "You lose: you resigned. 0-1" in text
    assert [uci_moves(game) for game in games] == [["d2d4", "d7d5"]]


def test_a_claimed_draw(tmp_path: Path) -> None:
    typed = "Nf3\nNg1\nNf3\nNg1\ndraw\n"
    text, games = play(Replies("g8f6", "f6g8", "g8f6", "f6g8"), typed, tmp_path)
    assert "You may claim a draw" in text and "A draw: draw claimed. 1/2-1/2" in text
    assert games[0].headers["Result"] == "1/2-1/2"


def test_another_game_and_the_end_of_the_input(tmp_path: Path) -> None:
    typed = "e4\nresign\nyes\nd4\n"
    text, games = play(Replies("e7e5", "d7d5"), typed, tmp_path)
    assert text.count("You have White") == 2 and "Not finished: no more input. *" in text
    assert [game.headers["Result"] for game in games] == ["0-1", "*"]
    assert len(play(Replies(), "", tmp_path)[1]) == 2  # a game without moves is not kept


def test_from_a_position(tmp_path: Path) -> None:
    fen = "4k3/P7/8/8/8/8/8/4K3 w - - 0 1"
    text, games = play(Replies("e8d7"), "a8\na8=N\nquit\n", tmp_path, fen=fen)
    assert "'a8' promotes: say to what, as in a8=Q" in text
    assert games[0].headers["FEN"] == fen and uci_moves(games[0])[0] == "a7a8n"


def test_interruption_keeps_the_game(tmp_path: Path) -> None:
    class Interrupts(Replies):
        def choose(self, *arguments, **named) -> Decision:
            raise KeyboardInterrupt

    text, games = play(Interrupts(), "e4\n", tmp_path)
    assert "Not finished: interrupted" in text and uci_moves(games[0]) == ["e2e4"]


def test_interruption_stops_a_long_search(tmp_path: Path) -> None:
    """Ctrl-C in a process whose opponent would think for an hour."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from support.thinkers import SlowThinker\n"
        "from rookery.terminal import play as terminal_play\n"
        "from rookery.players.base import Limits\n"
        "class Long(SlowThinker):\n"
        "    def choose(self, game, rng, limits=None):\n"
        "        print('searching', flush=True)\n"
        "        return self.think(game, Limits(movetime=3600))\n"
        "sys.exit(terminal_play.run(Long(depth_seconds=0.02)))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(TESTS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert process.stdin and process.stdout
    process.stdin.write("e4\n")
    process.stdin.flush()
    while "searching" not in process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    text, errors = process.communicate(timeout=60)
    assert process.returncode == 0 and errors == ""
    assert "Not finished: interrupted" in text


def test_an_opponent_that_fails(tmp_path: Path) -> None:
    class Fails(Replies):
        def choose(self, *arguments, **named) -> Decision:
            raise EngineFault("crash", "it is gone")

    text, _ = play(Fails(), "e4\n", tmp_path)
    assert "it is gone" in text and "Not finished" in text


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").mkdir()
    output = io.StringIO()
    answers = iter(["e4", "quit"])
    terminal_play.run(
        Replies("e7e5"), pgn=tmp_path / "games.pgn", ask=lambda _: next(answers), output=output
    )
    assert "could not be saved" in output.getvalue() and "1. e4 e5 *" in output.getvalue()


@pytest.mark.parametrize("color", ["red", ""])
def test_wrong_colors(tmp_path: Path, color: str) -> None:
    with pytest.raises(ValueError, match="white, black or random"):
        terminal_play.run("random", color)


def test_a_human_opponent_is_refused() -> None:
    with pytest.raises(ValueError, match="yourself"):
        terminal_play.run("human")


def test_through_a_pipe(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rookery.cli", "play", "greedy", "--terminal", "--games", "mine"],
        input="e4\nmoves\nnonsense\nquit\n",
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0 and done.stderr == ""
    assert "'nonsense' is not a legal move here" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert (tmp_path / "mine" / "terminal.pgn").stat().st_size > 0


def test_games_are_kept_beside_the_others_not_in_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROOKERY_GAMES", str(tmp_path / "mine"))
    lines = iter(["e4", "quit"])
    output = io.StringIO()
    assert terminal_play.run(Replies("e7e5"), ask=lambda prompt: next(lines), output=output) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert str(tmp_path / "mine" / "terminal.pgn") in output.getvalue()


def test_the_board_is_readable_without_colour() -> None:
    """NO_COLOR keeps a terminal's symbols, which differ by colour alone: letters are drawn."""
    game = Game()
    for colors, letters in ((False, False), (True, True)):
        output = io.StringIO()
        console = Console(
            file=output, force_terminal=True, color_system="truecolor", no_color=colors
        )
        draw_board(console, game, True)
        assert ("R  N  B" in output.getvalue()) == letters
        assert ("\u265c" in output.getvalue()) != letters
        assert ("White has capital letters" in output.getvalue()) == letters
    game.push("e2e4")
    output = io.StringIO()
    draw_board(Console(file=output, no_color=True), game, True)
    assert "(P)" in output.getvalue() and "(.)" in output.getvalue()


def test_the_default_level_is_that_of_the_page() -> None:
    assert usual_level("rookery") == "rookery,level=9" and usual_level("greedy") == "greedy"
    assert Choices(Path("nowhere")).get("rookery").levels.default == "9"


# Reading moves

BISHOP_OR_PAWN = "4k3/8/8/8/2p5/8/BP6/4K3 w - - 0 1"
TWO_KNIGHTS = "4k3/8/8/8/8/8/8/1N2KN2 w - - 0 1"
CASTLING = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
PROMOTION = "3r4/4P3/8/8/8/8/7k/4K3 w - - 0 1"


@pytest.mark.parametrize(
    ("fen", "typed", "move"),
    [
        (None, "e4", "e2e4"),
        (None, "e2e4", "e2e4"),
        (None, "E2E4", "e2e4"),
        (None, "e2-e4", "e2e4"),
        (None, "Nf3", "g1f3"),
        (None, "nf3", "g1f3"),
        (None, "Nf3!?", "g1f3"),
        (None, " Nf3 ", "g1f3"),
        (CASTLING, "O-O", "e1g1"),
        (CASTLING, "0-0-0", "e1c1"),
        (CASTLING, "o-o", "e1g1"),
        (CASTLING, "e1g1", "e1g1"),
        (PROMOTION, "e8=Q", "e7e8q"),
        (PROMOTION, "e8n", "e7e8n"),
        (PROMOTION, "exd8=R", "e7d8r"),
        (PROMOTION, "e7d8b", "e7d8b"),
        (TWO_KNIGHTS, "Nbd2", "b1d2"),
        (BISHOP_OR_PAWN, "bxc4", "a2c4"),  # the pawn cannot
        (BISHOP_OR_PAWN, "Bxc4", "a2c4"),
    ],
)
def test_moves_as_people_type_them(fen: str | None, typed: str, move: str) -> None:
    assert read_move(chess.Board(fen or chess.STARTING_FEN), typed) == move


@pytest.mark.parametrize(
    ("fen", "typed", "message"),
    [
        (None, "e5", "not a legal move"),
        (None, "", "not a legal move"),
        (None, "--", "not a legal move"),
        (None, "0000", "not a legal move"),
        (None, "\x00", "not a legal move"),
        (TWO_KNIGHTS, "Nd2", "more than one"),
        (PROMOTION, "e7e8", "promotes: say to what, as in e7e8=Q"),
        (PROMOTION, "exd8", "promotes: say to what, as in exd8=Q"),
    ],
)
def test_invalid_moves_are_explained(fen: str | None, typed: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_move(chess.Board(fen or chess.STARTING_FEN), typed)
