"""Games between players of the core, played there in batches.

Random against random this way is some hundred times faster than a loop over python-chess, so
that a thousand games are a matter of a second.
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

BATCH = 128  # games a call: large enough to hide its cost, small enough for Ctrl-C and progress


def native_bots(players: Sequence[Player], adjudication: Adjudication) -> tuple[str, str] | None:
    """Names of both players in the core, or None if either is something else.

    Such players think for no time and have no values, so clocks and agreed endings do not apply;
    only endgame tables would.
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

    Args:
        bots: names of first and second player in the core.
        names: how they are called in the records.
        tasks: which games.
        book: openings of the pairs.
        seed: of the match; each game has its own stream.
        max_plies: games are drawn there, those of the opening included; 0: never.
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
            # The core counts from the start that it is given, and openings differ in length.
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
