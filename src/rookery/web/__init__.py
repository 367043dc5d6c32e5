"""The web page: play any player, watch two players, watch a training run.

serve.py        starts the server for `rookery play`, `rookery watch` and `rookery demo`
app.py          HTTP routes and the websockets
choices.py      the players and levels on offer
blind.py        games of blind chess
runs.py         training runs as JSON for the page
piece_worth.py  what a network gives for each piece
demo.py         train first, then play
child.py        the demo's trainer, which ends with it
static/         the page itself

transport/      who may ask what, how often, and how answers travel
  guard.py        access checks: hosts, origins, tokens, sizes
  quota.py        rate limits, and limits of one search
  connections.py  limits of open connections, and of what visitors make us log
  files.py        the files of the page, from memory
  arrived.py      JSON from a page
  conversation.py one websocket
  outbox.py       messages waiting for one client

games/          games of visitors and players
  rooms.py        all games
  table.py        one game: rules, turns, results
  table_json.py   one game as JSON, PGN, and a record to keep
  seats.py        who plays a side, and how strongly
  clock.py        the chess clock
  draws.py        when a player accepts or offers a draw
  thinking.py     searches in a few threads
  shelf.py        a pool of players
  library.py      my games, kept on disk
  records.py      moves and thoughts as JSON for the page; FEN and PGN from the page

analyse/        positions of any game
  board.py        the analysis board and the review of a game
  facts.py        opening names, book moves, tablebase verdicts
  pgn_tree.py     a PGN game with its comments and variations
  insight.py      what networks see
  insight_routes.py  its requests

The server enforces the rules; browsers only send requests.
"""

from __future__ import annotations

import importlib.util

from rookery.base.extras import how_to_install


def require_extra() -> None:
    """Raise an error with the remedy if packages of the web page are missing."""
    for package in ("starlette", "uvicorn", "websockets"):
        if importlib.util.find_spec(package) is None:
            raise ImportError(
                f"the web page needs {package}: {how_to_install()}; "
                "or play in the terminal: rookery play --terminal"
            )
