"""Hindsight optima of bags of tasks (docs/bags/theory.md).

Read ``api`` (the solvers), ``exact_solvers`` (which method for which instance) and ``availability_periods`` (the data
that all methods use). Polynomial methods: ``closed_forms``, ``matching``, ``fluid_schedule``, ``round_robin``. The
search for shared stores is ``shared_store``: ``lower_bounds``, ``composition_bound``, then ``greedy`` and ``levels``,
then proofs by ``feasibility_cpsat``. ``chains_cpsat``, ``ticks_ilp`` and ``brute`` are independent models to compare
with.
"""

from hindsched.offline.bags.api import SOLVERS, available_solvers, solve

__all__ = ["SOLVERS", "available_solvers", "solve"]
