"""Positions with a known answer: puzzles, test suites, mates, endgames against the tables."""
