"""Random play in environments: steps per second with observation and legal moves.

Each peer is compared with our observation layout closest to its own. Choosing the random move is
part of every measurement: by `bot_actions`, as a peer's loop does it in its own way, and in the
details also by numpy, as a policy outside does.
"""

from __future__ import annotations

import numpy as np

from rookery._core import VectorGames
from rookery.bench.measure import Comparison, Participant, Result, rate
from rookery.bench.peer_process import interleave_with_peers

NUM_GAMES = 64  # few enough for the observations to stay in the CPU caches
STEPS_PER_CALL = 50
MAIN_LAYOUT = "planes19"
# Peer script: our layout closest to its observation.
PEERS = {
    "pettingzoo_chess": "planes119",
    "openspiel_chess": "planes19",
    "python_chess_random": "planes19",
}


def random_play(observation: str, seed: int = 1) -> Participant:
    """Uniformly random play in VectorGames, one thread."""
    games = VectorGames(NUM_GAMES, observation=observation, seed=seed)
    all_games = np.ones(NUM_GAMES, dtype=bool)

    def work() -> int:
        for _ in range(STEPS_PER_CALL):
            games.step(games.bot_actions("random", all_games))
        return STEPS_PER_CALL * NUM_GAMES

    return lambda seconds: rate(work, seconds)


def random_play_by_numpy(observation: str, seed: int = 1) -> Participant:
    """The same with actions chosen in Python."""
    games = VectorGames(NUM_GAMES, observation=observation, seed=seed)
    rng = np.random.default_rng(seed)

    def work() -> int:
        for _ in range(STEPS_PER_CALL):
            offsets = games.legal_offsets
            counts = np.diff(offsets)
            chosen = offsets[:-1] + (rng.random(NUM_GAMES) * counts).astype(np.int64)
            games.step(games.legal_actions[chosen].astype(np.int64))
        return STEPS_PER_CALL * NUM_GAMES

    return lambda seconds: rate(work, seconds)


def run() -> Result:
    """Run the benchmark."""
    layouts = sorted({MAIN_LAYOUT, *PEERS.values()})
    participants = {name: random_play(name) for name in layouts}
    participants |= {f"{name} by numpy": random_play_by_numpy(name) for name in layouts}
    values, peers, missing = interleave_with_peers(participants, {name: [name] for name in PEERS})
    comparisons = [
        Comparison(
            peer.label,
            values[script],
            values[PEERS[script]],
            f"ours: {PEERS[script]} and legal moves; peer: {peer.conditions}",
        )
        for script, peer in peers.items()
    ]
    conditions = (
        f"{MAIN_LAYOUT}, {NUM_GAMES} games at once, one thread, observation and legal moves"
    )
    details = {f"{name} steps/s": values[name] for name in participants}
    return Result(values[MAIN_LAYOUT], "steps/s", conditions, comparisons, missing, details)
