"""The alpha-beta engine as a player: `rookery`, and every model file of a value network.

Options (`rookery,depth=8`, `runs/engine,nodes=10000`): limits `depth`, `nodes` and `movetime`,
`threads`, `hash` in MiB, `level` 1 to 20 or `elo` for weaker play, `search=full` for a search
without pruning and reductions, `search=fixed` for one without extensions as well, `search=plain`
for a fixed depth without quiescence (at `depth=1` the move after which the network's value is
best), `probabilities` for Giraffe's probability-limited search, and for `rookery` another
`network`. Without limits a move takes 0.1 s.
Networks of the families `nnue` and `giraffe` need neither torch nor safetensors.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

import numpy as np
from numpy.random import Generator

from rookery._core import (
    BatchEvaluator,
    Engine,
    Game,
    MoveError,
    MoveNet,
    NetworkError,
    NnueNetwork,
    PositionEvaluator,
    mate_moves,
)
from rookery._core import SearchResult as CoreResult
from rookery.base.scales import value_of_score
from rookery.players.base import Capabilities, Decision, Limits, Player, require_board
from rookery.players.lateness import Lateness
from rookery.players.levels import (
    HIGHEST_ELO,
    LEVELS,
    LOWEST_ELO,
    Level,
    choose_line,
    elo_parameters,
    is_calibrated,
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
FULL_SEARCHES = ("full", "fixed")  # of the option `search`: without pruning and reductions

# Win and loss probabilities are two logistic curves: sigmoid((score - 330) / 300) and its mirror
# image. At 0 that is 25 % won and 50 % drawn, and the expected score has the slope of
# sigmoid(score / 400), which the network was trained for.
WIN_OFFSET = 330.0
WIN_SCALE = 300.0


class AlphaBetaPlayer:
    """Alpha-beta search with a value network; a `Thinker`."""

    def __init__(
        self,
        evaluator: NnueNetwork | BatchEvaluator | PositionEvaluator,
        name: str = SHIPPED,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        movetime: float | None = None,
        threads: int = 1,
        hash: int = DEFAULT_HASH,
        level: int | None = None,
        elo: int | None = None,
        search: str = "selective",
        probabilities: str | None = None,
        moves: MoveNet | None = None,
        seed: int | None = None,
        rated: bool = False,
    ) -> None:
        """Make an engine.

        Args:
            evaluator: Evaluates positions.
            name: The player's name in results.
            depth: Plies; overrides the match's depth and nodes, as do the next two.
            nodes: Nodes per move; with one thread never exceeded.
            movetime: Seconds per move; if the match has a limit too, the smaller applies.
            threads: Threads of a search.
            hash: Transposition table in MiB.
            level: 1 (weakest) to 20; None: full strength.
            elo: Strength as an Elo figure instead of a level; only with `rated`.
            search: "selective", or "full": every move is searched to the full depth, and one ply
                deeper for each check in the line; stronger at a small fixed depth, weaker in a
                given time. "fixed": the same without that, so that lines end at the depth, but for
                captures and replies to check of the quiescence.
            probabilities: "uniform", "static" or "learned": limit the search by the product of
                move probabilities (core/alphabeta/move_budget.h); None: by the depth.
            moves: Gives the learned probabilities.
            seed: Of the random choices of `think` at a level; `choose` has its own generator.
            rated: Whether the Elo figures of the levels were measured with this network.
        """
        if elo is not None and not rated:
            raise ValueError(
                "its strength at a level has not been measured in Elo; give level=1 to 20 instead"
            )
        if level is not None and elo is not None:
            raise ValueError("give either level or elo, not both")
        self.name = name
        self.settings = _settings(threads, hash, level, elo, rated)
        self._engine = Engine(evaluator, threads, hash)
        if search in FULL_SEARCHES and probabilities is not None:
            raise ValueError(f"give either search={search} or probabilities, not both")
        self._engine.set_selective(search not in FULL_SEARCHES, extend_checks=search == "full")
        if probabilities is not None:
            self._engine.set_probabilities(probabilities, moves)
        self._depth, self._nodes, self._movetime = depth, nodes, movetime
        self._own_level = FULL_STRENGTH if level is None else level
        self._limited = elo is not None
        self._elo = HIGHEST_ELO if elo is None else elo
        self._level: Level | None = None
        self._choose_level()
        self._overhead = DEFAULT_OVERHEAD / 1000
        self._lateness = Lateness()
        self._rng = np.random.default_rng(seed)

    @property
    def capabilities(self) -> Capabilities:
        """Timed with its own movetime, or if neither it nor the match limits depth or nodes."""
        own = (self._depth, self._nodes, self._level)
        bounded = any(limit is not None for limit in own)
        return Capabilities(timed=self._movetime is not None or (False if bounded else None))

    # Player

    def choose(self, game: Game, rng: Generator, limits: Limits | None = None) -> Decision:
        """Search within the player's own limits and the match's."""
        arguments = self._arguments(game, limits or Limits())
        if not any(key in arguments for key in ("depth", "nodes", "movetime", "clock")):
            arguments["movetime"] = DEFAULT_SECONDS
        self._engine.prepare()
        return self._search(game, arguments, 1, rng, limits)

    def new_game(self) -> None:
        """Clear the transposition table and the histories."""
        self._engine.new_game()

    def close(self) -> None:
        """Stop a running search."""
        self._engine.stop()

    # Thinker

    def configure(self, name: str, value: str) -> None:
        """Change a setting; names as in UCI, case-insensitive."""
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
            case "UCI_LimitStrength":
                self._limited = _truth(setting, value)
            case "UCI_Elo":
                self._elo = _number(setting, value)
        self._choose_level()

    def _choose_level(self) -> None:
        """UCI_LimitStrength with UCI_Elo overrides the level."""
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
        return self._search(game, arguments, lines, self._rng, None if pondering else limits)

    def stop(self) -> None:
        """Stop a running search."""
        self._engine.stop()

    def ponderhit(self) -> None:
        """Apply the limits from now on."""
        self._engine.ponderhit()

    # Searching

    def _search(
        self,
        game: Game,
        arguments: dict[str, Any],
        lines: int,
        rng: Generator,
        limits: Limits | None,
    ) -> Decision:
        """Search; `limits` are those of the match, if its clock runs."""
        level = self._level
        if level is not None:
            lines = max(lines, level.lines)
            arguments["nodes"] = min(level.nodes, arguments.get("nodes", level.nodes))
        result = self._engine.search(game, lines=lines, **arguments)
        if limits is not None:
            self._lateness.end(game, limits, result.seconds - result.late_seconds)
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
        """Limits as arguments of the core; the player's own override the match's."""
        require_board(self.name, self.capabilities.boards, game.board)
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
        clock = self._lateness.begin(game, limits)
        if clock is not None:
            arguments["clock"] = min(clock.left, 1e9)
            arguments["increment"] = min(clock.increment, 1e9)
            arguments["moves_to_go"] = max(0, min(limits.moves_to_go or 0, 1000))
            arguments["overhead"] = self._overhead
        return arguments


def win_draw_loss(score: int) -> tuple[int, int, int]:
    """Win, draw and loss probabilities per mille for the side to move, as described above."""
    if mate_moves(score) is not None:
        return (1000, 0, 0) if score > 0 else (0, 0, 1000)

    def chance(x: float) -> int:
        return round(1000 / (1 + math.exp(-max(-50.0, min(50.0, x)))))

    win = chance((score - WIN_OFFSET) / WIN_SCALE)
    loss = chance((-score - WIN_OFFSET) / WIN_SCALE)
    return win, 1000 - win - loss, loss


def thought_of(result: CoreResult, most: int | None = None) -> Thought:
    """A search result of the core as a `Thought` with at most `most` lines.

    At a level more lines are searched than were asked for.
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


def _settings(
    threads: int, hash: int, level: int | None, elo: int | None, rated: bool
) -> tuple[Setting, ...]:
    """The settings, with the player's own values as defaults; those in Elo only if `rated`."""
    strength = (
        Setting("UCI_LimitStrength", "check", "false" if elo is None else "true"),
        Setting("UCI_Elo", "spin", str(elo or HIGHEST_ELO), LOWEST_ELO, HIGHEST_ELO),
    )
    return (
        Setting("Hash", "spin", str(hash), 1, max(hash, most_hash())),
        Setting("Threads", "spin", str(threads), 1, MAX_THREADS),
        Setting("Move Overhead", "spin", str(DEFAULT_OVERHEAD), 0, 5000),
        Setting("Level", "spin", str(level or FULL_STRENGTH), FULL_STRENGTH, len(LEVELS)),
        *(strength if rated else ()),
        Setting("Clear Hash", "button"),
    )


def most_hash() -> int:
    """The largest transposition table in MiB: three quarters of the machine's memory.

    A larger one would not fail to allocate; the system would kill this process or another.
    """
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):  # not supported by every system
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


# Construction from a specification


def read_network(source: str) -> NnueNetwork:
    """The network of a model file or run folder, the shipped one, or `material`."""
    from rookery.encodings import NO_ACTIONS
    from rookery.nets.evaluator import read_model
    from rookery.nets.model_arrays import NNUE_TENSORS, parse_arrays
    from rookery.nets.model_file import ModelFileError

    if source == MATERIAL:
        return NnueNetwork.material()
    origin, data = read_model(source)
    arrays, info = parse_arrays(data, origin)
    if info.family != "nnue" or set(arrays) != set(NNUE_TENSORS):
        raise ModelFileError(
            f"{origin} holds a network of the family {info.family!r} with the tensors "
            f"{', '.join(sorted(arrays))}; the engine needs 'nnue' with {', '.join(NNUE_TENSORS)}"
        )
    try:
        network = NnueNetwork(*(arrays[name] for name in NNUE_TENSORS))
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
    """The evaluator of a model: the engine's sparse network, or any value network."""
    from rookery.encodings import OBSERVATIONS
    from rookery.nets.evaluator import read_model, without_torch
    from rookery.nets.model_file import family_of, info_of, parse_model

    if source == MATERIAL:
        return NnueNetwork.material()
    origin, data = read_model(source)
    info = info_of(data, origin)
    family = family_of(info, origin)
    if family.output == "value" and info.observation in OBSERVATIONS:
        if family.arrays:
            made: BatchEvaluator = without_torch(source)
            return made
        from rookery.nets.value_evaluator import value_evaluator

        return value_evaluator(parse_model(data, origin)[0], origin)
    return read_network(source)  # raises the error for other families


def read_moves(source: str) -> MoveNet:
    """The move probabilities of a model of the family `giraffe`."""
    from rookery.nets.evaluator import read_model
    from rookery.nets.giraffe.arrays import move_arrays
    from rookery.nets.model_arrays import parse_arrays
    from rookery.nets.model_file import ModelFileError

    if source != MATERIAL:
        origin, data = read_model(source)
        found = move_arrays(*parse_arrays(data, origin))
        if found is not None:
            return found
    raise ModelFileError(
        f"{source} has no learned move probabilities; networks of the recipe giraffe have them, "
        "and probabilities=static needs none"
    )


def _is_rated(source: str) -> bool:
    from rookery.nets.evaluator import read_model

    return source != MATERIAL and is_calibrated(read_model(source)[1])


def alphabeta_player(spec: PlayerSpec, options: dict[str, Any]) -> Player:
    """The player of a model file, run folder or shipped network, with the options ALPHA_BETA."""
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
    if chosen.get("search") == "plain":
        from rookery.players.plain import plain_value_player

        return plain_value_player(spec, evaluator, chosen)
    if chosen.get("probabilities") == "learned":
        chosen["moves"] = read_moves(source)
    try:
        return AlphaBetaPlayer(evaluator, str(spec), rated=_is_rated(source), **chosen)
    except (ValueError, MemoryError) as error:
        raise SpecError(f"player {str(spec)!r}: {error}") from error
