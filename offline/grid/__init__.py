"""Optima of grids with all jobs known: the least total wait (docs/grid/bounds.md)."""

from hindsched.offline.grid.api import SOLVERS, available_solvers, solve

__all__ = ["SOLVERS", "available_solvers", "solve"]
