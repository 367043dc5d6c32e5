"""Measuring: matches, openings, Elo and SPRT, the rating ladder, endgames, suites and puzzles."""
