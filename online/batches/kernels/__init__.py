"""Compiled twins of the simulator and of the built-in masters; they give the same contacts."""
