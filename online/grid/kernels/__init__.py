"""The schedulers of the grid as machine code: the same allocations and counters as the plain ones, run for run."""
