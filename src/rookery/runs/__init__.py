"""What a run folder holds, read and written: checkpoints, records, samples, the lock."""
