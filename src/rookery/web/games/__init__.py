"""Games of visitors and players: tables, clocks, searches, and the games that are kept."""
