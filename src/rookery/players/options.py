"""Tables of player options: how a value is parsed and what it means.

Kinds of players share tables, so that `alphazero,simulations=50`, `runs/az,simulations=50` and a
setting changed over UCI are parsed by the same function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from rookery.players import spec as kinds
from rookery.players.spec import PlayerSpec, SpecError, nearest


@dataclass(frozen=True)
class Option:
    """One option of a player."""

    name: str
    parse: Callable[[str], Any]  # raises a ValueError that says what was expected
    help: str


SEARCH = (
    Option("depth", kinds.positive_int, "search depth in plies"),
    Option("nodes", kinds.large_int, "nodes a move"),
    Option("movetime", kinds.seconds, "time a move: 0.05, 0.05s or 50ms"),
)
ALPHA_BETA = (
    *SEARCH,
    Option("threads", kinds.positive_int, "threads (1)"),
    Option("hash", kinds.positive_int, "transposition table in MiB (16)"),
    Option("level", kinds.whole(1, 20), "strength from 1 to 20, for playing people"),
    Option("elo", kinds.positive_int, "strength as an Elo figure instead"),
    Option(
        "search",
        kinds.one_of("selective", "full", "fixed", "plain"),
        "selective (default): prune and reduce; full: every move to the full depth, checks deeper; "
        "fixed: the same, checks no deeper; plain: alpha-beta to `depth` (1) and nothing else, by "
        "the network's values alone",
    ),
    Option(
        "probabilities",
        kinds.one_of("uniform", "static", "learned"),
        "limit the search by move probabilities, as Giraffe, instead of our own reductions",
    ),
)
PLAIN = (
    Option("depth", kinds.positive_int, "search depth in plies (2)"),
    Option(
        "search",
        kinds.one_of("plain", "engine", "full", "fixed"),
        "plain (default): alpha-beta alone; engine: the engine's search, with quiescence; full: "
        "the same without pruning and reductions; fixed: also without extensions",
    ),
)
_SIMULATIONS = Option(
    "simulations",
    kinds.whole(0, 100_000_000),
    "of a tree search a move, at most (400); 0: the policy alone",
)
_TEMPERATURE = Option(
    "temperature", kinds.number(0.0, 100.0), "0 (default): the most visited move; 1: by visits"
)
_TREE = (
    Option("movetime", kinds.seconds, "time a move of a tree search: 0.05, 0.05s or 50ms"),
    Option(
        "gumbel",
        kinds.whole(0, 512),
        "moves that sequential halving begins with; 0 (default): PUCT",
    ),
    Option(
        "leaves",
        kinds.whole(1, 255),
        "positions evaluated at a time; default: what suits the network",
    ),
    Option("megabytes", kinds.whole(1, 65536), "largest tree in MiB (256)"),
    Option(
        "c_init", kinds.number(0.0, 1000.0), "weight of the policy in the choice of moves (1.745)"
    ),
    Option("c_base", kinds.number(1.0, 1e12), "visits after which that weight grows (38739)"),
    Option("c_factor", kinds.number(0.0, 1000.0), "how fast it grows (3.894)"),
    Option(
        "fpu_reduction",
        kinds.number(0.0, 10.0),
        "how much less than their parent unvisited moves count (0.33)",
    ),
    Option(
        "policy_temperature",
        kinds.number(0.01, 100.0),
        "of the policy before the search; above 1: flatter (1)",
    ),
)
TREE_SEARCH = (_SIMULATIONS, _TEMPERATURE, *_TREE)
# Of a policy that plays alone unless one of the others asks for a search.
POLICY = (
    Option(
        "temperature", kinds.number(0.0, 1e9), "0 (default): the likeliest move; 1: drawn as learnt"
    ),
    replace(_SIMULATIONS, help="of a tree search with this network"),
    *_TREE,
)
OTHERWISE = Option("otherwise", kinds.words, "player of other positions (greedy-safe)")
PROGRAM = (
    Option("timeout", kinds.seconds, "time after which a move without a clock counts as a hang"),
    Option("memory", kinds.large_int, "limit of its address space in MiB"),
)
CLASSIC = (  # engines that know no other limit than time
    SEARCH[-1],
    Option("command", kinds.words, "another program of the same engine"),
    PROGRAM[-1],
)
MODIFIERS = (
    Option("random", kinds.probability, "share of moves played at random, 0 to 1"),
    Option("book", kinds.words, "Polyglot book to play from first, or 'auto'"),
    Option("remember", kinds.words, "file of its answers by position, without history, or 'auto'"),
)


def parse_options(spec: PlayerSpec, known: tuple[Option, ...], prefix: str = "") -> dict[str, Any]:
    """Parse a player's options; errors are `SpecError`s. Options with `prefix` pass unchecked."""
    by_name = {option.name: option for option in known}
    values: dict[str, Any] = {}
    for key, text in spec.options.items():
        if prefix and key.startswith(prefix):
            values[key] = text
        elif key in by_name:
            values[key] = parse_option(spec.name, by_name[key], text)
        else:
            names = [*by_name, *(option.name for option in MODIFIERS)]
            raise SpecError(f"player {spec.name!r} has no option {key!r}; {nearest(key, names)}")
    return values


def parse_option(player: str, option: Option, text: str) -> Any:
    """Parse the value of one option."""
    try:
        return option.parse(text)
    except ValueError as error:
        raise SpecError(f"player {player!r}: {option.name}={text!r}: {error}") from error
