"""Games between native players, played in batches by the core.

About a hundred times faster than a python-chess loop: a thousand random games take a second.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from rookery._core import play_bot_games
from rookery.arena.game import PlayedGame
from rookery.arena.limits import Adjudication
from rookery.data.openings import OpeningBook
from rookery.players.base import Player, capabilities_of

BATCH = 128  # games per call: hides the cost of a call but keeps Ctrl-C and progress responsive


def native_bots(players: Sequence[Player], adjudication: Adjudication) -> tuple[str, str] | None:
    """Return the names of both players in the core, or None unless both are native.

    Native players take no time and report no values, so of all adjudication only the tablebases
    would matter.
    """
    if adjudication.tablebase:
        return None
    first, second = (capabilities_of(player).native_bot for player in players)
    return (first, second) if first and second else None


def play_native(
    bots: tuple[str, str],
    names: tuple[str, str],
    tasks: Sequence[tuple[int, int]],
    book: OpeningBook,
    seed: int,
    max_plies: int,
) -> Iterator[PlayedGame]:
    """Play the games (pair, index) of `tasks`; the first player has White where index is 0.

    `bots` are the players' names in the core, `names` those in the records. Games are drawn after
    `max_plies` plies including the opening; 0: never.
    """
    remaining = iter(tasks)
    while batch := list(islice(remaining, BATCH)):
        began = time.monotonic()
        openings = [book.opening(pair) for pair, _ in batch]
        starts = [opening.game() for opening in openings]
        seeds = [_seed(seed, pair, index) for pair, index in batch]
        white = [bots[index] for _, index in batch]
        black = [bots[1 - index] for _, index in batch]
        if max_plies:
            # The core counts plies from the start position, and openings differ in length.
            played = [
                play_bot_games([start], [w], [b], [s], max(1, max_plies - start.ply))[0]
                for start, w, b, s in zip(starts, white, black, seeds, strict=True)
            ]
        else:
            played = play_bot_games(starts, white, black, seeds)
        seconds = (time.monotonic() - began) / len(batch)
        for (pair, index), opening, game in zip(batch, openings, played, strict=True):
            termination, winner, moves = game
            capped = termination == "ply_cap"
            yield PlayedGame(
                pair=pair,
                index=index,
                white=names[index],
                black=names[1 - index],
                opening=opening,
                moves=(*opening.moves, *moves),
                result="1/2-1/2" if winner is None else "1-0" if winner else "0-1",
                reason=f"adjudication: {max_plies} plies" if capped else termination,
                seconds=seconds,
            )


def _seed(seed: int, pair: int, index: int) -> int:
    sequence = np.random.SeedSequence(seed, spawn_key=(4, pair, index))
    return int(sequence.generate_state(1, np.uint64)[0])
