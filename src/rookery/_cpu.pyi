"""Compiled from core/cpu/cpu.cpp."""

def level() -> str:
    """The best level that this CPU can run: "baseline", "avx2" or "avx512"."""
