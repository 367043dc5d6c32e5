"""Code that exists only to reproduce one paper, by author and year."""
