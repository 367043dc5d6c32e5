"""The registry of players: their options and how they are made.

`make_player("stockfish,depth=1,random=0.5")` makes any player from its specification. Most kinds
are selected by name; a model file or run folder is played by the kind that its algorithm registers,
or else its network family.

Every player takes three more options: `random=P` mixes in random moves, `book=FILE` (or
`book=auto`) plays from an opening book first, and `remember=FILE` (or `remember=auto`) caches the
moves of a slow player by position.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rookery.base.registry import Registry, load
from rookery.nets.registry import FAMILIES
from rookery.players import offered_levels as levels
from rookery.players import options as tables
from rookery.players import spec as kinds
from rookery.players.base import Player
from rookery.players.offered_levels import Levels
from rookery.players.options import Option
from rookery.players.spec import PlayerSpec, SpecError, nearest, parse_spec
from rookery.runs.algorithms import ALGORITHMS

if TYPE_CHECKING:
    from rookery.nets.model_file import ModelInfo


@dataclass(frozen=True)
class PlayerKind:
    """A kind of player; `build` is given as "module:function" and loaded on first use."""

    name: str
    summary: str
    build: str  # function(spec: PlayerSpec, options: dict of parsed values) -> Player
    options: tuple[Option, ...] = ()
    prefix: str = ""  # options that start with this are passed on unchecked ("option.")
    networks: bool = False  # plays networks, selected by their paths instead of its own name
    levels: Levels = levels.PLAIN  # offered on the web page
    offered: bool = True  # whether the web page offers it at all
    may_lack: bool = False  # needs programs or files that may be missing: tried before offering
    page_options: Mapping[str, str] = field(default_factory=dict)  # of networks on the web page


_BOT = "rookery.players.bots:bot_player"
_ENDGAME = "rookery.players.endgame:endgame_player"


def _classic(name: str, title: str) -> PlayerKind:
    return PlayerKind(
        name,
        f"{title}, an engine with a published rating (0.1 s a move without options)",
        "rookery.players.programs.classic_engines:classic_player",
        tables.CLASSIC,
        levels=levels.TIMED,
        may_lack=True,
    )


def _ending(name: str, what: str) -> PlayerKind:
    summary = f"{what} by a network that has learnt it to the last position, without search"
    return PlayerKind(name, summary, _ENDGAME, (tables.OTHERWISE,))


KINDS = Registry(
    "player",
    "rookery.players",
    PlayerKind,
    (
        PlayerKind(
            "random",
            "uniformly random legal moves",
            _BOT,
            (Option("claims", kinds.boolean, "claim draws as one more random choice"),),
        ),
        PlayerKind("greedy", "most material after its own move, one ply deep", _BOT),
        PlayerKind("greedy-safe", "mates in one, does not hang pieces or spoil wins", _BOT),
        PlayerKind(
            "beginner",
            "overlooks what people overlook, one move ahead",
            "rookery.players.beginners.player:beginner_player",
            (Option("skill", kinds.probability, "0 (sees little) to 1 (0.5)"),),
            levels=levels.BEGINNER,
        ),
        PlayerKind(
            "tablebase",
            "perfect play from endgame tables",
            "rookery.players.tablebase:tablebase_player",
            (
                Option("gaviota", kinds.words, "folder of Gaviota tables"),
                Option("syzygy", kinds.words, "folder of Syzygy tables"),
                Option("otherwise", kinds.words, "player where no table helps (greedy-safe)"),
            ),
            may_lack=True,
        ),
        PlayerKind(
            "solver",
            "proven best moves, for small boards and short games",
            "rookery.players.solver:solver_player",
            (
                Option("moves", kinds.positive_int, "longest mate to look for (8)"),
                Option("nodes", kinds.large_int, "limit of each proof (300000)"),
            ),
            offered=False,  # on the standard board it proves next to nothing
        ),
        _ending("kpk", "king and pawn against king, up to the promotion,"),
        _ending("kqk", "king and queen against king"),
        _ending("krk", "king and rook against king"),
        _ending("kpk-mate", "king and pawn against king, through the promotion to mate,"),
        PlayerKind(
            "book",
            "moves of a Polyglot opening book",
            "rookery.players.mixed:book_player",
            (
                Option("file", kinds.words, "the book; default: the first in the usual places"),
                Option("otherwise", kinds.words, "player outside the book (random)"),
            ),
            offered=False,  # the file is the operator's choice
        ),
        PlayerKind(
            "ppo",
            "a policy that PPO taught by self-play; only options of a tree search make it search",
            "rookery.players.policy:policy_player",
            tables.POLICY,
        ),
        PlayerKind(
            "alphazero",
            "tree search with a network that AlphaZero taught by self-play",
            "rookery.players.mcts:mcts_player",
            tables.TREE_SEARCH,
            levels=levels.TREE_SEARCH,
        ),
        PlayerKind(
            "pepper",
            "tree search on hand-made features (Deep Pepper), taught by Stockfish and self-play",
            "rookery.players.mcts:mcts_player",
            tables.TREE_SEARCH,
            levels=levels.TREE_SEARCH,
        ),
        PlayerKind(
            "rookery",
            "our engine: alpha-beta with a network that learned from its own games",
            "rookery.players.alphabeta:alphabeta_player",
            (
                *tables.ALPHA_BETA,
                Option("network", kinds.words, "another network: model file, run, or 'material'"),
            ),
            levels=levels.ENGINE,
            may_lack=True,
        ),
        PlayerKind(
            "ddqn",
            "alpha-beta with a network that double DQN taught by self-play",
            "rookery.players.alphabeta:alphabeta_player",
            tables.ALPHA_BETA,
            levels=levels.ENGINE,
        ),
        PlayerKind(
            "simplified",
            "material and piece-square tables, two plies deep",
            "rookery.players.plain:simplified_player",
            tables.PLAIN,
        ),
        PlayerKind(
            "giraffe",
            "alpha-beta with a network over hand-made features that TD-leaf taught by self-play",
            "rookery.players.alphabeta:alphabeta_player",
            tables.ALPHA_BETA,
            levels=levels.SEARCH,
            may_lack=True,
        ),
        PlayerKind(
            "stockfish",
            "Stockfish, whole or weakened (0.1 s a move without options)",
            "rookery.players.programs.builders:stockfish_player",
            (
                Option("elo", kinds.positive_int, "UCI_Elo; on 15.1 known to be inaccurate"),
                Option("skill", kinds.whole(0, 20), "Skill Level"),
                *tables.SEARCH,
                Option("threads", kinds.positive_int, "threads (1)"),
                Option("hash", kinds.positive_int, "hash table in MiB (16)"),
                Option("command", kinds.words, "another Stockfish program"),
                *tables.PROGRAM,
            ),
            levels=levels.SEARCH,
            may_lack=True,
        ),
        PlayerKind(
            "fairy-stockfish",
            "Fairy-Stockfish, for boards that have a name there (0.1 s a move without options)",
            "rookery.players.programs.builders:fairy_stockfish_player",
            (
                *tables.SEARCH,
                Option("threads", kinds.positive_int, "threads (1)"),
                Option("hash", kinds.positive_int, "hash table in MiB (16)"),
                Option("command", kinds.words, "another Fairy-Stockfish program"),
                *tables.PROGRAM,
            ),
            may_lack=True,
            offered=False,  # on the standard board it is an older Stockfish
        ),
        PlayerKind(
            "sunfish",
            "Sunfish, a small engine in Python",
            "rookery.papers.kanis2016.sunfish:sunfish_player",
            (
                *tables.SEARCH,
                Option("native", kinds.boolean, "a copy of its search: same moves at fixed nodes"),
                Option("command", kinds.words, "another Sunfish program"),
                *tables.PROGRAM,
            ),
            levels=levels.SEARCH,
            may_lack=True,
        ),
        _classic("gnuchess", "GNU Chess"),
        _classic("phalanx", "Phalanx"),
        _classic("hoichess", "HoiChess"),
        _classic("fairymax", "Fairy-Max"),
        PlayerKind(
            "uci",
            "any UCI engine: uci,command=/path/engine",
            "rookery.players.programs.builders:uci_player",
            (
                Option("command", kinds.words, "program and arguments; no shell is used"),
                *tables.SEARCH,
                *tables.PROGRAM,
                Option("option.NAME", kinds.words, "a UCI option, for example option.Hash=64"),
            ),
            prefix="option.",
            offered=False,  # the program is the operator's choice
        ),
        PlayerKind(
            "human",
            "you, at the terminal",
            "rookery.players.human:human_player",
            (Option("ascii", kinds.boolean, "letters instead of chess symbols"),),
            offered=False,
        ),
        # Kinds that play networks; the summaries name the algorithms.
        PlayerKind(
            "policy", "of ppo", "rookery.players.policy:policy_player", tables.POLICY, networks=True
        ),
        PlayerKind(
            "tree-search",
            "of alphazero, pepper or supervised",
            "rookery.players.mcts:mcts_player",
            tables.TREE_SEARCH,
            networks=True,
            levels=levels.TREE_SEARCH,
            page_options={"simulations": "400"},
        ),
        PlayerKind(
            "alpha-beta",
            "of engine, ddqn, tdleaf or giraffe",
            "rookery.players.alphabeta:alphabeta_player",
            tables.ALPHA_BETA,
            networks=True,
            levels=levels.ENGINE,
        ),
        PlayerKind(
            "plain-alpha-beta",
            "of ddqn-paper",
            "rookery.players.plain:plain_player",
            tables.PLAIN,
            networks=True,
        ),
        PlayerKind(
            "endgame", "of an ending such as kpk", _ENDGAME, (tables.OTHERWISE,), networks=True
        ),
    ),
)


def named_kinds() -> list[PlayerKind]:
    """The kinds that are selected by their own name."""
    return [kind for kind in KINDS.values() if not kind.networks]


def make_player(text: str) -> Player:
    """Make a player from its specification; a `SpecError` names the fault and a remedy."""
    parsed = parse_spec(text)
    options = dict(parsed.options)
    modifiers = {
        option.name: tables.parse_option(parsed.name, option, options.pop(option.name))
        for option in tables.MODIFIERS
        if option.name in options
    }
    kind = _kind(parsed.name)
    spec = PlayerSpec(parsed.name, options)
    values = tables.parse_options(spec, kind.options, kind.prefix)
    player: Player = load(kind.build)(spec, values)
    if modifiers:
        player = _modified(player, str(parsed), modifiers)
    return player


def check_player(text: str) -> str:
    """Make and close a player, to find errors before a match; returns the canonical form."""
    make_player(text).close()
    return str(parse_spec(text))


def kind_of(info: ModelInfo) -> PlayerKind:
    """The kind that plays the network of a model file."""
    algorithm = ALGORITHMS.get(str(info.recipe.get("algorithm", "")))
    name = algorithm.player if algorithm is not None else ""
    return KINDS.find(name or FAMILIES.find(info.family).player)


def is_alphabeta(name: str) -> bool:
    """Whether the player of this name or path searches by alpha-beta with a value network."""
    return _kind(name).build == KINDS["alpha-beta"].build


def _kind(name: str) -> PlayerKind:
    """The kind of this name, or the one that plays the model file or run folder at this path."""
    kind = KINDS.get(name)
    if kind is not None and not kind.networks:
        return kind
    if Path(name).exists():
        if name.endswith(".onnx"):
            return KINDS["policy"]  # its metadata can be read only with ONNX Runtime
        from rookery.nets.evaluator import read_model
        from rookery.nets.model_file import family_of, info_of

        origin, data = read_model(name)
        info = info_of(data, origin)
        family_of(info, origin)  # names the file if the family is unknown
        return kind_of(info)
    if "/" in name or name.endswith(".safetensors"):
        raise SpecError(f"player {name!r}: there is no such file or folder")
    names = (named.name for named in named_kinds())
    raise SpecError(KINDS.fault(name) or f"unknown player {name!r}; {nearest(name, names)}")


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
