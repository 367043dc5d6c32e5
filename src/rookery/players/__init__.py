"""Players: everything that can choose a move. `base.py` defines the interface."""
