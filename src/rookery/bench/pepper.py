"""Deep Pepper's features: self-play with features, network and tree, against Python over a board.

Deep Pepper (2018) reads its 353 features from python-chess and evaluates one position at a time.
Our self-play (features, the network `slots`, tree search) is compared with its features and network
without a search, and our features alone with its features alone.
"""

from __future__ import annotations

from rookery._core import SelfPlay, VectorGames
from rookery.bench.measure import Comparison, Participant, Result, rate
from rookery.bench.peer_process import interleave_with_peers

PEER = "python_chess_pepper"
GAMES = 256
SIMULATIONS = 160  # of the recipe `pepper`


def self_play() -> Participant:
    """Evaluate positions in native self-play on one thread, without a cache."""
    from rookery.nets import make_network
    from rookery.nets.native import native_network

    native = native_network(make_network("slots", "pepper353", "az4672"))
    assert native is not None
    play = SelfPlay(
        GAMES, "pepper353", 1, simulations=SIMULATIONS, random_share=1.0, random_plies=(4, 20),
        cache_megabytes=0,
    )  # fmt: skip

    def measure(seconds: float) -> float:
        before = play.evaluations

        def work() -> int:
            nonlocal before
            play.run(native, 1 << 60, seconds / 10)
            play.take_samples()
            play.take_games()
            done, before = play.evaluations - before, play.evaluations
            return int(done)

        return rate(work, seconds)

    return measure


def features_alone() -> Participant:
    """Encode the positions of random games."""
    games = VectorGames(GAMES, "pepper353", seed=1)
    games.reset(1)

    def work() -> int:
        games.step(games.legal_actions[games.legal_offsets[:-1]].astype("int64"))
        return GAMES

    return lambda seconds: rate(work, seconds)


def run() -> Result:
    """Run the benchmark."""
    ours = {"self-play": self_play(), "features alone": features_alone()}
    scripts = {"features and network": [PEER, "network"], "only features": [PEER]}
    values, peers, missing = interleave_with_peers(ours, scripts)
    pairs = (("features and network", "self-play"), ("only features", "features alone"))
    comparisons = [
        Comparison(
            f"{peers[theirs].label}, {theirs}",
            values[theirs],
            values[name],
            f"ours: {name}; peer: {peers[theirs].conditions}",
        )
        for theirs, name in pairs
        if theirs in peers
    ]
    conditions = f"{GAMES} games at once, network `slots` of width 256, one thread"
    details = {"features alone, with the rules of the game": values["features alone"]}
    return Result(values["self-play"], "positions/s", conditions, comparisons, missing, details)
