"""Slow, obvious implementations on python-chess boards, used as oracles for the native core."""
