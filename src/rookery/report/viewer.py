"""The viewer of sample games: a board, the moves and buttons; assets/script.js moves the pieces."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from html import escape

from rookery.report.boards import board
from rookery.report.games import SampleGame


def viewer(games: Sequence[SampleGame]) -> str:
    """The viewer; a page has at most one."""
    if not games:
        return "<p>No sample games.</p>"
    titles = (f"{game.title}: {game.players} {game.result}" for game in games)
    options = "".join(
        f'<option value="{index}">{escape(title)}</option>' for index, title in enumerate(titles)
    )
    buttons = "".join(
        f'<button type="button" data-step="{step}" aria-label="{label}">{sign}</button>'
        for step, sign, label in (
            ("first", "|&lt;", "first position"),
            ("-1", "&lt;", "one move back"),
            ("1", "&gt;", "one move on"),
            ("last", "&gt;|", "last position"),
        )
    )
    return (
        f'<div class="viewer" id="viewer"><label>Game <select id="game">{options}</select></label>'
        f'<div class="table">{board(games[0].placements[-1])}<div><p id="place"></p>'
        f'<ol id="moves" class="moves"></ol></div></div><p>{buttons}</p></div>'
        '<script type="application/json" id="games-data">'
        f"{_json([asdict(game) for game in games])}</script>"
    )


def _json(value: object) -> str:
    """JSON that cannot close the script element around it."""
    text = json.dumps(value, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
