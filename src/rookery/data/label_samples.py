"""Samples labelled by an engine: its best moves and its evaluation.

The policy target is a softmax over the scores of the engine's best moves; the value is its score as
an expected result. Positions come from games of the engine against itself, or from PGN.

A search also visits bad moves, so a network must learn to evaluate them: games begin with random
plies, moves are drawn from the policy target, and some are random. The game's result is then a poor
target; learn the value instead (`--set learn.search_value=1.0`).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from rookery._core import Game, play_random_plies
from rookery.base.scales import value_of_score
from rookery.base.storage import atomic_write
from rookery.data.pgn import read_pgn_files
from rookery.data.sample_writer import SampleWriter
from rookery.engines.faults import EngineFault
from rookery.engines.label_engine import LabelEngine, Ranked, SteadyEngine
from rookery.engines.workers import ask_all

OPENING_PLIES = (2, 12)  # fewest and most random plies at the start of a game
MAX_PLIES = 300
GAME_POSITIONS = 80  # typical positions per game, to estimate how many games are needed
MOST_GAMES = 200  # per batch; the engines are restarted for each batch

Label = tuple[dict[str, float], float]  # policy target by move, value [-1, 1] of the side to move


@dataclass(frozen=True)
class LabelSettings:
    """How positions are chosen and labelled."""

    nodes: int = 2000  # per position
    lines: int = 4  # ranked moves (MultiPV)
    temperature: float = 0.3  # of the policy target, in pawns
    random_share: float = 0.1  # of random moves
    every: int = 1  # label each Nth position of a given game
    chances: bool = False  # use the engine's own WDL as values, if it reports it
    seed: int = 0


@dataclass
class LabelledGame:
    """A game whose positions are labelled from some ply on."""

    start: str  # FEN
    moves: list[str]
    first: int  # ply of the first label
    labels: list[Label | None]  # None: a position that is skipped
    result: float | None  # White's, [-1, 1]; None: truncated or unknown

    def write(self, writer: SampleWriter, number: int, most: int) -> int:
        """Add at most `most` samples; returns how many."""
        position, written = Game(self.start), 0
        for ply, move in enumerate([*self.moves, None]):
            place = ply - self.first
            label = self.labels[place] if 0 <= place < len(self.labels) else None
            if label is not None and written < most:
                policy, value = label
                result = value
                if self.result is not None:
                    result = self.result if position.turn else -self.result
                writer.add(position, policy, result, value, len(self.moves) - ply, number)
                written += 1
            if move is not None:
                position.push(move)
        return written


def policy_of(scores: dict[str, float], temperature: float) -> dict[str, float]:
    """Unnormalised softmax of scores in centipawns; `temperature` in pawns."""
    best, scale = max(scores.values()), 100.0 * temperature
    return {move: math.exp((score - best) / scale) for move, score in scores.items()}


def label_of(ranked: Sequence[Ranked], settings: LabelSettings) -> Label:
    """Policy target and value of a position, from the engine's ranking of its moves."""
    scores = {one.move: one.centipawns for one in ranked}
    chances = ranked[0].chances if settings.chances else None
    value = value_of_score(round(max(scores.values()))) if chances is None else chances
    return policy_of(scores, settings.temperature), value


def play_labelled(
    engine: LabelEngine, number: int, most: int, settings: LabelSettings
) -> LabelledGame:
    """Game `number` of the engine against itself, with at most `most` labelled positions.

    Game and labels depend only on seed, number and settings.
    """
    rng = np.random.default_rng([settings.seed, number])
    game = Game()
    low, high = OPENING_PLIES
    play_random_plies(game, int(rng.integers(low, high + 1)), int(rng.integers(1 << 62)))
    made = LabelledGame(game.start_fen, [], game.ply, [], None)
    engine.new_game()
    while game.outcome(claim_draw=True) is None and game.ply < MAX_PLIES:
        if len(made.labels) >= most:
            break
        label = label_of(engine.rank(game), settings)
        made.labels.append(label)
        if rng.random() < settings.random_share:
            legal = game.legal_moves()
            game.push(str(legal[int(rng.integers(len(legal)))]))
        else:
            moves, weights = list(label[0]), np.array(list(label[0].values()))
            game.push(moves[int(rng.choice(len(moves), p=weights / weights.sum()))])
    made.moves = game.moves()
    outcome = game.outcome(claim_draw=True)
    if outcome is not None:
        made.result = 0.0 if outcome[1] is None else (1.0 if outcome[1] else -1.0)
    return made


def label_game(
    engine: LabelEngine, game: LabelledGame, number: int, most: int, settings: LabelSettings
) -> LabelledGame:
    """Label each `every`th position of a given game, at most `most`."""
    engine.new_game()
    game.labels.clear()  # of an attempt in which the engine failed
    position, left = Game(game.start), most
    for ply, move in enumerate(game.moves):
        # Neighbouring games begin at different plies, so that both sides' positions are labelled.
        chosen = left > 0 and (ply + number) % settings.every == 0
        game.labels.append(label_of(engine.rank(position), settings) if chosen else None)
        left -= chosen
        position.push(move)
    return game


class Progress:
    """How far a folder of labels is: `labels.json`, written after each batch of games.

    The same command continues where an interrupted one stopped; files of samples that are not
    listed yet are made again.
    """

    def __init__(self, folder: Path, meaning: Mapping[str, Any]) -> None:
        """Read the folder's progress, if any; `meaning` is what its samples depend on."""
        self._path = folder / "labels.json"
        self._meaning = dict(meaning)
        self.games = self.samples = self.shards = 0
        if not self._path.is_file():
            return
        stored = json.loads(self._path.read_text())
        before = stored["meaning"]
        changed = [
            f"{key}: {before.get(key)} -> {self._meaning.get(key)}"
            for key in {**before, **self._meaning}
            if before.get(key) != self._meaning.get(key)
        ]
        if changed:
            raise ValueError(
                f"{folder} holds labels of another command ({'; '.join(changed)}); name another "
                "folder with --out, or repeat the command to continue it"
            )
        self.games, self.samples, self.shards = (
            int(stored[name]) for name in ("games", "samples", "shards")
        )

    def save(self, writer: SampleWriter) -> None:
        """Write the samples collected so far, then the progress."""
        if not self.samples:
            return
        writer.flush()
        self.shards = writer.shards
        counts = {"games": self.games, "samples": self.samples, "shards": self.shards}
        atomic_write(self._path, json.dumps({**counts, "meaning": self._meaning}))


def write_labels(
    command: Sequence[str],
    writer: SampleWriter,
    count: int,
    settings: LabelSettings,
    progress: Progress,
    pgn: Sequence[Path] = (),
    workers: int = 1,
    report: Callable[[str], None] = lambda text: None,
) -> dict[str, int]:
    """Label positions from games, or from games of the engine against itself.

    An engine that fails is started anew. If that does not help, the games before are written, and
    the engine's fault is raised.

    Args:
        command: The UCI engine.
        writer: Takes the samples, after those of `progress`; the caller closes it.
        count: Positions to label, with those of `progress`.
        settings: Without PGN the samples depend only on these and on the engine.
        progress: Of the writer's folder.
        pgn: Games whose positions are labelled.
        workers: Number of parallel engines.
        report: Gets a line after each batch, and for each failure of an engine or game that
            cannot be read.
    """
    given = islice(_given_games(pgn, report), progress.games, None) if pgn else None
    faults: list[EngineFault] = []
    began, before = time.monotonic(), progress.samples

    def start() -> SteadyEngine:
        return SteadyEngine(command, settings.nodes, settings.lines, report)

    def work(
        engine: SteadyEngine, task: tuple[int, LabelledGame | None, int], _: int
    ) -> LabelledGame | None:
        number, game, most = task
        if faults:
            return None
        try:
            if game is None:
                return engine.ask(lambda one: play_labelled(one, number, most, settings))
            return engine.ask(lambda one: label_game(one, game, number, most, settings))
        except EngineFault as fault:
            faults.append(fault)
            return None

    while (left := count - progress.samples) > 0:
        begun = min(MOST_GAMES, -(-left // GAME_POSITIONS))
        games: list[LabelledGame | None] = [None] * begun
        if given is not None:
            games = list(islice(given, begun))
        tasks = [(progress.games + n, game, left) for n, game in enumerate(games, 1)]
        if not tasks:
            break  # end of the PGN
        for labelled in ask_all(start, tasks, work, workers):
            if labelled is None:
                break
            progress.games += 1
            left = count - progress.samples
            progress.samples += labelled.write(writer, progress.games, left)
        progress.save(writer)
        if faults:
            raise faults[0]
        speed = (progress.samples - before) / max(1e-9, time.monotonic() - began)
        report(f"{progress.samples:,} of {count:,} positions, {speed:,.0f} a second")
    return {"games": progress.games, "samples": progress.samples}


def _given_games(paths: Sequence[Path], report: Callable[[str], None]) -> Iterator[LabelledGame]:
    """Games of PGN files, not labelled yet."""
    for game in read_pgn_files(paths, report=report):
        played = [(position.start_fen, move) for position, move in game.positions()]
        if played:
            moves = [move for _, move in played]
            yield LabelledGame(played[0][0], moves, 0, [], game.points)
