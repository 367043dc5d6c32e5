"""Files, settings and optional packages; imports nothing else of Rookery."""
