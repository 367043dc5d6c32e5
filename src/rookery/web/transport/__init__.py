"""Who may ask what, how often, and how answers travel."""
