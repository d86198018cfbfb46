"""Exact search for a block of jobs by CP-SAT: an interval for each job, under one cumulative constraint."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np
from ortools.sat.python import cp_model

from hindsched.instances.errors import SelfCheckError
from hindsched.instances.grid import Instance
from hindsched.instances.grid.model import Ints
from hindsched.offline.backends.cpsat_runs import make_solver, solve_interruptibly
from hindsched.offline.limits import Limits, Stopwatch

__all__ = ["search"]

#: Deterministic seconds of a search without a time limit.
_EFFORT = 1_000.0


def search(
    instance: Instance,
    starts: Ints,
    windows: list[list[tuple[int, int]]],
    limits: Limits,
    left_s: float | None,
    counts: dict[str, int],
) -> tuple[Ints, bool]:
    """Return the best starts that CP-SAT finds, and whether it proved them optimal.

    Parameters
    ----------
    instance
        The jobs.
    starts
        Starts of the incumbent, which CP-SAT takes as a hint.
    windows
        For each job the intervals (first, last) that contain its start in every schedule better than the incumbent.
    limits, left_s
        Threads and seed; seconds, or None without a time limit.
    counts
        Branches and conflicts are added here.

    Notes
    -----
    Of two jobs of equal width and length the one submitted earlier starts first (docs/grid/model.md section 5, fact 5).
    """
    watch = Stopwatch(Limits(left_s))  # the model is built within the limit
    model = cp_model.CpModel()
    variables, runs = [], []
    alike: dict[tuple[int, int], list[int]] = defaultdict(list)
    for j, ((_, width, length), window) in enumerate(zip(instance.rows(), windows, strict=True)):
        start = model.new_int_var_from_domain(cp_model.Domain.from_intervals([list(pair) for pair in window]), f"S{j}")
        variables.append(start)
        runs.append(model.new_fixed_size_interval_var(start, length, f"run{j}"))
        alike[width, length].append(j)
    model.add_cumulative(runs, instance.width.tolist(), instance.nodes)
    hint = starts.copy()
    for jobs in alike.values():
        hint[jobs] = np.sort(starts[jobs])
        for i, j in pairwise(jobs):
            model.add(variables[i] <= variables[j])
    for variable, start in zip(variables, hint.tolist(), strict=True):
        model.add_hint(variable, start)
    model.minimize(sum(variables) - int(instance.submit.sum()))
    solver = make_solver(limits, watch.left_s(), _EFFORT if left_s is None else None)
    status = solve_interruptibly(solver, model)
    counts["branches"] = counts.get("branches", 0) + solver.num_branches
    counts["conflicts"] = counts.get("conflicts", 0) + solver.num_conflicts
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.UNKNOWN):
        raise SelfCheckError(f"CP-SAT calls the model {solver.status_name(status)}")
    if status == cp_model.UNKNOWN:
        return starts, False
    found = np.array([solver.value(variable) for variable in variables], dtype=np.int64)
    if found.sum() > starts.sum():
        if status == cp_model.OPTIMAL:
            raise SelfCheckError("CP-SAT calls a schedule optimal that is worse than the incumbent")
        return starts, False
    return found, status == cp_model.OPTIMAL
