"""What several algorithms share: losses, windows of samples, matches during training."""
