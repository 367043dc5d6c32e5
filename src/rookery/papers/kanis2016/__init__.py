"""Kanis 2016: deep Q-learning on king and pawn against king."""
