"""Optima of bags of tasks with every state known (docs/bags/theory.md)."""

from hindsched.offline.bags.api import SOLVERS, available_solvers, solve

__all__ = ["SOLVERS", "available_solvers", "solve"]
