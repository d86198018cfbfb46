"""Good schedules made better piece by piece: a few jobs move, all others stay where they are.

The *neighbourhood* of a job that waits long, or is large, is solved by CP-SAT. No step makes a schedule worse.
"""

from __future__ import annotations

import numpy as np
from ortools.sat.python import cp_model

from hindsched.instances.grid import Instance
from hindsched.instances.grid.model import Ints
from hindsched.offline.backends.cpsat_runs import solve_interruptibly
from hindsched.offline.grid.order_search import in_order, total_wait
from hindsched.offline.limits import Limits, Stopwatch

__all__ = ["refined"]

#: Jobs of a neighbourhood: at least and at most.
_FEWEST, _MOST = 8, 60
#: Steps for each job, and at most, where no time limit is set.
_STEPS_PER_JOB, _STEPS = 2, 400
#: Deterministic time of CP-SAT for a neighbourhood.
_EFFORT = 0.3


def refined(
    instance: Instance, starts: Ints, limits: Limits, watch: Stopwatch, until_s: float | None, counts: dict[str, int]
) -> Ints:
    """Return starts at least as good.

    Parameters
    ----------
    instance
        At least one job.
    starts
        Where to begin.
    limits
        The seed of all draws; without a time limit the answer depends on nothing else.
    watch, until_s
        When to stop; None: after a fixed amount of work.
    counts
        Steps are added to it.

    References
    ----------
    P. Shaw, "Using constraint programming and local search methods to solve vehicle routing problems", CP 1998 (large
    neighbourhood search).
    """
    random = np.random.default_rng(limits.seed)
    best = in_order(instance, np.argsort(starts, kind="stable"))
    steps = min(_STEPS, _STEPS_PER_JOB * len(instance)) if until_s is None else 10**9
    size = float(_FEWEST + 8)
    for _ in range(steps):
        if watch.is_over() or (until_s is not None and watch.elapsed_s() >= until_s) or not total_wait(instance, best):
            break
        before = total_wait(instance, best)
        free = _neighbourhood(instance, best, int(size), random)
        is_proven = _solve(instance, best, free, int(random.integers(2**31)))
        size = min(_MOST, size * 1.03) if is_proven else max(_FEWEST, size / 1.1)
        if total_wait(instance, best) < before:
            best = in_order(instance, np.argsort(best, kind="stable"))  # nobody starts later than before
            counts["gains"] = counts.get("gains", 0) + 1
        counts["steps"] = counts.get("steps", 0) + 1
    return best


def _background(instance: Instance, starts: Ints, free: Ints, low: int) -> tuple[Ints, Ints, Ints]:
    """Return start, width and length of what runs from a slot on, the free jobs left out."""
    others = np.ones(len(instance), dtype=bool)
    others[free] = False
    others &= starts + instance.length > low
    begin = np.maximum(starts[others], low)
    return begin, instance.width[others], starts[others] + instance.length[others] - begin


def _neighbourhood(instance: Instance, starts: Ints, size: int, random: np.random.Generator) -> Ints:
    """Return some jobs near one that was drawn: by its wait, or by the area that others may be waiting for.

    Near are those that could take its place or whose place it could take: their times from submission to end overlap
    with its own; of these the ones that wait longest or start next to it.
    """
    wait = starts - instance.submit
    area = instance.width * instance.length
    weight = (wait if random.integers(2) else area).astype(float) + 1e-9
    centre = int(random.choice(len(instance), p=weight / weight.sum()))
    ends = starts + instance.length
    near = (instance.submit < ends[centre]) & (ends > instance.submit[centre])
    distance = np.abs(starts - starts[centre]) * random.uniform(0.5, 1.5, len(instance))
    if random.integers(2):  # who waits, and who is in the way
        distance = distance / (1.0 + wait + area / instance.nodes)
    distance[~near] = np.inf
    distance[centre] = -1.0
    chosen = np.argsort(distance, kind="stable")[:size]
    return np.sort(chosen[np.isfinite(distance[chosen])])


def _solve(instance: Instance, starts: Ints, free: Ints, seed: int) -> bool:
    """Place the free jobs as well as CP-SAT can; return whether it proved that nothing better is left."""
    low = int(instance.submit[free].min())
    high = int((starts[free] + instance.length[free]).max())
    begin, width, length = _background(instance, starts, free, low)
    inside = begin < high
    model = cp_model.CpModel()
    runs = [
        model.new_fixed_size_interval_var(int(b), int(s), "")
        for b, s in zip(begin[inside].tolist(), length[inside].tolist(), strict=True)
    ]
    variables = []
    for j in free.tolist():
        last = high - int(instance.length[j])
        variables.append(model.new_int_var(int(instance.submit[j]), max(last, int(starts[j])), ""))
        runs.append(model.new_fixed_size_interval_var(variables[-1], int(instance.length[j]), ""))
        model.add_hint(variables[-1], int(starts[j]))
    model.add_cumulative(runs, [*width[inside].tolist(), *instance.width[free].tolist()], instance.nodes)
    model.minimize(sum(variables))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.max_deterministic_time = _EFFORT
    status = solve_interruptibly(solver, model)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        found = np.array([solver.value(variable) for variable in variables], dtype=np.int64)
        if found.sum() <= starts[free].sum():
            starts[free] = found
    return bool(status == cp_model.OPTIMAL)
