"""Hindsight optima of bags of tasks (docs/bags/theory.md)."""

from hindsched.offline.bags.api import SOLVERS, available_solvers, solve

__all__ = ["SOLVERS", "available_solvers", "solve"]
