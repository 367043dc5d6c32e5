"""Tests on positions with known answers: puzzles, mates, EPD suites and endgames."""
