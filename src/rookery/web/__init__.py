"""The web page: play any player, watch two of them, watch a training run.

serve.py      starts the server for `rookery play`, `rookery watch` and `rookery demo`
app.py        addresses and what they answer
guard.py      who may ask at all: hosts, origins, tokens, sizes
quota.py      how much one visitor may ask for
choices.py    which players can be chosen, and at which levels
shelf.py      players kept for the next search
thinking.py   searches in a few threads, watched and stopped
rooms.py      all games: made, found again, put away
table.py      one game: rules, turns, endings
seats.py      who plays it, and how strongly
clock.py      its clock
outbox.py     what waits to be sent to one reader
records.py    what the page is told about a game, and the positions and games that it sends
runs.py       what is shown of training runs
demo.py       training in front of you, then playing
static/       the page itself

The server alone knows the rules and the game; what a browser sends is a wish.
"""

from __future__ import annotations

import importlib.util

from rookery.base.extras import how_to_install


def require_extra() -> None:
    """Say how to get the packages of the web page, if they are missing."""
    for package in ("starlette", "uvicorn", "websockets"):
        if importlib.util.find_spec(package) is None:
            raise ImportError(
                f"the web page needs {package}: {how_to_install('web')}; "
                "or play in the terminal: rookery play --terminal"
            )
