"""The player `blind` against bots that pass, sense nothing or play at random, with its memory.

    python benchmarks/blind_robustness.py --games 1000

No game may end by a fault (an illegal request, an exception, a fallen clock), and the memory of
the process must not grow with the number of games. `blind` judges few boards here, since strength
is not the question; its set of boards is small, so that it bursts and is repaired often.
"""

from __future__ import annotations

import argparse
import json
import resource
from collections.abc import Callable

from numpy.random import Generator

from rookery._core import BlindKnowledge
from rookery.blind.arena import BlindRecord, BlindSettings, run_blind_match
from rookery.blind.players import BlindPlayer, PassingPlayer, RandomPlayer
from rookery.blind.strong import StrongPlayer, StrongSettings


class SenselessPlayer(RandomPlayer):
    """Moves at random and senses nothing."""

    name = "senseless"

    def choose_sense(self, knowledge: BlindKnowledge, rng: Generator, seconds: float) -> int | None:
        """Sense nothing."""
        return None


class CountingPlayer(StrongPlayer):
    """`blind` that counts the games in which its set burst, and how often it was repaired."""

    burst = 0
    repairs = 0

    def game_over(self, knowledge: BlindKnowledge, won: bool | None) -> None:
        """Count."""
        CountingPlayer.burst += not self.thoughts.complete
        CountingPlayer.repairs += self.thoughts.repairs


OPPONENTS: dict[str, Callable[[], BlindPlayer]] = {
    "passing": PassingPlayer,
    "senseless": SenselessPlayer,
    "random": RandomPlayer,
}


def megabytes() -> float:
    """Return the largest memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Play and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=1000, help="in all")
    parser.add_argument("--nodes", type=int, default=6000, help="of `blind` a turn")
    parser.add_argument("--boards", type=int, default=4, help="that it judges for a move")
    parser.add_argument("--capacity", type=int, default=500, help="boards of `blind`")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    settings = StrongSettings(
        nodes=args.nodes, capacity=args.capacity, boards=args.boards, sense_boards=args.boards
    )
    each = -(-args.games // len(OPPONENTS) // 2) * 2
    played: list[float] = []

    def note(record: BlindRecord) -> None:
        played.append(megabytes())

    for name, opponent in OPPONENTS.items():
        result = run_blind_match(
            (lambda: CountingPlayer(settings=settings), opponent),
            ("blind", name),
            BlindSettings(games=each, seed=args.seed),
            on_game=note,
        )
        keys = ("second", "games", "wins", "draws", "losses", "faults", "reasons", "mean_plies")
        print(json.dumps({key: result[key] for key in keys}), flush=True)
        if result["interrupted"]:
            raise KeyboardInterrupt
        if result["fault_examples"]:
            raise SystemExit(f"faults: {result['fault_examples']}")
    tenth = played[len(played) // 10]
    print(
        f"{len(played)} games; memory {tenth:.0f} MB after a tenth, {played[-1]:.0f} MB at the "
        f"end; the set burst in {CountingPlayer.burst} games and was repaired "
        f"{CountingPlayer.repairs} times"
    )


if __name__ == "__main__":
    main()
