"""The alpha-beta engine as a player: `rookery`, and every model file of a value network.

Options (`rookery,depth=8`, `runs/engine,nodes=10000`): limits `depth`, `nodes` and `movetime`,
`threads`, `hash` in MiB, `level` 1 to 20 or `elo` for a weaker game, and for `rookery` another
`network`. Without any limit a move takes 0.1 s. With a network of the family `nnue` neither torch
nor safetensors is needed.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

import numpy as np

from rookery._core import (
    BatchEvaluator,
    Engine,
    Game,
    MoveError,
    NetworkError,
    NnueNetwork,
    mate_moves,
)
from rookery._core import SearchResult as CoreResult
from rookery.base.scales import value_of_score
from rookery.players.base import Capabilities, Decision, Limits
from rookery.players.levels import (
    HIGHEST_ELO,
    LEVELS,
    LOWEST_ELO,
    Level,
    choose_line,
    elo_parameters,
    level_parameters,
)
from rookery.players.spec import PlayerSpec, SpecError
from rookery.players.thinking import Line, Setting, Thought

SHIPPED = "rookery"
MATERIAL = "material"
DEFAULT_SECONDS = 0.1
DEFAULT_HASH = 16  # MiB
MAX_HASH = 1 << 20  # MiB
MAX_THREADS = 256
FULL_STRENGTH = 0  # as a level
DEFAULT_OVERHEAD = 10  # ms

# Chances of a win and a loss are two logistic curves: sigmoid((score - 330) / 300) and its mirror
# image. At 0 that is 25 % won and 50 % drawn, and the slope of the expected score there is that of
# sigmoid(score / 400), which the network was trained for.
WIN_OFFSET = 330.0
WIN_SCALE = 300.0


class AlphaBetaPlayer:
    """Searches with a network's values; a `Thinker`."""

    def __init__(
        self,
        evaluator: NnueNetwork | BatchEvaluator,
        name: str = SHIPPED,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        movetime: float | None = None,
        threads: int = 1,
        hash: int = DEFAULT_HASH,
        level: int | None = None,
        elo: int | None = None,
        seed: int | None = None,
    ) -> None:
        """Make an engine.

        Args:
            evaluator: Evaluates positions.
            name: The player's name in results.
            depth: Plies; takes precedence over the match's depth and nodes, as do the next two.
            nodes: Nodes a move; with one thread never exceeded.
            movetime: Seconds a move; where the match has one too, the smaller counts.
            threads: Threads of a search.
            hash: Transposition table in MiB.
            level: 1 (weakest) to 20; None: as strong as it can.
            elo: Instead of a level, see `players.levels`.
            seed: Of the choices that `think` makes at a level; `choose` is given a generator.
        """
        if level is not None and elo is not None:
            raise ValueError("give either level or elo, not both")
        self.name = name
        self.settings = _settings(threads, hash, level, elo)
        self._engine = Engine(evaluator, threads, hash)
        self._depth, self._nodes, self._movetime = depth, nodes, movetime
        self._own_level = FULL_STRENGTH if level is None else level
        self._limited = elo is not None
        self._elo = HIGHEST_ELO if elo is None else elo
        self._level: Level | None = None
        self._choose_level()
        self._overhead = DEFAULT_OVERHEAD / 1000
        self._rng = np.random.default_rng(seed)

    @property
    def capabilities(self) -> Capabilities:
        """Timed by its own movetime, or if neither it nor the match limits depth or nodes."""
        own = (self._depth, self._nodes, self._level)
        bounded = any(limit is not None for limit in own)
        return Capabilities(timed=self._movetime is not None or (False if bounded else None))

    # Player

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Search within the player's own limits and the match's."""
        arguments = self._arguments(game, limits or Limits())
        if not any(key in arguments for key in ("depth", "nodes", "movetime", "clock")):
            arguments["movetime"] = DEFAULT_SECONDS
        self._engine.prepare()
        return self._search(game, arguments, 1, rng)

    def new_game(self) -> None:
        """Forget the table and the histories."""
        self._engine.new_game()

    def close(self) -> None:
        """End a search that runs."""
        self._engine.stop()

    # Thinker

    def configure(self, name: str, value: str) -> None:
        """Change a setting; names as in UCI, in any case."""
        setting = _find(self.settings, name)
        match setting.name:
            case "Hash":
                self._engine.set_hash(_number(setting, value))
            case "Threads":
                self._engine.set_threads(_number(setting, value))
            case "Move Overhead":
                self._overhead = _number(setting, value) / 1000
            case "Clear Hash":
                self._engine.new_game()
            case "Level":
                self._own_level = _number(setting, value)
                self._choose_level()
            case "UCI_LimitStrength":
                self._limited = _truth(setting, value)
                self._choose_level()
            case "UCI_Elo":
                self._elo = _number(setting, value)
                self._choose_level()

    def _choose_level(self) -> None:
        """An Elo that is asked for goes before the level, as chess programs know it."""
        if self._limited:
            self._level = elo_parameters(self._elo)
        elif self._own_level == FULL_STRENGTH:
            self._level = None
        else:
            self._level = level_parameters(self._own_level)

    def think(
        self,
        game: Game,
        limits: Limits,
        report: Callable[[Thought], None] | None = None,
        *,
        lines: int = 1,
        search_moves: Sequence[str] | None = None,
        pondering: bool = False,
    ) -> Decision:
        """Search until the limits are met or `stop` is called."""
        self._engine.prepare()
        arguments = self._arguments(game, limits)
        arguments["pondering"] = pondering
        arguments["search_moves"] = list(search_moves or ())
        if report is not None:
            told = report
            arguments["report"] = lambda result: told(thought_of(result, lines))
        return self._search(game, arguments, lines, self._rng)

    def stop(self) -> None:
        """End a running search."""
        self._engine.stop()

    def ponderhit(self) -> None:
        """Limits count from now on."""
        self._engine.ponderhit()

    # Searching

    def _search(
        self, game: Game, arguments: dict[str, Any], lines: int, rng: np.random.Generator
    ) -> Decision:
        level = self._level
        if level is not None:
            lines = max(lines, level.lines)
            arguments["nodes"] = min(level.nodes, arguments.get("nodes", level.nodes))
        result = self._engine.search(game, lines=lines, **arguments)
        if not result.best:
            raise MoveError(f"there is no legal move to choose in {game.fen()!r}")
        place = 0
        if level is not None:
            place = choose_line([line.score for line in result.lines], level.noise, rng)
        line = result.lines[place]
        details: dict[str, object] = {
            "nodes": result.nodes,
            "depth": result.depth,
            "seconds": result.seconds,
        }
        mate = mate_moves(line.score)
        details |= {"centipawns": line.score} if mate is None else {"mate": mate}
        moves = tuple(line.moves)
        return Decision(moves[0], value_of_score(line.score), moves, details=details)

    def _arguments(self, game: Game, limits: Limits) -> dict[str, Any]:
        """Limits as the core wants them; the player's own go before the match's."""
        arguments: dict[str, Any] = {}
        depth, nodes = self._depth, self._nodes
        if depth is None and nodes is None and self._movetime is None:
            depth, nodes = limits.depth, limits.nodes
        if depth is not None:
            arguments["depth"] = max(1, min(depth, 1000))
        if nodes is not None:
            arguments["nodes"] = max(1, min(nodes, 2**62))
        times = [t for t in (self._movetime, limits.movetime) if t is not None]
        if times:
            arguments["movetime"] = max(0.001, min(*times, 1e9))
        left = limits.white_time if game.turn else limits.black_time
        if left is not None:
            increment = limits.white_increment if game.turn else limits.black_increment
            arguments["clock"] = min(left, 1e9)
            arguments["increment"] = min(increment or 0.0, 1e9)
            arguments["moves_to_go"] = max(0, min(limits.moves_to_go or 0, 1000))
            arguments["overhead"] = self._overhead
        return arguments


def win_draw_loss(score: int) -> tuple[int, int, int]:
    """Chances per mille for the side to move, by the curves described above."""
    mate = mate_moves(score)
    if mate is not None:
        return (1000, 0, 0) if score > 0 else (0, 0, 1000)

    def chance(x: float) -> int:
        return round(1000 / (1 + math.exp(-max(-50.0, min(50.0, x)))))

    win = chance((score - WIN_OFFSET) / WIN_SCALE)
    loss = chance((-score - WIN_OFFSET) / WIN_SCALE)
    return win, 1000 - win - loss, loss


def thought_of(result: CoreResult, most: int | None = None) -> Thought:
    """A report of the core in the words of `Thinker`.

    At most `most` lines are told: a level compares more than it was asked for.
    """
    lines = []
    for line in result.lines[:most]:
        mate = mate_moves(line.score)
        lines.append(
            Line(
                moves=tuple(line.moves),
                value=value_of_score(line.score),
                centipawns=line.score if mate is None else None,
                mate=mate,
                win_draw_loss=win_draw_loss(line.score),
                bound=cast(Literal["exact", "lower", "upper"], line.bound),
            )
        )
    return Thought(
        lines=tuple(lines),
        depth=result.depth,
        selective_depth=result.selective_depth,
        nodes=result.nodes,
        seconds=result.seconds,
        hash_full=result.hash_full,
    )


# Settings


def _settings(threads: int, hash: int, level: int | None, elo: int | None) -> tuple[Setting, ...]:
    """What can be changed; defaults are what the player was made with."""
    return (
        Setting("Hash", "spin", str(hash), 1, max(hash, most_hash())),
        Setting("Threads", "spin", str(threads), 1, MAX_THREADS),
        Setting("Move Overhead", "spin", str(DEFAULT_OVERHEAD), 0, 5000),
        Setting("Level", "spin", str(level or FULL_STRENGTH), FULL_STRENGTH, len(LEVELS)),
        Setting("UCI_LimitStrength", "check", "false" if elo is None else "true"),
        Setting("UCI_Elo", "spin", str(elo or HIGHEST_ELO), LOWEST_ELO, HIGHEST_ELO),
        Setting("Clear Hash", "button"),
    )


def most_hash() -> int:
    """The largest table in MiB that is offered: three quarters of the machine's memory.

    The table is written to when it is made, so that a larger one would not be refused but would
    end this process, or another.
    """
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):  # not every system tells
        return MAX_HASH
    return max(DEFAULT_HASH, min(MAX_HASH, memory * 3 // 4 >> 20))


def _find(settings: Sequence[Setting], name: str) -> Setting:
    for setting in settings:
        if setting.name.lower() == name.strip().lower():
            return setting
    known = ", ".join(setting.name for setting in settings)
    raise ValueError(f"there is no setting {name!r}; there are {known}")


def _number(setting: Setting, value: str) -> int:
    low, high = setting.low, setting.high
    assert low is not None and high is not None
    text = value.strip()
    if not text.lstrip("-").isdecimal() or len(text) > 20 or not low <= int(text) <= high:
        raise ValueError(f"{setting.name} is {value!r}; it must be a number from {low} to {high}")
    return int(text)


def _truth(setting: Setting, value: str) -> bool:
    text = value.strip().lower()
    if text not in ("true", "false"):
        raise ValueError(f"{setting.name} is {value!r}; it must be true or false")
    return text == "true"


# From words


def read_network(source: str) -> NnueNetwork:
    """The network of a model file or run folder, the shipped one, or `material`.

    Raises:
        ModelFileError: naming the source and what is wrong with it.
    """
    from rookery.encodings import NO_ACTIONS
    from rookery.nets.evaluator import read_model
    from rookery.nets.model_arrays import parse_arrays
    from rookery.nets.model_file import ModelFileError

    if source == MATERIAL:
        return NnueNetwork.material()
    origin, data = read_model(source)
    arrays, info = parse_arrays(data, origin)
    names = ("feature_weights", "feature_bias", "output_weights", "output_bias")
    if info.family != "nnue" or set(arrays) != set(names):
        raise ModelFileError(
            f"{origin} holds a network of the family {info.family!r} with the tensors "
            f"{', '.join(sorted(arrays))}; the engine needs 'nnue' with {', '.join(names)}"
        )
    try:
        network = NnueNetwork(*(arrays[name] for name in names))
    except NetworkError as error:
        raise ModelFileError(f"{origin}: {error}") from None
    said = {"observation": info.observation, "actions": info.actions, "sizes": dict(info.sizes)}
    buckets, width = arrays["output_weights"].shape
    sizes = {"hidden": width // 2, "buckets": buckets}
    real = {"observation": "nnue768", "actions": NO_ACTIONS, "sizes": sizes}
    for entry, value in real.items():
        if said[entry] != value:
            raise ModelFileError(
                f"{origin}: the metadata says {entry} {str(said[entry])[:100]}, but its tensors "
                f"are those of {entry} {value}"
            )
    return network


def read_evaluator(source: str) -> NnueNetwork | BatchEvaluator:
    """What the search evaluates with: the sparse network of the engine, or any value network.

    Raises:
        ModelFileError: as `read_network`.
    """
    from rookery.encodings import OBSERVATIONS
    from rookery.nets.evaluator import read_model
    from rookery.nets.model_file import info_of, parse_model
    from rookery.nets.registry import FAMILIES

    if source == MATERIAL:
        return NnueNetwork.material()
    origin, data = read_model(source)
    info = info_of(data, origin)
    if FAMILIES.find(info.family).output == "value" and info.observation in OBSERVATIONS:
        from rookery.nets.value_evaluator import value_evaluator

        return value_evaluator(parse_model(data, origin)[0], origin)
    return read_network(source)  # its error says what the engine needs


def alphabeta_player(spec: PlayerSpec, options: dict[str, Any]) -> AlphaBetaPlayer:
    """A player from a model file, a run folder or the shipped network.

    Args:
        spec: Its name is the network's.
        options: Of `rookery.players.options.ALPHA_BETA`, and `network` to search with another.
    """
    from rookery.nets.model_file import ModelFileError

    source = str(options.get("network", spec.name))
    try:
        evaluator = read_evaluator(source)
    except ModelFileError as error:
        if source == SHIPPED:
            raise SpecError(
                "player 'rookery': this installation has no network rookery.safetensors; train "
                "one with 'rookery train engine' and play it as runs/NAME or with network=FILE"
            ) from error
        raise
    chosen = {key: value for key, value in options.items() if key != "network"}
    try:
        return AlphaBetaPlayer(evaluator, str(spec), **chosen)
    except ValueError as error:
        raise SpecError(f"player {str(spec)!r}: {error}") from error
