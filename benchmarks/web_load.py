"""Latency of requests without search while a hundred games run.

A server process searches on every core for a hundred clients, each with a game over a websocket.
Clients move at once, so that every search thread is always busy; meanwhile they send pings and
request their PGN and the list of players. Prints the latencies of these requests, which must not
depend on searches, and as a baseline those of the same requests without any search.

    python benchmarks/web_load.py [--games 100] [--seconds 30] [--player NAME] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from websockets.asyncio.client import ClientConnection, connect

from rookery._core import Game, perft
from rookery.players.base import Decision, Limits
from rookery.players.thinking import Setting, Thought

BUSY = "busy"  # a player that computes for its whole time, if there is no engine
LIMIT_MS = 50.0


class BusyThinker:
    """Runs perft in C++ until its time is up, like a search."""

    settings: tuple[Setting, ...] = ()
    name = BUSY

    def __init__(self) -> None:
        """Ready."""
        self._stopping = False

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
        """Compute for the whole time."""
        self._stopping = False
        end = time.monotonic() + (limits.movetime or 1.0)
        while time.monotonic() < end and not self._stopping:
            perft(game.fen(), 3)
        return Decision(game.legal_moves()[0])

    def choose(
        self, game: Game, rng: np.random.Generator, limits: Limits | None = None
    ) -> Decision:
        """Compute for the whole time."""
        return self.think(game, limits or Limits(movetime=0.1))

    def configure(self, name: str, value: str) -> None:
        """There are no settings."""

    def stop(self) -> None:
        """Stop soon."""
        self._stopping = True

    def ponderhit(self) -> None:
        """Nothing."""

    def new_game(self) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


def serve(player: str, movetime: float) -> None:
    """Run the server process: print its address, then serve until standard input closes."""
    from rookery.players.base import Player
    from rookery.players.offered_levels import Level, Levels
    from rookery.players.registry import make_player
    from rookery.web.choices import Choice
    from rookery.web.serve import start

    levels = Levels((Level("1", "load", {"movetime": movetime}),), "1")

    def make(spec: str) -> Player:
        return BusyThinker() if spec == BUSY else make_player(spec)

    with tempfile.TemporaryDirectory() as runs:
        choice = Choice("load", "load", "load", player, levels)
        running = start(port=0, runs=Path(runs), extra=[choice], make=make)
        print(running.url, flush=True)
        sys.stdin.read()
        running.stop()


@dataclass
class Waits:
    """Latencies by kind in milliseconds, and counts."""

    times: dict[str, list[float]] = field(default_factory=dict)
    moves: int = 0
    errors: int = 0

    def add(self, kind: str, began: float) -> None:
        """Add one."""
        self.times.setdefault(kind, []).append(1000 * (time.perf_counter() - began))


class Visitor:
    """One browser with a game and other requests."""

    def __init__(self, address: str, waits: Waits) -> None:
        """Send nothing yet."""
        self.address, self.waits = address, waits
        self.cookie = self.token = self.game = ""

    async def request(self, method: str, path: str, body: object = None) -> bytes:
        """Send one request over a new connection."""
        host, _, port = self.address.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        data = json.dumps(body).encode() if body is not None else b""
        head = f"{method} {path} HTTP/1.1\r\nHost: {self.address}\r\nConnection: close\r\n"
        head += f"Cookie: {self.cookie}\r\nX-Rookery-Token: {self.token}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        writer.write(head.encode() + data)
        answer = await reader.read()
        writer.close()
        headers, _, content = answer.partition(b"\r\n\r\n")
        if b" 20" not in headers[:13]:
            self.waits.errors += 1
        for line in headers.split(b"\r\n"):
            if line.lower().startswith(b"set-cookie: "):
                cookie = line[12:].partition(b";")[0].decode()
                self.cookie = f"{self.cookie}; {cookie}" if self.cookie else cookie
        return content

    async def begin(self) -> None:
        """Start a game."""
        self.token = json.loads(await self.request("GET", "/api/session"))["token"]
        wishes = {"player": "load", "color": "white"}
        self.game = json.loads(await self.request("POST", "/api/games", wishes))["id"]

    async def play(self, until: float, moving: bool) -> None:
        """Play (if `moving`) and send requests until the time is up."""
        async with connect(
            f"ws://{self.address}/api/games/{self.game}/socket",
            origin=f"http://{self.address}",  # type: ignore[arg-type]
            additional_headers={"Cookie": self.cookie},
        ) as socket:
            await socket.send(json.dumps({"type": "hello", "token": self.token}))
            tasks = [
                asyncio.create_task(self.moves(socket, moving)),
                asyncio.create_task(self.requests(socket)),
            ]
            await asyncio.sleep(max(0.0, until - time.monotonic()))
            for task in tasks:
                task.cancel()
            for result in await asyncio.gather(*tasks, return_exceptions=True):
                if isinstance(result, Exception):
                    self.waits.errors += 1

    async def moves(self, socket: ClientConnection, moving: bool) -> None:
        """Answer every position at once with a random legal move."""
        plies = 0
        async for text in socket:
            message = json.loads(text)
            if message["type"] == "pong":
                self.waits.add("websocket ping", self.pinged)
            if message["type"] != "state" or not moving:
                continue
            plies = message["base"] + len(message["entries"])
            if message["dests"] and not message["thinking"]:
                start, ends = random.choice(list(message["dests"].items()))
                move = start + random.choice(ends)
                rank = move[3]
                row = message["fen"].split()[0].split("/")[8 - int(start[1])]
                promotes = rank in "18" and piece_at(row, start[0]) in "Pp"
                move += "q" if promotes else ""
                await socket.send(json.dumps({"type": "move", "move": move, "ply": plies}))
                self.waits.moves += 1

    async def requests(self, socket: ClientConnection) -> None:
        """Send the other requests of the page."""
        while True:
            await asyncio.sleep(random.uniform(0.5, 1.5))
            self.pinged = time.perf_counter()
            await socket.send('{"type":"ping"}')
            await asyncio.sleep(random.uniform(0.5, 1.5))
            for kind, path in (("pgn", f"/api/games/{self.game}/pgn"), ("players", "/api/players")):
                began = time.perf_counter()
                await self.request("GET", path)
                self.waits.add(f"http {kind}", began)


def piece_at(row: str, file: str) -> str:
    """Return the letter in a row of a FEN."""
    squares = "".join("." * int(letter) if letter.isdigit() else letter for letter in row)
    return squares["abcdefgh".index(file)]


async def load(address: str, games: int, seconds: float) -> tuple[Waits, Waits]:
    """Run all clients: for half the time none moves, then all do."""
    quiet, busy = Waits(), Waits()
    visitors = [Visitor(address, quiet) for _ in range(games)]
    for visitor in visitors:
        await visitor.begin()
    for waits in (quiet, busy):
        until = time.monotonic() + seconds / 2
        for visitor in visitors:
            visitor.waits = waits
        await asyncio.gather(*(visitor.play(until, waits is busy) for visitor in visitors))
    return quiet, busy


def quantiles(waits: Waits) -> dict[str, dict[str, float]]:
    """Return median, 99th percentile and maximum of each kind, in milliseconds."""
    names = ("median_ms", "p99_ms", "max_ms")
    return {
        kind: {
            "count": len(times),
            **{
                name: round(float(value), 1)
                for name, value in zip(names, np.percentile(times, [50, 99, 100]), strict=True)
            },
        }
        for kind, times in sorted(waits.times.items())
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--movetime", type=float, default=0.2, help="seconds per search")
    parser.add_argument(
        "--player", default=BUSY, help="searching player; default: one that runs perft"
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.player, args.movetime)
        return 0
    command = [sys.executable, __file__, "--serve", "--player", args.player]
    command += ["--movetime", str(args.movetime)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        if server.stdout is None or server.stdin is None:
            return 1
        address = server.stdout.readline().strip().removeprefix("http://").rstrip("/")
        before = time.process_time()
        quiet, busy = asyncio.run(load(address, args.games, args.seconds))
        own = (time.process_time() - before) / args.seconds
        server.stdin.close()
    searching = quantiles(busy)
    report = {
        "games": args.games,
        "seconds": args.seconds,
        "cores": len(os.sched_getaffinity(0)),
        "moves_by_visitors": busy.moves,
        "errors": quiet.errors + busy.errors,
        "visitors_cpu_share": round(own, 2),  # of one core; they run on the same machine
        "load_of_machine": round(os.getloadavg()[0], 1),
        "nobody_searches": quantiles(quiet),
        "all_search": searching,
        "p99_below_limit": all(row["p99_ms"] < LIMIT_MS for row in searching.values()),
    }
    print(json.dumps(report, indent=None if args.json else 2))
    return 0 if report["p99_below_limit"] and not report["errors"] else 1


if __name__ == "__main__":
    sys.exit(main())
