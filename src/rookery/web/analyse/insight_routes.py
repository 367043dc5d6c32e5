"""Requests about what networks see in a position."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from rookery.web.analyse.insight import MOST_NETWORKS, Insights, has_network
from rookery.web.choices import Choices
from rookery.web.games.records import game_of_moves


class InsightRoutes:
    """Handlers; networks are loaded and asked in threads."""

    def __init__(self, choices: Choices) -> None:
        """Look into the networks of these players."""
        self._choices = choices
        self._insights = Insights()

    async def networks(self, _: Request) -> Response:
        """Return the players with a network."""
        found = await asyncio.to_thread(self._choices.all)
        listed = [choice for choice in found.values() if has_network(choice)]
        rows = [{"id": row.id, "title": row.title, "group": row.group} for row in listed]
        return JSONResponse({"networks": rows})

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


async def json_object(request: Request) -> dict[str, Any]:
    """Return the JSON object in a request's body."""
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise ValueError("the body is not JSON") from None
    if not isinstance(found, dict):
        raise ValueError("the body is not a JSON object")
    return found
