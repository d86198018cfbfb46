"""Hindsight for batches on volunteers: three rungs, each with schedules and cuts that prove it."""

from hindsched.offline.batches.api import SOLVERS, available_solvers, solve
from hindsched.offline.batches.hindsight import BatchAnswer, Hindsight

__all__ = ["SOLVERS", "BatchAnswer", "Hindsight", "available_solvers", "solve"]
