"""Hindsight optima of grids: the least total wait with all jobs known (docs/grid/model.md section 5)."""

from hindsched.offline.grid.api import SOLVERS, available_solvers, solve

__all__ = ["SOLVERS", "available_solvers", "solve"]
