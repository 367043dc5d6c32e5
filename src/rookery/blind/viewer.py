"""A recorded blind game as one HTML page: the true board between what each side knew.

Each side's board shows its own pieces, the window it sensed, and on every square how many of the
boards that it still thought possible have an opponent's piece there, with the likeliest one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

import chess
import numpy as np

from rookery._core import BlindBelief, BlindGame

PIECES = "PNBRQKpnbrqk"
CAPACITY = 6000  # boards of each side at most, plenty for shares of 2 %
LEAST_SHARE = 0.02  # smaller shares are not drawn
KEYS = {"white", "black", "result", "fault", "turns"}  # of a recorded game


@dataclass
class View:
    """What one side knows at one time; squares are 0 (a1) to 63."""

    own: dict[int, str]  # its pieces
    others: dict[int, tuple[str, float]]  # likeliest opponent's piece, share of boards with any
    boards: int
    complete: bool
    window: list[int] = field(default_factory=list)  # sensed this turn


@dataclass
class Step:
    """The moment before a move."""

    white: bool  # to move
    truth: dict[int, str]
    words: str
    views: tuple[View, View]  # White's, Black's


def pieces_of(fen: str) -> dict[int, str]:
    """Return the pieces of a FEN by square."""
    board = chess.BaseBoard(fen.split()[0])
    return {square: piece.symbol() for square, piece in board.piece_map().items()}


def view_of(
    game: BlindGame, belief: BlindBelief, white: bool, window: list[int], drawn: int = 0
) -> View:
    """Return what a side knows, given its belief.

    Before a sense the belief still has the boards before the opponent's move; `drawn` boards after
    it are then looked at instead.
    """
    shares = (belief.sample(drawn) if drawn else belief.boards()).occupancy()
    theirs = shares[6:] if white else shares[:6]
    letters = PIECES[6:] if white else PIECES[:6]
    total = theirs.sum(axis=0)
    others = {
        int(square): (letters[int(np.argmax(theirs[:, square]))], round(float(total[square]), 3))
        for square in np.flatnonzero(total >= LEAST_SHARE)
    }
    own = pieces_of(game.knowledge(white).own_fen)
    return View(own, others, len(belief), belief.complete, window)


def steps_of(record: Mapping[str, Any]) -> list[Step]:
    """Play a record again and collect what both sides knew, by at most CAPACITY boards."""
    game = BlindGame()
    beliefs = [BlindBelief(game.knowledge(white), CAPACITY, 1) for white in (True, False)]
    views = [view_of(game, beliefs[side], side == 0, []) for side in (0, 1)]
    steps = []
    for turn in record["turns"]:
        side = 0 if game.white_to_move else 1
        centre = None if turn["sense"] is None else chess.parse_square(turn["sense"])
        window = [square for square, _ in game.sense(centre)]
        beliefs[side].update(game.knowledge(side == 0))
        views[side] = view_of(game, beliefs[side], side == 0, window)
        views[1 - side].window = []
        now = (View(**vars(views[0])), View(**vars(views[1])))
        steps.append(Step(side == 0, pieces_of(game.fen()), _words(turn, side == 0), now))
        game.move(turn["request"])
    steps.append(Step(game.white_to_move, pieces_of(game.fen()), _end(record), steps[-1].views))
    return steps


def _words(turn: Mapping[str, Any], white: bool) -> str:
    side = "White" if white else "Black"
    sense = f"senses {turn['sense']}" if turn["sense"] else "senses nothing"
    text = f"{side} {sense}, asks for {turn['request'] or 'a pass'}"
    if turn["taken"] != turn["request"]:
        text += f", gets {turn['taken'] or 'a pass'}"
    return text + (f", captures on {turn['capture']}" if turn["capture"] else "")


def _end(record: Mapping[str, Any]) -> str:
    return f"{record['result']}: {record['reason'].replace('_', ' ')}"


def read_record(path: Path, number: int) -> dict[str, Any]:
    """Return one game of a record file, counted from 1."""
    lines = path.read_text().splitlines()
    if not 1 <= number <= len(lines):
        raise ValueError(f"{path} has {len(lines)} games; there is no game {number}")
    return parse_record(lines[number - 1], path, number)


def parse_record(line: str, path: Path, number: int) -> dict[str, Any]:
    """Return a game of a record file from its line, counted from 1."""
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    if not isinstance(record, dict) or not record.keys() >= KEYS:
        raise ValueError(
            f"{path}, line {number}: not a game of 'rookery blind arena --records', or cut off"
        )
    return record


def content_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `static/viewer.js` shows, for JSON."""
    return {
        "white": record["white"],
        "black": record["black"],
        "steps": [asdict(step) for step in steps_of(record)],
    }


def page_of(record: Mapping[str, Any]) -> str:
    """Return the page; it needs nothing but itself."""
    # "<" cannot end the script early, whatever a player is called.
    data = json.dumps(content_of(record), separators=(",", ":")).replace("<", "\\u003c")
    files = resources.files("rookery.blind") / "static"
    page = (files / "viewer.html").read_text(encoding="utf-8")
    for mark, name in (("/*STYLE*/", "viewer.css"), ("/*SCRIPT*/", "viewer.js")):
        page = page.replace(mark, (files / name).read_text(encoding="utf-8"))
    return page.replace("/*DATA*/", data)
