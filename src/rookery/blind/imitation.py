"""Samples for supervised learning, from the records of `rookery blind arena --records`.

Every game is played again by the referee; what a teacher knew is the observation, what it did the
target, and the game's result the value's target. Of the other players only the result is learnt:
a teacher that always wins would teach that every position is won.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from rookery._core import BLIND_SENSE_ACTIONS, BlindGame
from rookery.blind.players import sense_action
from rookery.blind.viewer import parse_record

RESULTS = {"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0}


@dataclass
class Imitation:
    """B samples with L legal actions in all."""

    observations: NDArray[np.float16]  # [B, planes, 8, 8]
    legal: NDArray[np.int64]  # [L] actions of `rookery.blind.env`
    offsets: NDArray[np.int64]  # [B + 1]
    places: NDArray[np.int64]  # [B] index of the player's action in its sample's legal list
    taught: NDArray[np.bool_]  # [B] whether the player is a teacher
    results: NDArray[np.float32]  # [B] of the game, for the player
    games: int

    def __len__(self) -> int:
        """B."""
        return len(self.places)

    def take(
        self, index: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Observations, legal [l], rows [l] and the players' entries of some samples."""
        counts = self.offsets[index + 1] - self.offsets[index]
        firsts = np.cumsum(counts) - counts
        entries = np.repeat(self.offsets[index] - firsts, counts) + np.arange(counts.sum())
        rows = np.repeat(np.arange(len(index)), counts)
        observations = self.observations[index].astype(np.float32)
        return observations, self.legal[entries], rows, firsts + self.places[index]


def record_files(names: Sequence[str]) -> list[Path]:
    """Return the record files of a recipe, in order; none at all is a `ValueError`."""
    found: list[Path] = []
    for name in names:
        path = Path(name)
        found += sorted(path.glob("*.jsonl")) if path.is_dir() else [path] * path.is_file()
    if not found:
        raise ValueError(
            f"there are no records in {', '.join(names)}; make some with 'rookery blind arena "
            "blind attacker --records data/blind/attacker.jsonl' or name others with "
            "--set data.records"
        )
    return found


def read_imitation(names: Sequence[str], teachers: Sequence[str]) -> Imitation:
    """Play all recorded games again and collect the players' actions."""
    rows = [row for path in record_files(names) for row in _samples_of_file(path, teachers)]
    if not any(row[3] for row in rows):
        raise ValueError(f"the records have no games of {', '.join(teachers)}")
    planes, legal, places, taught, results, games = zip(*rows, strict=True)
    return Imitation(
        observations=np.stack(planes),
        legal=np.concatenate(legal),
        offsets=np.concatenate([[0], np.cumsum([len(actions) for actions in legal])]),
        places=np.array(places),
        taught=np.array(taught),
        results=np.array(results, dtype=np.float32),
        games=len(set(games)),
    )


def _samples_of_file(path: Path, teachers: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    for number, line in enumerate(path.read_text().splitlines(), 1):
        record = parse_record(line, path, number)
        if record["fault"]:
            continue
        sides = [record[side] in teachers for side in ("white", "black")]
        result = RESULTS[record["result"]]
        game = BlindGame()
        for ply, turn in enumerate(record["turns"]):
            value = result if ply % 2 == 0 else -result
            for sample in _turn_samples(game, turn):
                yield (*sample, sides[ply % 2], value, (str(path), number))


def _turn_samples(game: BlindGame, turn: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Play one turn; yields planes, legal actions and the place of the action, twice."""
    white = game.white_to_move
    square = _square(turn)
    knowledge = game.knowledge(white)
    planes = knowledge.planes().astype(np.float16)
    legal = np.arange(BLIND_SENSE_ACTIONS, dtype=np.int64)
    yield planes, legal, sense_action(knowledge, square)
    game.sense(square)
    knowledge = game.knowledge(white)
    actions = knowledge.move_actions().astype(np.int64)
    place = int(np.flatnonzero(actions == knowledge.action_of(turn["request"]))[0])
    yield knowledge.planes().astype(np.float16), actions + BLIND_SENSE_ACTIONS, place
    game.move(turn["request"])


def _square(turn: dict[str, Any]) -> int | None:
    return None if turn["sense"] is None else chess.parse_square(turn["sense"])
