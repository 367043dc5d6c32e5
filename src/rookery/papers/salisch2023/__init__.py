"""Salisch 2023: ten versions of PPO on chess."""
