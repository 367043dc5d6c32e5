"""Giraffe: features in groups, a value, and the probabilities of moves."""
