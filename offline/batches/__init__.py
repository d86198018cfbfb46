"""Hindsight optima of batches on volunteers, on three rungs, proven by schedules and cuts.

Read ``api`` (the solvers), ``plain`` (docs/batches/model.md section 6 as code), then ``native`` and its ``kernels``.
"""

from hindsched.offline.batches.api import SOLVERS, available_solvers, solve
from hindsched.offline.batches.hindsight import BatchAnswer, Hindsight

__all__ = ["SOLVERS", "BatchAnswer", "Hindsight", "available_solvers", "solve"]
