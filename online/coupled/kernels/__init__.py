"""Compiled twins of the simulator and of the paper's heuristics; they give the same runs."""
