"""The methods of the race: a recipe each, and how its networks play in three ways.

| way | policy networks | value networks |
|---|---|---|
| `bare` | the move that the policy prefers | the move after which the value is best |
| `fixed` | tree search, so many simulations | alpha-beta, so many nodes |
| `timed` | tree search for a time | alpha-beta for a time |

Methods that begin with an engine's labels make them within their time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rookery.base.registry import Registry

WAYS: Mapping[str, str] = {
    "bare": "the network alone",
    "fixed": "a fixed number of evaluations a move",
    "timed": "a fixed time a move",
}

# Options of the player by way; a tree of 64 MiB is never full in these searches.
POLICY: Mapping[str, str] = {
    "bare": "simulations=0",
    "fixed": "simulations={evaluations},megabytes=64",
    "timed": "movetime={movetime:g},megabytes=64",
}
VALUE: Mapping[str, str] = {
    "bare": "search=plain,depth=1",
    "fixed": "nodes={evaluations}",
    "timed": "movetime={movetime:g}",
}


@dataclass(frozen=True)
class Labels:
    """Positions of Stockfish's own games, with its moves and values; see `rookery data label`."""

    share: float  # of the method's time
    observation: str = "tactical70"
    nodes: int = 400  # a position


@dataclass(frozen=True)
class Start:
    """A run whose network the method begins with."""

    recipe: str
    share: float  # of the method's time
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Method:
    """One method; settings may name {labels} and {start}, the folders of its earlier parts."""

    name: str
    title: str  # in charts
    recipe: str
    play: Mapping[str, str]  # options of the player by way; may name {evaluations} and {movetime}
    note: str = ""  # what the reader should know about it
    settings: tuple[str, ...] = ()  # changes to the recipe
    labels: Labels | None = None
    start: Start | None = None

    def options(self, way: str, evaluations: int, movetime: float) -> str:
        """The options of its player in a way of playing."""
        return self.play[way].format(evaluations=evaluations, movetime=movetime)


_METHODS = (
    Method(
        "ppo",
        "PPO",
        "ppo",
        POLICY,
        "knows no search while it learns; where the race lets it search, its policy and value "
        "serve AlphaZero's tree search",
    ),
    Method("alphazero", "AlphaZero", "alphazero", POLICY),
    Method(
        "pepper",
        "Deep Pepper",
        "pepper",
        POLICY,
        "labels from Stockfish's own games instead of grandmasters', a fifth of its time",
        ("initial={start}", "replay.labels={labels}"),
        Labels(0.2, "pepper353"),
        Start("pepper-pretrained", 0.05, ("data.samples={labels}",)),
    ),
    Method("ddqn", "Double DQN", "ddqn", VALUE),
    Method("tdleaf", "TD-leaf", "tdleaf", VALUE),
    Method("giraffe", "Giraffe", "giraffe", VALUE, "begins with material, as its paper"),
    Method("engine", "Engine", "engine", VALUE, "learns in generations"),
    Method(
        "supervised",
        "Supervised",
        "supervised",
        POLICY,
        "no self-play: nine tenths of its time make Stockfish's labels, so its curve begins late",
        ("data.samples={labels}",),
        Labels(0.9),
    ),
    Method(
        "alphazero-pretrained",
        "AlphaZero, supervised start",
        "alphazero-pretrained",
        POLICY,
        "three tenths of its time make Stockfish's labels",
        ("initial={start}", "replay.labels={labels}"),
        Labels(0.3),
        Start("supervised", 0.03, ("data.samples={labels}",)),
    ),
)
METHODS = Registry("method", "rookery.methods", Method, _METHODS)
