"""Programs that speak UCI: their processes, their faults, and threads that wait for them."""
