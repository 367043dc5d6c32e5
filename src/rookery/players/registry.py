"""All players by name: what they are, which options they take, how they are made.

`make_player("stockfish,depth=1,random=0.5")` is the way from words to a player everywhere.
Every player takes three more options: `random=P` mixes in random moves, `book=FILE` (or
`book=auto`) plays from an opening book first, and `remember=FILE` (or `remember=auto`) keeps the
answers of a slow player by position.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rookery.players import spec as kinds
from rookery.players.base import Player
from rookery.players.spec import PlayerSpec, SpecError, inner_spec, nearest, parse_spec


@dataclass(frozen=True)
class Option:
    """One option of a player."""

    name: str
    parse: Callable[[str], Any]
    help: str


@dataclass(frozen=True)
class PlayerKind:
    """A player that can be asked for by name."""

    name: str
    summary: str
    build: Callable[[str, dict[str, Any]], Player]
    options: tuple[Option, ...] = ()
    prefix: str = ""  # options that start with this are passed on unchecked ("option.")


def _bot(name: str, options: dict[str, Any]) -> Player:
    from rookery.players.greedy import BotPlayer
    from rookery.players.random import RandomPlayer

    kind = parse_spec(name).name
    return RandomPlayer(name, claims=True) if options.get("claims") else BotPlayer(kind)


def _engine(
    function: str, module: str = "rookery.players.engines"
) -> Callable[[str, dict[str, Any]], Player]:
    def build(name: str, options: dict[str, Any]) -> Player:
        made: Player = getattr(importlib.import_module(module), function)(name, options)
        return made

    return build


def _tablebase(name: str, options: dict[str, Any]) -> Player:
    from rookery.data.tablebases import find_tablebases
    from rookery.players.tablebase import TablebasePlayer

    tables = find_tablebases(options.get("gaviota"), options.get("syzygy"))
    otherwise = options.get("otherwise", "greedy-safe")
    return TablebasePlayer(tables, make_player(inner_spec(otherwise)), name)


def _policy(name: str, options: dict[str, Any]) -> Player:
    from rookery.players.model import load_player

    # The options are checked there, as for any other network.
    return load_player(parse_spec(name).name, parse_spec(name).options)


def _endgame(name: str, options: dict[str, Any]) -> Player:
    from rookery.players.endgame import endgame_player

    return endgame_player(parse_spec(name).name, options, name)


def _book(name: str, options: dict[str, Any]) -> Player:
    from rookery.players.mixed import BookPlayer

    inner = make_player(inner_spec(options.get("otherwise", "random")))
    return BookPlayer(inner, options.get("file"), name)


def _human(name: str, options: dict[str, Any]) -> Player:
    from rookery.players.human import HumanPlayer

    return HumanPlayer(unicode_pieces=not options.get("ascii", False))


def _alphabeta(name: str, options: dict[str, Any]) -> Player:
    from rookery.players.alphabeta import SHIPPED, alphabeta_player

    return alphabeta_player(name, SHIPPED, options)


_SEARCH = (
    Option("depth", kinds.positive_int, "search depth in plies"),
    Option("nodes", kinds.positive_int, "nodes a move"),
    Option("movetime", kinds.seconds, "time a move: 0.05, 0.05s or 50ms"),
)
ALPHABETA_OPTIONS = (
    *_SEARCH,
    Option("threads", kinds.positive_int, "threads (1)"),
    Option("hash", kinds.positive_int, "transposition table in MiB (16)"),
    Option("level", kinds.whole(1, 20), "strength from 1 to 20, for playing people"),
    Option("elo", kinds.positive_int, "strength as an Elo figure instead"),
)
# Parsed where the search is made (`players/mcts.py`), as for any other network.
_SIMULATIONS = "of a tree search a move (400); 0: the policy alone"
_TREE = (
    Option("movetime", str, "time a move of a tree search: 0.05, 0.05s or 50ms"),
    Option("gumbel", str, "moves that sequential halving begins with; 0 (default): PUCT"),
    Option("leaves", str, "positions judged at a time; default: what suits the network"),
    Option("megabytes", str, "largest tree in MiB (256)"),
    Option("c_init", str, "weight of the policy in the choice of moves (1.745)"),
    Option("c_base", str, "visits after which that weight grows (38739)"),
    Option("c_factor", str, "how fast it grows (3.894)"),
    Option("fpu_reduction", str, "how much less than their parent unvisited moves count (0.33)"),
    Option("policy_temperature", str, "of the policy before the search; above 1: flatter (1)"),
)
_OTHERWISE = Option("otherwise", kinds.words, "player of other positions (greedy-safe)")
_PROGRAM = (
    Option("timeout", kinds.seconds, "time after which a move without a clock counts as a hang"),
    Option("memory", kinds.positive_int, "limit of its address space in MiB"),
)

KINDS: dict[str, PlayerKind] = {
    kind.name: kind
    for kind in (
        PlayerKind(
            "random",
            "uniformly random legal moves",
            _bot,
            (Option("claims", kinds.boolean, "claim draws as one more random choice"),),
        ),
        PlayerKind("greedy", "most material after its own move, one ply deep", _bot),
        PlayerKind("greedy-safe", "mates in one, does not hang pieces or spoil wins", _bot),
        PlayerKind(
            "tablebase",
            "perfect play from endgame tables",
            _tablebase,
            (
                Option("gaviota", kinds.words, "folder of Gaviota tables"),
                Option("syzygy", kinds.words, "folder of Syzygy tables"),
                Option("otherwise", kinds.words, "player where no table helps (greedy-safe)"),
            ),
        ),
        *(
            PlayerKind(
                name,
                f"{what} by a network that has learnt it to the last position, without search",
                _endgame,
                (_OTHERWISE,),
            )
            for name, what in (
                ("kpk", "king and pawn against king, up to the promotion,"),
                ("kqk", "king and queen against king"),
                ("krk", "king and rook against king"),
                ("kpk-mate", "king and pawn against king, through the promotion to mate,"),
            )
        ),
        PlayerKind(
            "book",
            "moves of a Polyglot opening book",
            _book,
            (
                Option("file", kinds.words, "the book; default: the first in the usual places"),
                Option("otherwise", kinds.words, "player outside the book (random)"),
            ),
        ),
        PlayerKind(
            "ppo",
            "a policy that PPO taught by self-play; only options of a tree search make it search",
            _policy,
            (
                Option("temperature", str, "0 (default): the likeliest move; 1: drawn as learnt"),
                Option("simulations", str, "of a tree search with this network"),
                *_TREE,
            ),
        ),
        PlayerKind(
            "alphazero",
            "tree search with a network that AlphaZero taught by self-play",
            _policy,
            (
                Option("simulations", str, _SIMULATIONS),
                Option("temperature", str, "0 (default): the most visited move; 1: by visits"),
                *_TREE,
            ),
        ),
        PlayerKind(
            "rookery",
            "our engine: alpha-beta with a network that learned from its own games",
            _alphabeta,
            (
                *ALPHABETA_OPTIONS,
                Option("network", kinds.words, "another network: model file, run, or 'material'"),
            ),
        ),
        PlayerKind(
            "stockfish",
            "Stockfish, whole or weakened (0.1 s a move without options)",
            _engine("stockfish_player"),
            (
                Option("elo", kinds.positive_int, "UCI_Elo; on 15.1 known to be inaccurate"),
                Option("skill", kinds.whole(0, 20), "Skill Level"),
                *_SEARCH,
                Option("threads", kinds.positive_int, "threads (1)"),
                Option("hash", kinds.positive_int, "hash table in MiB (16)"),
                Option("command", kinds.words, "another Stockfish program"),
                *_PROGRAM,
            ),
        ),
        PlayerKind(
            "sunfish",
            "Sunfish, a small engine in Python",
            _engine("sunfish_player", "rookery.papers.kanis2016.sunfish"),
            (
                *_SEARCH,
                Option("native", kinds.boolean, "a copy of its search: same moves at fixed nodes"),
                Option("command", kinds.words, "another Sunfish program"),
                *_PROGRAM,
            ),
        ),
        PlayerKind(
            "uci",
            "any UCI engine: uci,command=/path/engine",
            _engine("uci_player"),
            (
                Option("command", kinds.words, "program and arguments; no shell is used"),
                *_SEARCH,
                *_PROGRAM,
                Option("option.NAME", kinds.words, "a UCI option, for example option.Hash=64"),
            ),
            prefix="option.",
        ),
        PlayerKind(
            "human",
            "you, at the terminal",
            _human,
            (Option("ascii", kinds.boolean, "letters instead of chess symbols"),),
        ),
    )
}

# Model files and run folders, by what taught them; a list for people, built by `players/model.py`.
NETWORKS = (
    ("of ppo", KINDS["ppo"].options),
    ("of alphazero or supervised", KINDS["alphazero"].options),
    ("of engine, tdleaf or tdleaf-giraffe", ALPHABETA_OPTIONS),
    ("of an ending such as kpk", (_OTHERWISE,)),
)

MODIFIERS = (
    Option("random", kinds.probability, "share of moves played at random, 0 to 1"),
    Option("book", kinds.words, "Polyglot book to play from first, or 'auto'"),
    Option("remember", kinds.words, "file of its answers by position, without history, or 'auto'"),
)


def make_player(text: str) -> Player:
    """Make a player from words; every error is a `SpecError` naming the word and a remedy."""
    parsed = parse_spec(text)
    options = dict(parsed.options)
    modifiers = {
        option.name: _value(parsed, option, options.pop(option.name))
        for option in MODIFIERS
        if option.name in options
    }
    kind = KINDS.get(parsed.name)
    if kind is None:
        player = _path_player(parsed, options)
    else:
        player = kind.build(str(PlayerSpec(parsed.name, options)), _values(parsed, kind, options))
    if modifiers:
        player = _modified(player, str(parsed), modifiers)
    return player


def check_player(text: str) -> str:
    """Make and close a player, so that mistakes show before a match; returns its normal form."""
    make_player(text).close()
    return str(parse_spec(text))


def _values(parsed: PlayerSpec, kind: PlayerKind, options: dict[str, str]) -> dict[str, Any]:
    known = {option.name: option for option in kind.options}
    values: dict[str, Any] = {}
    for key, text in options.items():
        if kind.prefix and key.startswith(kind.prefix):
            values[key] = text
        elif key in known:
            values[key] = _value(parsed, known[key], text)
        else:
            names = [*known, *(option.name for option in MODIFIERS)]
            raise SpecError(f"player {parsed.name!r} has no option {key!r}; {nearest(key, names)}")
    return values


def parse_options(
    source: str, written: Mapping[str, str], known: tuple[Option, ...]
) -> dict[str, Any]:
    """Values of the options of a model file's player; every mistake is a `SpecError`."""
    kind = PlayerKind(source, "", _human, known)
    return _values(PlayerSpec(source, written), kind, dict(written))


def _value(parsed: PlayerSpec, option: Option, text: str) -> Any:
    try:
        return option.parse(text)
    except ValueError as error:
        raise SpecError(f"player {parsed.name!r}: {option.name}={text!r}: {error}") from error


def _modified(player: Player, name: str, modifiers: dict[str, Any]) -> Player:
    from rookery.players.mixed import BookPlayer, MixedPlayer

    if "remember" in modifiers:
        from rookery.players.remembered import RememberedPlayer, answers_file

        chosen = modifiers["remember"]
        file = answers_file(player.name) if chosen == "auto" else Path(chosen)
        player = RememberedPlayer(player, file)
    if "random" in modifiers:
        player = MixedPlayer(player, modifiers["random"], name)
    if "book" in modifiers:
        path = None if modifiers["book"] == "auto" else modifiers["book"]
        player = BookPlayer(player, path, name)
    return player


def _path_player(parsed: PlayerSpec, options: dict[str, str]) -> Player:
    """A model file or run folder."""
    looks_like_path = "/" in parsed.name or parsed.name.endswith(".safetensors")
    if not looks_like_path and not Path(parsed.name).exists():
        raise SpecError(f"unknown player {parsed.name!r}; {nearest(parsed.name, KINDS)}")
    if not Path(parsed.name).exists():
        raise SpecError(f"player {parsed.name!r}: there is no such file or folder")
    model = importlib.import_module("rookery.players.model")
    made: Player = model.load_player(parsed.name, options)
    return made
