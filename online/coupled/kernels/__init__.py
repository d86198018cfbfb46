"""The simulator and the built-in heuristics as machine code, run for run the same as their plain twins."""
