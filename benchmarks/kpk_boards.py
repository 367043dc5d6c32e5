"""Draw the boards of docs/kpk.md: the Q values of a shipped network on the squares they lead to.

    python benchmarks/kpk_boards.py docs/images

Green: the move wins, grey: it draws, red: it loses; the number counts the strong side's moves to
the end. Pawn and king moves to the same square do not occur in these positions.
"""

from __future__ import annotations

import sys
from pathlib import Path

import chess
import chess.svg

from rookery import Game
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


def draw(player: EndgamePlayer, fen: str) -> str:
    """The board with a disc for every legal move."""
    svg = str(chess.svg.board(chess.Board(fen), size=300))
    discs = []
    taken: set[str] = set()
    for note in player.q_values(Game(fen)):
        target = note.move[2:4]
        if target in taken:
            continue  # a worse promotion on the same square
        taken.add(target)
        file, rank = "abcdefgh".index(target[0]), int(target[1]) - 1
        x = MARGIN + SQUARE * file + SQUARE / 2
        y = MARGIN + SQUARE * (7 - rank) + SQUARE / 2
        word, _, count = note.text.replace(" in ", " ").partition(" ")
        sign = {"wins": "+", "loses": "-"}.get(word, "")
        discs.append(
            f'<circle cx="{x}" cy="{y}" r="14" fill="{COLOURS[word]}" opacity="0.9"/>'
            f'<text x="{x}" y="{y + 5}" font-size="14" font-family="sans-serif" fill="white" '
            f'text-anchor="middle">{sign}{count or "="}</text>'
        )
    return svg.replace("</svg>", "".join(discs) + "</svg>")


def main(folder: Path) -> None:
    """Write all boards."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (spec, fen, _) in BOARDS.items():
        player = make_player(spec)
        assert isinstance(player, EndgamePlayer)
        (folder / f"kpk-{name}.svg").write_text(draw(player, fen) + "\n")
        best = player.q_values(Game(fen))[0]
        print(f"{name}: {fen}: {best.move} {best.text}")
        player.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images"))
