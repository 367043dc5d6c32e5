"""Networks for small endgames: a table of values with sums of patterns, as torch and as arrays."""
