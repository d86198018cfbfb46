"""Hindsight optima of a job with a deadline: least costs, Lagrangian bounds and their certificates."""

from hindsched.offline.deadline.api import SOLVERS, available_solvers, solve

__all__ = ["SOLVERS", "available_solvers", "solve"]
