"""Ratings: the ladder of opponents of known strength, and one scale for all players."""
