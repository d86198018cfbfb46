"""Hindsight optima of grids: the least total wait with all jobs known (docs/grid/bounds.md).

Read ``api`` (the solvers) and ``block_solver`` (their steps). Schedules come from ``delayed_queue``, ``order_search``
and ``large_neighbourhood``; bounds from ``job_prices``, found by ``subgradient`` and by ``linear_program`` with
``knapsack_cuts``; proofs from ``block_cpsat``. ``brute`` is an independent search to compare with.
"""

from hindsched.offline.grid.api import SOLVERS, available_solvers, solve

__all__ = ["SOLVERS", "available_solvers", "solve"]
