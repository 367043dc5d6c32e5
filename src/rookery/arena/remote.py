"""Games of a match on a cluster, at fixed nodes, depth or simulations.

A piece is some games (pair, index) with everything they need: both players as specifications, their
network files as bytes, the openings. A game is determined by these, so the match is that of one
machine, game by game; only the times in the records are left out.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rookery.arena.game import Fault, PlayedGame, game_rngs, play_game
from rookery.arena.limits import Adjudication, MatchLimits
from rookery.base.messages import pack, unpack
from rookery.cluster.jobs import Done, Job
from rookery.cluster.node import cached
from rookery.cluster.pool import Pool
from rookery.data.openings import Opening, OpeningBook
from rookery.data.tablebases import find_tablebases
from rookery.engines.find import find_stockfish
from rookery.nets.evaluator import read_model
from rookery.players.base import Player, capabilities_of
from rookery.players.registry import make_player
from rookery.players.spec import PlayerSpec, parse_spec

WORK = "rookery.arena.remote:play"
MOST_GAMES = 8  # of a piece
_TIME = re.compile(r" ?\d+(\.\d+)?s$")  # at the end of a comment


def refuse_timed(players: Sequence[Player], names: Sequence[str], limits: MatchLimits) -> None:
    """Refuse players whose strength depends on the clock: other machines have other clocks."""
    if limits.time_control is not None or limits.movetime is not None:
        raise ValueError("--cluster plays without clocks; use --nodes, --depth or --simulations")
    bounded = limits.nodes is not None or limits.depth is not None
    for player, name in zip(players, names, strict=True):
        timed = capabilities_of(player).timed
        if timed or (timed is None and not bounded):
            raise ValueError(
                f"--cluster plays without clocks, but {name} thinks for a time; give it nodes, as "
                f"in {name},nodes=1000"
            )


def play_remote(
    pool: Pool,
    players: tuple[str, str],
    names: tuple[str, str],
    tasks: Sequence[tuple[int, int]],
    book: OpeningBook,
    settings: Any,
) -> Iterator[PlayedGame]:
    """Play the games (pair, index) of `tasks`; yields their records in this order.

    `players` are specifications, `names` go into the records, `settings` are those of the match.
    """
    shipped = [ship(text) for text in players]
    common = {
        "players": [{"spec": text, "files": list(files)} for text, files in shipped],
        "names": names,
        "seed": settings.seed,
        "limits": asdict(settings.limits),
        "adjudication": asdict(settings.adjudication),
        "stockfish": _stockfish() if any("stockfish" in text for text in players) else "",
    }
    shared = tuple(pool.share(data) for _, files in shipped for data in files.values())
    size = max(1, min(MOST_GAMES, len(tasks) // (4 * max(1, pool.slots))))

    def jobs() -> Iterator[Job]:
        for first in range(0, len(tasks), size):
            some = tasks[first : first + size]
            openings = [book.opening(pair) for pair, _ in some]
            content = pack({**common, "tasks": some, "openings": openings})
            label = f"{names[0]} v {names[1]}/{settings.seed}"
            yield Job(f"{label}/{some[0]}..{some[-1]}", WORK, content, shared, exact=False)

    for data in pool.map(jobs()):
        yield from map(_record, unpack(data))


def ship(text: str) -> tuple[str, dict[str, bytes]]:
    """A specification, and the files that it names, by their names in it."""
    spec = parse_spec(text)
    files: dict[str, bytes] = {}
    if Path(spec.name).exists():
        suffix = ".onnx" if spec.name.endswith(".onnx") else ".safetensors"
        data = Path(spec.name).read_bytes() if suffix == ".onnx" else read_model(spec.name)[1]
        spec = PlayerSpec(f"./{hashlib.sha256(data).hexdigest()[:16]}{suffix}", spec.options)
        files[spec.name] = data
    options = dict(spec.options)
    for key, value in options.items():
        path = Path(value)
        if "/" in value and path.is_file() and key not in ("command", "remember"):
            data = path.read_bytes()
            options[key] = f"./{hashlib.sha256(data).hexdigest()[:16]}{path.suffix}"
            files[options[key]] = data
    return str(PlayerSpec(spec.name, options)), files


def _record(content: dict[str, Any]) -> PlayedGame:
    """A record from what `unpack` returns."""
    found: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in content.items()
    }
    for key in ("fault", "other_fault"):
        found[key] = None if content[key] is None else Fault(**content[key])
    found["opening"] = _opening(content["opening"])
    return PlayedGame(**found)


def _opening(content: dict[str, Any]) -> Opening:
    return Opening(**{**content, "moves": tuple(content["moves"])})


# --- On a node ---


def play(shared: tuple[bytes, ...], content: bytes) -> Done:
    """Play some games, as a work function of the cluster."""
    message = unpack(content)
    if message["stockfish"] and message["stockfish"] != _stockfish():
        raise ValueError("Stockfish on this node is another program than the arena's")
    data, specs = iter(shared), []
    for player in message["players"]:
        specs.append(_unpacked(player["spec"], {name: next(data) for name in player["files"]}))
    players = [_player(spec, side) for side, spec in enumerate(specs)]
    limits = MatchLimits(**{**message["limits"], "time_control": None})
    adjudication = Adjudication(**message["adjudication"])
    tables = cached("tables", find_tablebases) if adjudication.tablebase else None
    games = []
    for (pair, index), opening in zip(message["tasks"], message["openings"], strict=True):
        sides = players if index == 0 else players[::-1]
        names = message["names"] if index == 0 else message["names"][::-1]
        record = play_game(
            sides[0],
            sides[1],
            _opening(opening),
            game_rngs(message["seed"], pair, index),
            limits=limits,
            adjudication=adjudication,
            tables=tables,
            pair=pair,
            index=index,
            names=(names[0], names[1]),
        )
        assert record is not None  # nobody cancels it
        comments = tuple(_TIME.sub("", comment) for comment in record.comments)
        games.append(replace(record, seconds=0.0, comments=comments))
    return pack(games), sum(len(game.moves) for game in games)


def _player(spec: str, side: int) -> Player:
    """A player of this process; each side has its own."""
    return cached(("player", spec, side), lambda: make_player(spec))


def _unpacked(spec: str, files: dict[str, bytes]) -> str:
    """A specification whose files are in a folder of this process."""
    for name, data in files.items():
        folder = cached("files", lambda: tempfile.TemporaryDirectory(prefix="rookery-"))
        path = Path(folder.name) / Path(name).name
        if not path.exists():
            path.write_bytes(data)
        spec = spec.replace(name, str(path))
    return spec


def _stockfish() -> str:
    """Hash of the Stockfish program; empty without one."""
    path = find_stockfish()
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16] if path else "none"
