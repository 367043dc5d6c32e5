"""Players that play and err as people do who have just learnt the game."""
