"""Draw the boards of docs/kpk.md, with a network's Q values on the target squares.

    python benchmarks/kpk_boards.py docs/images
    python benchmarks/kpk_boards.py docs/images --paper runs/kpk-paper

Green: the move wins, grey: it draws, red: it loses; the number counts the strong side's moves to
the end. With `--paper` also boards on which the agent of Kanis 2016 throws away a win: its own Q
values, coloured by the true result, with its choice ringed, and ours for comparison. If two moves
lead to one square, the better one is shown.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess
import chess.svg
import numpy as np

from rookery import Game
from rookery.data.kpk_levels import kpk_fen, kpk_squares
from rookery.nets.model_file import load_model
from rookery.papers.kanis2016.worlds import won_starts
from rookery.players.endgame import EndgamePlayer
from rookery.players.registry import make_player

# Name: player, position, caption.
BOARDS = {
    "opposition": ("kpk", "8/8/4k3/8/4K3/4P3/8/8 b - - 0 1", "White has the opposition"),
    "opposition-lost": ("kpk", "8/8/4k3/8/4K3/4P3/8/8 w - - 0 1", "Black has the opposition"),
    "rook-pawn": ("kpk", "6k1/8/6KP/8/8/8/8/8 w - - 0 1", "a rook's pawn is not enough"),
    "key-squares": ("kpk", "4k3/8/8/4K3/4P3/8/8/8 w - - 0 1", "the king goes ahead of its pawn"),
    "underpromotion": ("kpk", "8/k1P5/2K5/8/8/8/8/8 w - - 0 1", "a queen would stalemate"),
    "rook-mate": ("krk", "8/8/8/3k4/8/8/1R6/K7 w - - 0 1", "king and rook"),
}
SQUARE = 45  # chess.svg's unit
MARGIN = 15
COLOURS = {"wins": "#2e8b57", "draws": "#777777", "loses": "#b22222"}


Disc = tuple[str, str, str, bool]  # square, colour, text, ringed


def draw(player: EndgamePlayer, fen: str) -> str:
    """Draw the board with a disc for every legal move."""
    discs: list[Disc] = []
    for note in player.notes(Game(fen)):
        word, _, count = note.text.replace(" in ", " ").partition(" ")
        sign = {"wins": "+", "loses": "-"}.get(word, "")
        discs.append((note.move[2:4], COLOURS[word], f"{sign}{count or '='}", False))
    return with_discs(fen, discs)


def draw_paper(network: Any, player: EndgamePlayer, fen: str) -> str:
    """Draw the board with the paper agent's Q values, coloured by the true results."""
    truth = {note.move: note.text.split()[0] for note in player.notes(Game(fen))}
    moves = paper_moves(network, fen)
    discs: list[Disc] = [
        (move[2:4], COLOURS[truth[move]], f"{value:.0f}", index == 0)
        for index, (move, value) in enumerate(moves)
    ]
    return with_discs(fen, discs)


def with_discs(fen: str, discs: list[Disc]) -> str:
    """Draw the board with coloured discs, only the first one per square."""
    svg = str(chess.svg.board(chess.Board(fen), size=300))
    shapes = []
    taken: set[str] = set()
    for target, colour, text, ringed in discs:
        if target in taken:
            continue
        taken.add(target)
        file, rank = "abcdefgh".index(target[0]), int(target[1]) - 1
        x = MARGIN + SQUARE * file + SQUARE / 2
        y = MARGIN + SQUARE * (7 - rank) + SQUARE / 2
        ring = ' stroke="black" stroke-width="3"' if ringed else ""
        shapes.append(
            f'<circle cx="{x}" cy="{y}" r="14" fill="{colour}" opacity="0.9"{ring}/>'
            f'<text x="{x}" y="{y + 5}" font-size="14" font-family="sans-serif" fill="white" '
            f'text-anchor="middle">{text}</text>'
        )
    return svg.replace("</svg>", "".join(shapes) + "</svg>")


def paper_moves(network: Any, fen: str) -> list[tuple[str, float]]:
    """Return legal moves with the Q values of the paper's network, best first."""
    import torch

    game = Game(fen)
    observation = torch.from_numpy(game.encode("kpk3"))[None]
    q_values = network.dense(observation)[0][0].tolist()
    moves = [
        (m, q_values[game.action_of(m, "kpk")]) for m in game.legal_moves() if m[4:] in ("", "q")
    ]
    return sorted(moves, key=lambda pair: -pair[1])


def takes_opposition(fen: str, move: str) -> bool:
    """Whether the move takes the opposition on a file."""
    board = chess.Board(fen)
    board.push_uci(move)
    white, black = board.king(chess.WHITE), board.king(chess.BLACK)
    return white is not None and black is not None and black - white == 16


# Where to look for missed wins: level, files of the pawn, and a test of the only winning move.
Theme = tuple[str, tuple[int, ...], Callable[[str, str], bool]]
THEMES: dict[str, Theme] = {
    "paper-opposition": ("hard", (1, 2, 3, 4, 5, 6), takes_opposition),
    "paper-rook-pawn": ("all", (0, 7), lambda fen, move: True),
}


def given_away(network: Any, player: EndgamePlayer, theme: Theme) -> str:
    """Return a position whose only winning move the paper's agent misses."""
    level, files, fits = theme
    squares = kpk_squares(level)
    won = won_starts()[tuple(squares.astype(np.int64).T)]
    chosen = squares[won & np.isin(squares[:, 1] % 8, files)]
    for row in chosen[np.random.default_rng(3).permutation(len(chosen))]:
        fen = kpk_fen(row)
        truth = {note.move: note.text.split()[0] for note in player.notes(Game(fen))}
        winning = [move for move, word in truth.items() if word == "wins"]
        found = paper_moves(network, fen)[0][0]
        if len(winning) == 1 and found != winning[0] and fits(fen, winning[0]):
            return fen
    raise SystemExit("the agent misses no win of this kind")


def main() -> None:
    """Write all boards."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=Path("docs/images"))
    parser.add_argument("--paper", type=Path, help="run folder of kpk-paper")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for name, (spec, fen, _) in BOARDS.items():
        player = make_player(spec)
        assert isinstance(player, EndgamePlayer)
        (args.folder / f"kpk-{name}.svg").write_text(draw(player, fen) + "\n")
        best = player.notes(Game(fen))[0]
        print(f"{name}: {fen}: {best.move} {best.text}")
        player.close()
    if args.paper is None:
        return
    network, _ = load_model(args.paper / "model.safetensors")
    ours = make_player("kpk")
    assert isinstance(ours, EndgamePlayer)
    for name, theme in THEMES.items():
        fen = given_away(network, ours, theme)
        (args.folder / f"kpk-{name}.svg").write_text(draw_paper(network, ours, fen) + "\n")
        (args.folder / f"kpk-{name}-ours.svg").write_text(draw(ours, fen) + "\n")
        best = ours.notes(Game(fen))[0]
        print(
            f"{name}: {fen}: paper {paper_moves(network, fen)[0][0]}, ours {best.move} {best.text}"
        )
    ours.close()


if __name__ == "__main__":
    main()
