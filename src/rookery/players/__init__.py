"""Players: everything that can be asked for a move. `base.py` says what a player is."""
