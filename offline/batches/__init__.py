"""Hindsight for batches on volunteers: three rungs, each with schedules and cuts that prove it."""

from hindsched.offline.batches.answer import BatchAnswer, Hindsight
from hindsched.offline.batches.solvers import SOLVERS, available_solvers, solve

__all__ = ["SOLVERS", "BatchAnswer", "Hindsight", "available_solvers", "solve"]
