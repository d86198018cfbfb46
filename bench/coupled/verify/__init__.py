"""Verification at length: solvers against each other, the reductions, the simulator and its plain twin, rows anew."""
