"""Requests about what networks see in a position."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from rookery.players.spec import parse_spec
from rookery.runs.reader import RunReader, number
from rookery.web.analyse.insight import MOST_NETWORKS, Insights, has_network
from rookery.web.choices import OUR_ENGINE, Choice, Choices
from rookery.web.games.records import game_of_moves
from rookery.web.transport.arrived import read_json

EARLY_SECONDS = 60.0  # of training, at which a version is compared with the newest
SHIPPED = ("alphazero", "ppo")  # shown first if nothing has been trained here


class InsightRoutes:
    """Handlers; networks are loaded and asked in threads."""

    def __init__(self, choices: Choices) -> None:
        """Look into the networks of these players."""
        self._choices = choices
        self._insights = Insights()

    async def networks(self, _: Request) -> Response:
        """Return the players with a network."""
        return JSONResponse(await asyncio.to_thread(self._networks))

    def _networks(self) -> dict[str, Any]:
        listed: dict[str, Choice] = {}  # characters are our engine once more
        players: dict[str, list[str]] = {}
        for choice in self._choices.all().values():
            if has_network(choice):
                listed.setdefault(choice.spec, choice)
                players.setdefault(choice.spec, []).append(choice.id)
        seconds, first = first_choice(list(listed.values()))
        rows = [
            {"id": row.id, "name": row.name, "words": row.words, "group": row.group}
            | {"seconds": seconds.get(row.id), "players": players[row.spec]}
            for row in listed.values()
        ]
        return {"networks": rows, "first": first}

    async def see(self, request: Request) -> Response:
        """Return what some networks see in a position."""
        sent = await json_object(request)
        wanted = sent.get("players")
        if not isinstance(wanted, list) or not 1 <= len(wanted) <= MOST_NETWORKS:
            raise ValueError(f"players must be a list of 1 to {MOST_NETWORKS} networks")
        choices = [self._choices.get(name) for name in wanted]
        game = game_of_moves(sent.get("start", ""), sent.get("moves", []))
        seen = [await asyncio.to_thread(self._insights.see, choice, game) for choice in choices]
        return JSONResponse({"fen": game.fen(), "networks": seen})

    async def tree(self, request: Request) -> Response:
        """Return the search tree of a network in a position."""
        sent = await json_object(request)
        choice = self._choices.get(sent.get("player"))
        game = game_of_moves(sent.get("start", ""), sent.get("moves", []))
        return JSONResponse(await asyncio.to_thread(self._insights.tree, choice, game))


def first_choice(listed: list[Choice]) -> tuple[dict[str, float | None], list[str]]:
    """Return which networks to show first, by id, and the times of training of the newest run's.

    Of the newest run: the version after a minute, the newest, and the shipped network of its kind;
    without runs two that ship.
    """
    ids = [choice.id for choice in listed]
    newest = next((choice for choice in listed if choice.id.startswith("run:")), None)
    if newest is None:
        return {}, [name for name in SHIPPED if name in ids] or ids[:1]
    run = RunReader(Path(parse_spec(newest.spec).name))
    times = {row.get("iteration"): number(row.get("seconds")) for row in run.timing()}
    seconds: dict[str, float | None] = {}
    for id in ids:
        name, _, step = id.partition("@")
        if name == newest.id and step.isdigit():
            seconds[id] = times.get(int(step))
    known = {id: when for id, when in seconds.items() if when}
    early = sorted(known, key=lambda id: abs(known[id] - EARLY_SECONDS))[:1]
    recipe = str(run.recipe().get("name", ""))
    shipped = [name for name in (recipe, OUR_ENGINE) if name in ids][:1]
    return seconds, [*early, newest.id, *shipped]


async def json_object(request: Request) -> dict[str, Any]:
    """Return the JSON object in a request's body."""
    try:
        found = read_json(await request.body())
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise ValueError("the body is not JSON") from None
    if not isinstance(found, dict):
        raise ValueError("the body is not a JSON object")
    return found
