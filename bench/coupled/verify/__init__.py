"""Verification commands: the solvers, the reductions, and the two simulators."""
