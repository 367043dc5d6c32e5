"""Deep Pepper (2018), and what Deep Pepper revisited (2023) tried on top of it."""
