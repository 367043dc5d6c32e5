"""A policy as 73 small boards, before and after masking illegal moves.

Vanhoutte 2022, figures 10 to 12. Each board is one plane of the action layout (a direction and a
distance, a knight's jump, an under-promotion); the brightness of a square is the probability of
moving from it, seen from the side to move.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rookery._core import Game
from rookery.encodings import DIRECTIONS, KNIGHT_JUMPS, PLANES_PER_ORIGIN
from rookery.nets.evaluator import Evaluator

ACTIONS = 64 * PLANES_PER_ORIGIN
CELL, GAP, COLUMNS = 6, 18, 15
STYLE = "text{font:12px system-ui,sans-serif}.plane{font-size:8px;text-anchor:middle;fill:#444}"
HEADER = 42  # pixels above the boards of a panel
LEAST = 0.004  # share of the largest probability below which a square is dark
STEP = 0.05  # of the brightness, which is the root of that share


def plane_names() -> list[str]:
    """Names of the 73 planes."""
    queen = [f"{way} {distance}" for way in DIRECTIONS for distance in range(1, 8)]
    knights = [
        f"jump {_step(ranks, 'N', 'S')}{_step(files, 'E', 'W')}" for ranks, files in KNIGHT_JUMPS
    ]
    promotions = [f"={piece} {way}" for piece in "NBR" for way in ("left", "ahead", "right")]
    return queen + knights + promotions


def _step(count: int, forward: str, back: str) -> str:
    return f"{abs(count)}{forward if count > 0 else back}"


def all_logits(evaluator: Evaluator, game: Game) -> NDArray[np.float32]:
    """Logits [4672] of all actions, legal or not."""
    observation = game.encode(evaluator.observation)[np.newaxis]
    actions = np.arange(ACTIONS, dtype=np.int32)
    logits, _ = evaluator.evaluate(observation, actions, np.array([0, ACTIONS]))
    return logits


def policy_svg(evaluator: Evaluator, game: Game, title: str) -> str:
    """Two panels: the policy over all moves above, over the legal moves below."""
    logits = all_logits(evaluator, game).astype(np.float64)
    legal = np.zeros(ACTIONS, bool)
    legal[game.legal_actions("az4672")] = True
    wild = np.exp(logits - logits.max())
    tame = np.where(legal, np.exp(logits - logits[legal].max()), 0.0)
    share = float(wild[legal].sum() / wild.sum())
    wild, tame = wild / wild.sum(), tame / tame.sum()
    note = "" if share > 0.5 else "; taught on legal moves alone, a network need not know them"
    rows = -(-PLANES_PER_ORIGIN // COLUMNS)
    width = COLUMNS * (8 * CELL + GAP) + GAP
    panel = rows * (8 * CELL + GAP) + HEADER
    parts = [
        _panel(wild, f"all moves; {share:.1%} of the policy is legal{note}", 24),
        _panel(tame, "legal moves only", 24 + panel),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{24 + 2 * panel}" '
        f'role="img"><title>{escape(title)}</title><style>{STYLE}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>'
        f'<text x="{GAP}" y="18" font-weight="600">{escape(title)}</text>{"".join(parts)}</svg>\n'
    )


def _panel(probabilities: NDArray[Any], label: str, top: int) -> str:
    largest = float(probabilities.max())
    boards = probabilities.reshape(64, PLANES_PER_ORIGIN)
    parts = [f'<text x="{GAP}" y="{top + 20}">{escape(label)}</text>']
    for plane, name in enumerate(plane_names()):
        x = GAP + plane % COLUMNS * (8 * CELL + GAP)
        y = top + HEADER + plane // COLUMNS * (8 * CELL + GAP)
        parts.append(
            f'<text class="plane" x="{x + 4 * CELL}" y="{y - 3}">{name}</text>'
            f'<g><title>{name}</title><rect x="{x}" y="{y}" width="{8 * CELL}" '
            f'height="{8 * CELL}" fill="#1d2733"/>'
        )
        for rank, file, length, bright in _runs(boards[:, plane] / largest):
            parts.append(
                f'<rect x="{x + file * CELL}" y="{y + (7 - rank) * CELL}" width="{length * CELL}" '
                f'height="{CELL}" fill="#ffd75e" fill-opacity="{bright:.2f}"/>'
            )
        parts.append("</g>")
    return "".join(parts)


def _runs(shares: NDArray[Any]) -> Iterator[tuple[int, int, int, float]]:
    """Lit squares of a board [64] from [0, 1]: rank, first file, equally bright files, brightness.

    Equal neighbours are one rectangle, since an untrained policy lights all 4672 squares.
    """
    bright = np.where(shares > LEAST, np.round(np.sqrt(shares) / STEP) * STEP, 0.0).reshape(8, 8)
    for rank, row in enumerate(bright):
        edges = [0, *(np.flatnonzero(np.diff(row)) + 1).tolist(), 8]
        for first, last in pairwise(edges):
            if row[first] > 0.0:
                yield rank, first, last - first, float(row[first])
