"""Compiled twins of the schedulers of the grid; they give the same allocations and counters."""
