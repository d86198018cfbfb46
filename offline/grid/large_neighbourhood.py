"""Large neighbourhood search: CP-SAT places a few jobs again while all others stay.

A *neighbourhood* contains jobs near one that waits long or is large. No step makes a schedule worse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from ortools.sat.python import cp_model

from hindsched.instances.grid import Instance
from hindsched.instances.grid.model import Ints
from hindsched.offline.backends.cpsat_runs import make_solver, solve_interruptibly
from hindsched.offline.grid.order_search import in_order, total_wait
from hindsched.offline.limits import Limits, Stopwatch

__all__ = ["NeighbourhoodParameters", "refined"]


@dataclass(frozen=True, slots=True)
class NeighbourhoodParameters:
    """Parameters of the large neighbourhood search.

    Parameters
    ----------
    least_jobs, most_jobs
        Limits on the number of jobs of a neighbourhood, which adapts: a proof makes it larger, a failure smaller.
    first_jobs
        Initial number of jobs.
    growth, shrinkage
        Factors of the number of jobs after a proof, and (as a divisor) without one.
    most_steps, steps_per_job
        Number of neighbourhoods without a time limit: the smaller of both.
    effort
        Deterministic seconds of CP-SAT for a neighbourhood.
    """

    least_jobs: int = 8
    most_jobs: int = 60
    first_jobs: int = 16
    growth: float = 1.03
    shrinkage: float = 1.1
    most_steps: int = 400
    steps_per_job: int = 2
    effort: float = 0.3


_PARAMETERS = NeighbourhoodParameters()


def refined(
    instance: Instance, starts: Ints, limits: Limits, watch: Stopwatch, until_s: float | None, counts: dict[str, int]
) -> Ints:
    """Return starts at least as good.

    Parameters
    ----------
    instance
        At least one job.
    starts
        Initial starts.
    limits
        The seed; without a time limit the result depends on nothing else.
    watch, until_s
        When to stop; None: after a fixed amount of work.
    counts
        Steps and gains are added here.

    References
    ----------
    P. Shaw, "Using constraint programming and local search methods to solve vehicle routing problems", CP 1998 (large
    neighbourhood search).
    """
    random = np.random.default_rng(limits.seed)
    best = in_order(instance, np.argsort(starts, kind="stable"))
    steps = min(_PARAMETERS.most_steps, _PARAMETERS.steps_per_job * len(instance)) if until_s is None else 10**9
    size = float(_PARAMETERS.first_jobs)
    for _ in range(steps):
        left_s = None if until_s is None else until_s - watch.elapsed_s()
        if watch.is_over() or (left_s is not None and left_s <= 0) or not total_wait(instance, best):
            break
        before = total_wait(instance, best)
        free = _neighbourhood(instance, best, int(size), random)
        is_proven = _solve(instance, best, free, int(random.integers(2**31)), left_s)
        if is_proven:
            size = min(_PARAMETERS.most_jobs, size * _PARAMETERS.growth)
        else:
            size = max(_PARAMETERS.least_jobs, size / _PARAMETERS.shrinkage)
        if total_wait(instance, best) < before:
            best = in_order(instance, np.argsort(best, kind="stable"))  # which delays no job
            counts["gains"] = counts.get("gains", 0) + 1
        counts["steps"] = counts.get("steps", 0) + 1
    return best


def _background(instance: Instance, starts: Ints, free: Ints, low: int) -> tuple[Ints, Ints, Ints]:
    """Return start, width and length of the jobs that run from slot ``low`` on, without the free jobs."""
    others = np.ones(len(instance), dtype=bool)
    others[free] = False
    others &= starts + instance.length > low
    begin = np.maximum(starts[others], low)
    return begin, instance.width[others], starts[others] + instance.length[others] - begin


def _neighbourhood(instance: Instance, starts: Ints, size: int, random: np.random.Generator) -> Ints:
    """Return jobs near a random one, which is drawn by its wait or by its area.

    Near are jobs that could exchange places with it: their times from submission to end overlap. Of these the function
    returns those that wait longest or start next to it.
    """
    wait = starts - instance.submit
    area = instance.width * instance.length
    weight = (wait if random.integers(2) else area).astype(float) + 1e-9
    centre = int(random.choice(len(instance), p=weight / weight.sum()))
    ends = starts + instance.length
    near = (instance.submit < ends[centre]) & (ends > instance.submit[centre])
    distance = np.abs(starts - starts[centre]) * random.uniform(0.5, 1.5, len(instance))
    if random.integers(2):  # prefers jobs that wait and jobs that block others
        distance = distance / (1.0 + wait + area / instance.nodes)
    distance[~near] = np.inf
    distance[centre] = -1.0
    chosen = np.argsort(distance, kind="stable")[:size]
    return np.sort(chosen[np.isfinite(distance[chosen])])


def _solve(instance: Instance, starts: Ints, free: Ints, seed: int, left_s: float | None) -> bool:
    """Place the free jobs by CP-SAT; return whether it proved that no better placement exists.

    Besides its fixed effort it has ``left_s`` seconds; None: no limit.
    """
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
    solver = make_solver(Limits(seed=seed), left_s, _PARAMETERS.effort)
    status = solve_interruptibly(solver, model)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        found = np.array([solver.value(variable) for variable in variables], dtype=np.int64)
        if found.sum() <= starts[free].sum():
            starts[free] = found
    return bool(status == cp_model.OPTIMAL)
