"""Learning algorithms, one file each, reading like their papers."""
