"""Fit the beginner's weights to moves of people, and say how well they foretell other people's.

    python benchmarks/fit_beginner.py games.pgn.gz more.pgn.gz --below 1300
    python benchmarks/fit_beginner.py games.pgn.gz more.pgn.gz --write

Positions are the moves of people rated below --below, past the first --skip plies of each game.
Every second game is held out: the weights are fitted to the others by maximum likelihood (a
conditional logit with a small penalty on squares), and graded on those. `--write` puts the table
into src/rookery/players/beginners/habits.py. One JSON object goes to standard output.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import chess
import numpy as np
import torch

from human_agreement import Position, games_of
from rookery.players.beginners import habits
from rookery.players.beginners.habits import WEIGHTS
from rookery.players.beginners.view import Features, View

STEPS, MINIBATCH, RATE, PENALTY = 600, 2048, 0.03, 1e-4


def choices(position: Position) -> tuple[Features, int]:
    """The features of all moves, and the number of the one that was played."""
    before, played = position
    board = chess.Board()
    for move in before:
        board.push_uci(move)
    past = board.move_stack[-2:]
    moves = list(board.legal_moves)
    features = View(board, past).features(moves)
    return features, moves.index(chess.Move.from_uci(played))


class Choices:
    """Many positions, padded to the same number of moves."""

    def __init__(self, positions: Sequence[Position]) -> None:
        """Look at all of them."""
        found = [choices(position) for position in positions]
        most = max(len(features) for features, _ in found)
        self.features = torch.zeros(len(found), most, len(WEIGHTS))
        self.absent = torch.ones(len(found), most, dtype=torch.bool)
        self.played = torch.tensor([played for _, played in found])
        for number, (features, _) in enumerate(found):
            self.features[number, : len(features)] = torch.from_numpy(features)
            self.absent[number, : len(features)] = False

    def logits(self, weights: torch.Tensor, rows: torch.Tensor | slice) -> torch.Tensor:
        """Of the moves of some positions, [B, M]."""
        return (self.features[rows] @ weights).masked_fill(self.absent[rows], -1e9)


def fit(learnt: Choices) -> torch.Tensor:
    """The weights that make the played moves most probable."""
    weights = torch.zeros(len(WEIGHTS), requires_grad=True)
    optimizer = torch.optim.Adam([weights], lr=RATE)
    generator = torch.Generator().manual_seed(0)
    for step in range(STEPS):
        optimizer.param_groups[0]["lr"] = RATE * (1 - step / STEPS)
        rows = torch.randint(len(learnt.played), (MINIBATCH,), generator=generator)
        logits = learnt.logits(weights, rows)
        loss = torch.nn.functional.cross_entropy(logits, learnt.played[rows])
        loss = loss + PENALTY * weights.square().sum()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return weights.detach()


def grade(weights: torch.Tensor, choices: Choices) -> dict[str, float]:
    """How well the weights foretell the moves of some positions."""
    logits = choices.logits(weights, slice(None))
    loss = torch.nn.functional.cross_entropy(logits, choices.played)
    probability = logits.softmax(1).gather(1, choices.played[:, None])
    return {
        "positions": len(choices.played),
        "nats": round(loss.item(), 4),
        "favourite_played": round((logits.argmax(1) == choices.played).double().mean().item(), 4),
        "mean_probability": round(probability.mean().item(), 4),
    }


def table(weights: torch.Tensor) -> str:
    """The source of WEIGHTS."""
    rows = [
        f'    "{name}": {weight:.2f},'
        for name, weight in zip(WEIGHTS, weights.tolist(), strict=True)
    ]
    return "\n".join(["WEIGHTS: Mapping[str, float] = {", *rows, "}"])


def split(files: Sequence[Path], below: int, skip: int) -> Iterator[list[Position]]:
    """The positions of every second game, and those of the others."""
    games = [game for path in files for game in games_of(path, below, skip)]
    for half in (games[::2], games[1::2]):
        yield [position for game in half for position in game]


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="PGN")
    parser.add_argument("--below", type=int, default=1300, help="rating of the people (1300)")
    parser.add_argument("--skip", type=int, default=8, help="plies of each game left out (8)")
    parser.add_argument("--write", action="store_true", help="put the table into habits.py")
    args = parser.parse_args()
    torch.set_num_threads(1)
    learnt, others = (Choices(half) for half in split(args.files, args.below, args.skip))
    weights = fit(learnt)
    if args.write:
        path = Path(habits.__file__)
        head = r"^WEIGHTS: Mapping\[str, float\] = \{.*?^\}$"
        text = re.sub(
            head, lambda _: table(weights), path.read_text(), flags=re.MULTILINE | re.DOTALL
        )
        path.write_text(text)
    print(table(weights), file=sys.stderr)
    shipped = torch.tensor(np.array(list(WEIGHTS.values())), dtype=torch.float32)
    result = {
        "learnt": grade(weights, learnt),
        "held_out": grade(weights, others),
        "held_out_shipped": grade(shipped, others),
    }
    print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
