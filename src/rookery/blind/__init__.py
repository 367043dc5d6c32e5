"""Reconnaissance blind chess: chess in which each side sees only what it senses.

The rules are in the core (`core/blind`): `BlindGame` is the referee, `BlindKnowledge` what one side
has been told, `BlindVectorGames` many games at once. Players decide from a `BlindKnowledge` alone
(`players.py`); `recon.py` lets bots of the package reconchess play here and `bot.py` ours there.
"""

from __future__ import annotations

from rookery._core import BlindGame, BlindKnowledge, BlindVectorGames

__all__ = ["BlindGame", "BlindKnowledge", "BlindVectorGames"]
