"""Positions of any game: the analysis board, the review, and what networks see."""
