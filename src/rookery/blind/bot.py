"""Our blind players as a reconchess bot: for rc-bot-match, rc-play and the server's client.

rc-bot-match rookery.blind.bot reconchess.bots.random_bot
ROOKERY_BLIND_PLAYER=blind-paper rc-play rookery.blind.bot
rc-connect --server-url ... rookery.blind.bot
"""

from __future__ import annotations

import os
import sys
from typing import Any

import chess
import numpy as np
from reconchess import Player

from rookery._core import BlindKnowledge
from rookery.blind.players import BlindPlayer
from rookery.blind.registry import make_blind_player

VARIABLE = "ROOKERY_BLIND_PLAYER"  # which of our players; default: blind


class RookeryBot(Player):  # type: ignore[misc]
    """Keeps a `BlindKnowledge` from what reconchess tells and asks a player of ours."""

    def __init__(self) -> None:
        """Make the player that the environment names."""
        self._player: BlindPlayer = make_blind_player(os.environ.get(VARIABLE, "blind"))
        self._rng = np.random.default_rng()
        self._sense: int | None = None
        self._knowledge = BlindKnowledge(True)

    def handle_game_start(self, color: bool, board: chess.Board, opponent_name: str) -> None:
        """Begin."""
        self._knowledge = BlindKnowledge(bool(color), board.fen())
        self._player.new_game(self._knowledge, self._rng)

    def handle_opponent_move_result(self, captured: bool, square: int | None) -> None:
        """Note a capture, or that there was none."""
        self._knowledge.opponent_moved(square)

    def choose_sense(self, senses: Any, moves: Any, seconds_left: float) -> int | None:
        """Ask the player."""
        self._sense = self._player.choose_sense(self._knowledge, self._rng, seconds_left)
        return self._sense

    def handle_sense_result(self, result: list[tuple[int, chess.Piece | None]]) -> None:
        """Note what was seen."""
        sight = [(square, piece.symbol() if piece else None) for square, piece in result]
        self._knowledge.sensed(self._sense, sight)

    def choose_move(self, moves: Any, seconds_left: float) -> chess.Move | None:
        """Ask the player."""
        uci = self._player.choose_move(self._knowledge, self._rng, seconds_left)
        return None if uci is None else chess.Move.from_uci(uci)

    def handle_move_result(
        self,
        requested: chess.Move | None,
        taken: chess.Move | None,
        captured: bool,
        square: int | None,
    ) -> None:
        """Note what became of the request."""
        names = [move.uci() if move else None for move in (requested, taken)]
        self._knowledge.moved(names[0], names[1], square)

    def handle_game_end(self, winner: bool | None, reason: Any, history: Any) -> None:
        """End."""
        won = None if winner is None else winner == self._knowledge.white
        self._player.game_over(self._knowledge, won)
        self._player.close()
        print(f"{self._player.name}: {'drawn' if won is None else won}", file=sys.stderr)


def get_player() -> type[RookeryBot]:
    """Tell reconchess which class to use."""
    return RookeryBot
