"""Compiled twins of the look-ahead policies, apart from those of the paper's heuristics."""
