"""The race: every method with the same processor time, rated by one protocol."""
