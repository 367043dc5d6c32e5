"""Generating training games."""
