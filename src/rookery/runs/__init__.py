"""Reading and writing run folders: checkpoints, records, samples, the lock."""
