"""Play random games on boards of other sizes beside other implementations of their rules.

    python benchmarks/board_differential.py gardner losalamos 4x4 4x5 --plies 1000000
    python benchmarks/board_differential.py gardner --oracle pgx --plies 1000000

After every ply both must agree on the legal moves, and now and then on the whole FEN and on check.
The oracles are the program `fairy-stockfish` (apt install fairy-stockfish), the same rules as the
Python module `pyffish`, which is a hundred times slower, and `pgx`, which needs jax: install both
into an environment of their own. Prints one JSON object and exits 1 on a difference.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from rookery._core import Board, Game, board_names, find_board, known_boards

# What Fairy-Stockfish does not have by name; the last one tests double steps on fewer ranks.
# Its older versions know promotionRank, newer ones the regions.
OWN_VARIANTS = """
[silverman4x4:chess]
maxRank = 4
maxFile = 4
startFen = rqkr/pppp/PPPP/RQKR w - - 0 1
promotionRank = 4
promotionRegionWhite = *4
promotionRegionBlack = *1
doubleStep = false
castling = false

[silverman4x5:chess]
maxRank = 5
maxFile = 4
startFen = rqkr/pppp/4/PPPP/RQKR w - - 0 1
promotionRank = 5
promotionRegionWhite = *5
promotionRegionBlack = *1
doubleStep = false
castling = false

[speed5x6:chess]
maxRank = 6
maxFile = 5
startFen = rnbqk/ppppp/5/5/PPPPP/RNBQK w - - 0 1
promotionRank = 6
promotionRegionWhite = *6
promotionRegionBlack = *1
doubleStep = true
doubleStepRegionWhite = *2
doubleStepRegionBlack = *5
castling = false
"""
FAIRY = "/usr/games/fairy-stockfish"
SPEED = "rnbqk/ppppp/5/5/PPPPP/RNBQK w - - 0 1; double-step"
MOST_PLIES = 200  # of one game
MOST_DIFFERENCES = 20
GAMES = 256  # at once, except with pyffish
WHOLE_EVERY = 32  # plies between two comparisons of the FEN


@dataclass
class Report:
    """What was compared; `differences` is empty if both agree."""

    board: str
    oracle: str
    plies: int = 0
    games: int = 0
    mates: int = 0
    promotions: int = 0
    seconds: float = 0.0
    differences: list[str] = field(default_factory=list)

    def expect(self, ours: object, theirs: object, what: str, fen: str) -> None:
        """Note a difference."""
        if ours != theirs and len(self.differences) < MOST_DIFFERENCES:
            self.differences.append(f"{what} in {fen!r}: {ours} and {theirs}")


def variant_of(board: Board, offered: Collection[str]) -> str:
    """The name of a board among the variants that an oracle offers."""
    if board.name == SPEED:
        return "speed5x6"
    names = board_names(board) if board.name in [each.name for each in known_boards()] else []
    found = [name for name in names if name in offered]
    if not found:
        raise ValueError(f"Fairy-Stockfish has no variant for the board {board.name!r}")
    return found[0]


def fen_of(game: Game) -> str:
    """The six fields that others know."""
    return " ".join(game.fen().split()[:6])


# --- Fairy-Stockfish ---


class Fairy:
    """The program, asked about many positions at once."""

    def __init__(self, board: Board) -> None:
        """Start it with the variants above."""
        self._file = tempfile.NamedTemporaryFile("w", suffix=".ini")  # noqa: SIM115 (until close)
        self._file.write(OWN_VARIANTS)
        self._file.flush()
        self._process = subprocess.Popen(
            [FAIRY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._send(f"setoption name VariantPath value {self._file.name}\nuci\n")
        offered: list[str] = []
        for line in iter(self._line, "uciok"):
            if " UCI_Variant " in line:
                offered = line.split()
        self._send(f"setoption name UCI_Variant value {variant_of(board, offered)}\n")

    def _send(self, text: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(text)
        self._process.stdin.flush()

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("fairy-stockfish ended")
        return line.strip()

    def ask(self, positions: Sequence[str], whole: bool) -> list[tuple[list[str], str, bool]]:
        """Legal moves of each `position` command; with `whole` also the FEN and check."""
        show = "d\n" if whole else ""
        self._send("".join(f"position fen {text}\n{show}go perft 1\n" for text in positions))
        # Moves are counted by another thread than the one that shows positions: the two kinds of
        # lines are each in order, but not with one another.
        lists: list[list[str]] = [[]]
        fens: list[str] = []
        checks: list[bool] = []
        while len(lists) <= len(positions):
            line = self._line()
            if line.startswith("Nodes searched"):
                lists.append([])
            elif line.endswith(": 1"):
                lists[-1].append(line[:-3])
            elif line.startswith("Fen: "):
                fens.append(line[5:])
            elif line.startswith("Checkers:"):
                checks.append(line != "Checkers:")
        if not whole:
            fens, checks = [""] * len(positions), [False] * len(positions)
        return list(zip(lists[:-1], fens, checks, strict=True))

    def close(self) -> None:
        """End it."""
        self._send("quit\n")
        self._process.wait()
        self._file.close()


def compare_fairy(board: Board, plies: int, seed: int) -> Report:
    """Random games beside the program."""
    report, rng, fairy = Report(board.name, "fairy-stockfish"), random.Random(seed), Fairy(board)
    games = [Game(board=board.name) for _ in range(GAMES)]
    asked = [fen_of(game) for game in games]
    report.games = GAMES
    while report.plies < plies and not report.differences:
        whole = report.plies // GAMES % WHOLE_EVERY == 0
        for number, (theirs, fen, check) in enumerate(fairy.ask(asked, whole)):
            game = games[number]
            moves = game.legal_moves()
            report.expect(sorted(moves), sorted(theirs), "legal moves", game.fen())
            if whole:
                report.expect(fen_of(game), fen, "FEN", game.fen())
                report.expect(game.in_check, check, "check", game.fen())
            report.mates += not moves and game.in_check
            if not moves or game.ply >= MOST_PLIES or game.is_insufficient_material:
                games[number] = game = Game(board=board.name)
                asked[number] = fen_of(game)
                report.games += 1
                continue
            move = rng.choice(moves)
            report.promotions += len(move) == 5
            asked[number] = f"{fen_of(game)} moves {move}"
            game.push(move)
            report.plies += 1
    fairy.close()
    return report


def compare_pyffish(board: Board, plies: int, seed: int) -> Report:
    """Random games beside Fairy-Stockfish's Python module."""
    import pyffish

    report, rng = Report(board.name, "pyffish"), random.Random(seed)
    if "silverman4x4" not in pyffish.variants():
        pyffish.load_variant_config(OWN_VARIANTS)
    variant = variant_of(board, pyffish.variants())
    while report.plies < plies and not report.differences:
        game = Game(board=board.name)
        report.games += 1
        for _ in range(MOST_PLIES):
            fen = fen_of(game)
            theirs = sorted(pyffish.legal_moves(variant, fen, []))
            moves = game.legal_moves()
            report.expect(sorted(moves), theirs, "legal moves", fen)
            report.expect(game.in_check, pyffish.gives_check(variant, fen, []), "check", fen)
            if not moves or report.differences:
                if not moves:
                    mated = pyffish.game_result(variant, fen, []) != 0
                    report.expect(game.in_check, mated, "mate", fen)
                    report.mates += game.in_check
                break
            move = rng.choice(moves)
            report.promotions += len(move) == 5
            game.push(move)
            report.plies += 1
            after = pyffish.get_fen(variant, fen, [move])
            report.expect(fen_of(game), after, "FEN", fen)
            if game.is_insufficient_material:
                break
    return report


# --- pgx ---


def pgx_moves() -> list[tuple[str, str]]:
    """The UCI text of each of pgx's actions for White and for Black, a queen if it promotes."""
    import jax  # type: ignore[import-not-found, unused-ignore]
    import jax.numpy as jnp  # type: ignore[import-not-found, unused-ignore]
    from pgx.gardner_chess import Action  # type: ignore[import-not-found, unused-ignore]

    actions = jax.vmap(Action._from_label)(jnp.arange(1225))
    columns = (actions.from_, actions.to, actions.underpromotion)
    found = []
    for start, end, under in zip(*(column.tolist() for column in columns), strict=True):
        texts = []
        for white in (True, False):
            squares = ""
            for place in (start, end):
                file, rank = divmod(place, 5)
                squares += "abcde"[file] + str(rank + 1 if white else 5 - rank)
            texts.append(squares + ("" if under < 0 else "rbn"[under]))
        found.append((texts[0], texts[1]))
    return found


def compare_pgx(board: Board, plies: int, seed: int) -> Report:
    """Random games beside pgx's gardner_chess, many at a time."""
    import jax
    import numpy as np
    import pgx  # type: ignore[import-not-found, unused-ignore]

    report, rng = Report(board.name, "pgx"), random.Random(seed)
    env, names = pgx.make("gardner_chess"), pgx_moves()
    step, init = jax.jit(jax.vmap(env.step)), jax.jit(jax.vmap(env.init))
    while report.plies < plies and not report.differences:
        state = init(jax.random.split(jax.random.PRNGKey(rng.randrange(1 << 30)), GAMES))
        games: list[Game | None] = [Game(board=board.name) for _ in range(GAMES)]
        report.games += GAMES
        while any(games) and not report.differences:
            masks, over = np.asarray(state.legal_action_mask), np.asarray(state.terminated)
            actions = np.zeros(GAMES, np.int32)
            for number, game in enumerate(games):
                if game is None:
                    continue
                if over[number]:
                    _judge(report, game, state.rewards[number])
                    games[number] = None
                    continue
                ours = {_without_queen(move): move for move in game.legal_moves()}
                labels = {
                    names[label][not game.turn]: label for label in np.flatnonzero(masks[number])
                }
                report.expect(sorted(ours), sorted(labels), "legal moves", game.fen())
                if report.differences:
                    break
                move = rng.choice(sorted(ours))
                actions[number] = labels[move]
                report.promotions += len(ours[move]) == 5
                game.push(ours[move])
                report.plies += 1
            state = step(state, actions)
    return report


def _without_queen(move: str) -> str:
    return move[:4] if move.endswith("q") and len(move) == 5 else move


def _judge(report: Report, game: Game, rewards: Any) -> None:
    """A game that pgx has ended: mates must be ours as well; its other draws are its own."""
    decided = bool(abs(float(rewards[0])) > 0)
    mate = game.outcome() == ("checkmate", not game.turn)
    report.expect(mate, decided, "mate", game.fen())
    report.mates += mate


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("boards", nargs="*", default=["gardner", "losalamos", "4x4", "4x5", SPEED])
    parser.add_argument("--plies", type=int, default=1_000_000, help="on each board")
    parser.add_argument("--seed", type=int, default=1)
    oracles: dict[str, Callable[[Board, int, int], Report]] = {
        "fairy-stockfish": compare_fairy,
        "pyffish": compare_pyffish,
        "pgx": compare_pgx,
    }
    parser.add_argument("--oracle", choices=sorted(oracles), default="fairy-stockfish")
    args = parser.parse_args()
    compare = oracles[args.oracle]
    reports = []
    for name in args.boards:
        began = time.perf_counter()
        report = compare(find_board(name), args.plies, args.seed)
        report.seconds = time.perf_counter() - began
        reports.append(report)
        print(
            f"{name}: {report.plies} plies, {len(report.differences)} differences", file=sys.stderr
        )
    print(json.dumps([vars(report) for report in reports], indent=1))
    return int(any(report.differences for report in reports))


if __name__ == "__main__":
    sys.exit(main())
