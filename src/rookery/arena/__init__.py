"""Matches between players: games, limits, results, Elo and SPRT."""
