"""Games played in order to learn from them."""
