"""The solvers of this family: one table, one signature, one function to call them all.

Every solver is a function ``(instance, limits) -> Found``, see `hindsched.offline.grid.found`.
"""

from __future__ import annotations

from collections.abc import Mapping

from hindsched.instances.errors import SelfCheckError
from hindsched.instances.grid import Instance, Prices, Schedule, check
from hindsched.offline.grid.found import Found, coloured
from hindsched.offline.limits import Limits, Stopwatch
from hindsched.offline.results import Result, Sense, Status
from hindsched.offline.solvers import AUTO, Solver, by_name, named

__all__ = ["SOLVERS", "available_solvers", "confirm", "solve"]

#: Every solver by name, the best first: that is the one ``auto`` takes.
SOLVERS: Mapping[str, Solver] = by_name(
    Solver(
        "cpsat",
        "local search, prices, and CP-SAT on what they leave of each block of time",
        "hindsched.offline.grid.exact",
        requires=("highspy", "numba", "ortools"),
    ),
    Solver(
        "bounds",
        "local search and prices alone, for any number of jobs",
        "hindsched.offline.grid.exact",
        requires=("highspy", "numba"),
        function="solve_bounds",
    ),
    Solver("brute", "serial generation over all orders, for at most seven jobs", "hindsched.offline.grid.brute"),
)


def available_solvers() -> list[str]:
    """Return the names of the solvers that can run here, the best first; nothing heavy is imported."""
    return [name for name, solver in SOLVERS.items() if solver.is_available()]


def solve(
    instance: Instance,
    *,
    time_limit_s: float | None = None,
    memory_limit_mb: float | None = None,
    threads: int = 1,
    seed: int = 0,
    solver: str = AUTO,
) -> Result:
    """Return the least total wait of an instance, or bounds on it, with a schedule that the checker has replayed.

    Parameters
    ----------
    instance
        All jobs are known in advance (docs/grid/model.md section 5).
    time_limit_s
        Wall-clock seconds; None: no limit, and a fixed amount of work for local search and prices.
    memory_limit_mb
        Accepted as by all families; no solver here keeps large tables.
    threads
        Threads that CP-SAT may use.
    seed
        Of the random searches. The answer of one thread without a time limit depends on nothing else.
    solver
        ``auto`` or a name of `SOLVERS`.

    Returns
    -------
    Result
        ``optimal``; or ``feasible`` where the bounds do not meet: ``lower`` is then what the certificate proves, 0
        without one. The certificate of an optimum may prove less than the optimum, see ``counts["certified"]``.

    Raises
    ------
    InputError
        For an unknown solver, a limit that cannot be meant, or an instance too large for ``brute``.
    SelfCheckError
        If the checker does not confirm schedule and certificate: a defect of the solver.

    Examples
    --------
    >>> pair = Instance(nodes=2, slot_s=60, submit=[0, 1], width=[2, 2], length=[5, 1])
    >>> answer = solve(pair, solver="brute")
    >>> print(answer.status, answer.value, answer.schedule.starts())
    optimal 2 [2, 1]
    """
    limits = Limits(time_limit_s, memory_limit_mb, threads, seed)
    watch = Stopwatch(limits)
    chosen = SOLVERS[available_solvers()[0]] if solver == AUTO else named(solver, SOLVERS)
    found: Found = chosen.load()(instance, limits)
    schedule = coloured(instance, found.starts)
    value, proven = confirm(instance, schedule, found.prices, chosen.name)
    is_optimal = found.is_optimal or proven == value
    if proven > value:
        raise SelfCheckError(f"{chosen.name} has a certificate for {proven}, but a schedule of {value}")
    return Result(
        Status.OPTIMAL if is_optimal else Status.FEASIBLE,
        Sense.MIN,
        value,
        value if is_optimal else proven,
        value,
        schedule,
        chosen.name,
        watch.elapsed_s(),
        {**found.counts, "certified": proven},
        found.prices,
        limit=None if is_optimal else found.limit,
    )


def confirm(instance: Instance, schedule: Schedule, prices: Prices | None, who: str) -> tuple[int, int]:
    """Return total wait and proven bound as the checker finds them.

    Raises
    ------
    SelfCheckError
        Where it refuses either, or a job does not run.
    """
    verdict = check(instance, schedule)
    if not verdict.is_valid:
        raise SelfCheckError(f"{who} made a schedule that the checker refuses: {verdict}")
    if verdict.outcome.failed:
        raise SelfCheckError(f"{who} left {verdict.outcome.failed} jobs out")
    if prices is None:
        return verdict.outcome.total_wait, 0
    bound = check(instance, prices)
    if not bound.is_valid:
        raise SelfCheckError(f"{who} made a certificate that the checker refuses: {bound}")
    return verdict.outcome.total_wait, bound.outcome.value
