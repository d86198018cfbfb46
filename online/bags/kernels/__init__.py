"""Compiled twins of the simulator and of the built-in schedulers of bags; they give the same runs."""
