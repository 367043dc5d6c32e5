"""Shared by several algorithms: losses, windows of samples, matches during training."""
