"""The simulator and the built-in schedulers of bags as machine code, run for run the same as their plain twins."""
