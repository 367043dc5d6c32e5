"""What a network has understood: linear probes for human concepts in its hidden activations."""
