"""Reading and writing data: opening books, endgame tables, games, samples."""
