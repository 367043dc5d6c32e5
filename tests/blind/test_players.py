"""Players, the adapters to and from reconchess, and the arena."""

import _thread
import json
import subprocess
import sys
from pathlib import Path

import chess
import chess.engine
import numpy as np
import pytest

from rookery._core import BlindKnowledge
from rookery.blind.arena import BlindSettings, run_blind_match
from rookery.blind.players import PassingPlayer, RandomPlayer
from rookery.blind.registry import KINDS, make_blind_player
from rookery.cli import main
from rookery.engines.chess_engine import under_guard
from rookery.engines.find import find_stockfish
from rookery.engines.process import kill_engines
from rookery.players.spec import SpecError

reconchess = pytest.importorskip("reconchess")

from rookery.blind.recon import FixedNodes  # noqa: E402  # needs reconchess


class Breaking(RandomPlayer):
    """Breaks the rules in its third turn."""

    name = "breaking"

    def choose_move(
        self, knowledge: BlindKnowledge, rng: np.random.Generator, seconds: float
    ) -> str | None:
        if knowledge.turn_count < 3:
            return None
        return "a1a1" if knowledge.white else 1 / 0  # type: ignore[return-value]


def test_a_match_is_reproducible_and_counts_everything(tmp_path: Path) -> None:
    def run(concurrency: int) -> dict[str, object]:
        settings = BlindSettings(
            games=10, seed=3, concurrency=concurrency, records=tmp_path / f"{concurrency}.jsonl"
        )
        made = (lambda: make_blind_player("random"), lambda: make_blind_player("attacker"))
        return run_blind_match(made, ("random", "attacker"), settings)

    first, again = run(1), run(3)
    for key in ("wins", "losses", "draws", "pentanomial", "as_white", "mean_plies", "reasons"):
        assert first[key] == again[key], key
    assert first["games"] == 10 and first["faults"] == {"first": 0, "second": 0}
    assert first["losses"] > first["wins"]
    rows = [json.loads(row) for row in (tmp_path / "3.jsonl").read_text().splitlines()]
    assert sorted((row["pair"], row["index"]) for row in rows) == [
        (n // 2, n % 2) for n in range(10)
    ]
    assert rows[0]["turns"][0].keys() == {"sense", "request", "taken", "capture"}
    with pytest.raises(ValueError, match=r"3\.jsonl is not empty"):
        run(3)
    assert len((tmp_path / "3.jsonl").read_text().splitlines()) == 10


def test_faults_lose() -> None:
    result = run_blind_match(
        (Breaking, PassingPlayer), ("breaking", "passing"), BlindSettings(games=4, seed=1)
    )
    assert result["losses"] == 4
    assert result["fault_kinds"]["first"] == {"illegal": 2, "crash": 2}
    assert "a1a1" in result["fault_examples"]["breaking"]


def test_an_interrupted_match_keeps_its_games() -> None:
    class Interrupting(PassingPlayer):
        games = 0

        def new_game(self, knowledge: BlindKnowledge, rng: np.random.Generator) -> None:
            self.games += 1
            if self.games == 3:
                _thread.interrupt_main()

    result = run_blind_match(
        (Interrupting, PassingPlayer), ("first", "second"), BlindSettings(games=4000)
    )
    assert result["interrupted"] and 2 <= result["games"] < 4000
    assert not any(result["faults"].values())


def test_the_clock_is_kept() -> None:
    settings = BlindSettings(games=2, seed=1, seconds=1e-9, increment=0)
    result = run_blind_match((RandomPlayer, PassingPlayer), ("random", "passing"), settings)
    assert result["fault_kinds"] == {"first": {"time": 1}, "second": {"time": 1}}


def test_passing_players_draw_by_the_half_move_clock() -> None:
    result = run_blind_match(
        (PassingPlayer, PassingPlayer), ("passing", "passing"), BlindSettings(games=2)
    )
    assert result["reasons"] == {"move_limit": 2} and result["mean_plies"] == 100


def test_a_bot_hears_what_reconchess_would_tell_it(tmp_path: Path) -> None:
    """A bot that logs every call hears the same in our arena and in play_local_game."""
    source = tmp_path / "logging_bot.py"
    source.write_text(LOGGING_BOT)
    from rookery.blind.arena import play_blind_game
    from rookery.blind.recon import ReconPlayer, bot_class, load_bot_module

    made = bot_class(load_bot_module(source), source)
    logs: dict[bool, list] = {True: [], False: []}
    players = [made(logs[True]), made(logs[False])]
    reconchess.play_local_game(*players)

    class Replay(ReconPlayer):
        def new_game(self, knowledge: BlindKnowledge, rng: np.random.Generator) -> None:
            self._bot = made([])
            self._bot.handle_game_start(knowledge.white, None, "")
            heard[knowledge.white] = self._bot.log

    heard: dict[bool, list] = {}
    rngs = (np.random.default_rng(1), np.random.default_rng(2))
    play_blind_game(Replay(str(source)), Replay(str(source)), rngs, BlindSettings())
    assert len(logs[True]) > 100
    assert heard == logs


def test_ours_is_a_reconchess_bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOKERY_BLIND_PLAYER", "random")
    script = Path(sys.executable).with_name("rc-bot-match")
    done = subprocess.run(
        [script, "rookery.blind.bot", "rookery.blind.bot"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0 and "Winner: " in done.stdout, done.stderr
    assert "ERROR" not in done.stdout and "Traceback" not in done.stderr, done.stderr
    assert list(tmp_path.glob("RookeryBot-RookeryBot-*.json"))


@pytest.mark.skipif(find_stockfish() is None, reason="Stockfish is not installed")
def test_trout_plays_at_fixed_nodes() -> None:
    settings = BlindSettings(games=2, seed=2)
    made = (lambda: make_blind_player("trout,nodes=500"), RandomPlayer)
    result = run_blind_match(made, ("trout", "random"), settings)
    assert result["faults"] == {"first": 0, "second": 0}
    assert result["wins"] + result["draws"] + result["losses"] == 2


@pytest.mark.skipif(find_stockfish() is None, reason="Stockfish is not installed")
def test_trouts_stockfish_is_replaced_if_it_dies_but_not_if_we_end_it() -> None:
    program = str(find_stockfish())
    with under_guard():
        engine = FixedNodes(chess.engine.SimpleEngine.popen_uci(program), program, 50)
    board, limit = chess.Board(), chess.engine.Limit(time=9)
    try:
        no_kings = chess.Board("8/8/8/8/8/8/8/8 w - - 0 1")  # impossible: Stockfish crashes
        with pytest.raises(chess.engine.EngineTerminatedError):
            for _ in range(5):
                engine.play(no_kings, limit)
        assert engine.restarts == 1 and engine.play(board, limit).move in board.legal_moves
        assert kill_engines() >= 1
        with pytest.raises(RuntimeError, match="interrupted"):
            engine.play(board, limit)
        assert engine.restarts == 1
    finally:
        engine.close()


def test_specifications_are_checked() -> None:
    with pytest.raises(SpecError, match="did you mean 'trout'"):
        make_blind_player("trouts")
    with pytest.raises(SpecError, match="no option 'depth'"):
        make_blind_player("trout,depth=3")
    with pytest.raises(SpecError, match="whole number from 1 to"):
        make_blind_player("trout,nodes=0")


def test_bad_bot_files_and_a_missing_stockfish_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match="no bot file"):
        make_blind_player("missing.py")
    bot = tmp_path / "bot.py"
    for text, reason in (("def (", "SyntaxError"), ("import nothing_at_all", "ModuleNotFound")):
        bot.write_text(text)
        with pytest.raises(ValueError, match=rf"bot\.py cannot be loaded: {reason}"):
            make_blind_player(str(bot))
    monkeypatch.setenv("ROOKERY_STOCKFISH", "/no/such/engine")
    with pytest.raises(ValueError, match="/no/such/engine is not a program"):
        make_blind_player("trout")


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["blind", "arena", "random", "passing", "--games", "4", "--seed", "1", "--json"]
    assert main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(["arena", "random", "random", "--games", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out).keys() <= found.keys()
    assert found["games"] == 4 and found["limits"] == "tc=900+5"
    assert main(["blind", "arena", "nobody", "random"]) == 1
    assert "unknown blind player" in capsys.readouterr().err
    assert main(["blind", "players"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in KINDS)


LOGGING_BOT = """
import chess
from reconchess import Player


class LoggingBot(Player):
    '''Chooses by the number of calls and logs what it hears.'''

    def __init__(self, log=None):
        self.log = [] if log is None else log

    def handle_game_start(self, color, board, opponent_name):
        self.log.append(("start", color))

    def handle_opponent_move_result(self, captured, square):
        self.log.append(("opponent", captured, square))

    def choose_sense(self, senses, moves, seconds_left):
        self.log.append(("sense", senses, [move.uci() for move in moves]))
        return senses[len(self.log) * 7 % 64] if len(self.log) % 5 else None

    def handle_sense_result(self, result):
        self.log.append(("sensed", [(square, str(piece)) for square, piece in result]))

    def choose_move(self, moves, seconds_left):
        self.log.append(("move", [move.uci() for move in moves]))
        return moves[len(self.log) * 31 % len(moves)] if len(self.log) % 7 else None

    def handle_move_result(self, requested, taken, captured, square):
        self.log.append(("moved", str(requested), str(taken), captured, square))

    def handle_game_end(self, winner, reason, history):
        self.log.append(("end", winner))
"""
