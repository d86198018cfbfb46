"""Hindsight optima of batches on volunteers, on three rungs, proven by schedules and cuts."""

from hindsched.offline.batches.api import SOLVERS, available_solvers, solve
from hindsched.offline.batches.hindsight import BatchAnswer, Hindsight

__all__ = ["SOLVERS", "BatchAnswer", "Hindsight", "available_solvers", "solve"]
