"""Data that Rookery reads and writes: opening books, endgame tables, games, samples."""
