"""The exact solvers of ``grid``: their table, and the function that calls them.

A solver is a function ``(instance, limits) -> Claim``, see `hindsched.offline.grid.claim`.
"""

from __future__ import annotations

from collections.abc import Mapping

from hindsched.instances.errors import SelfCheckError
from hindsched.instances.grid import Instance, PriceCertificate, Schedule, check
from hindsched.offline.confirmation import expect_valid, expect_value
from hindsched.offline.grid.claim import Claim, assign_nodes
from hindsched.offline.limits import Limits, Stopwatch
from hindsched.offline.results import Result, Sense, Status
from hindsched.offline.solvers import AUTO, Solver, available, by_name, named

__all__ = ["SOLVERS", "available_solvers", "confirm", "solve"]

#: Every solver by name, the best first: ``auto`` takes the first one that is available.
SOLVERS: Mapping[str, Solver] = by_name(
    Solver(
        "cpsat",
        "local search, Lagrangian bounds, and CP-SAT on what they leave of each block of time",
        "hindsched.offline.grid.block_solver",
        requires=("highspy", "numba", "ortools"),
    ),
    Solver(
        "bounds",
        "local search and Lagrangian bounds alone, for any number of jobs",
        "hindsched.offline.grid.block_solver",
        requires=("highspy", "numba"),
        function="solve_bounds",
    ),
    Solver("brute", "serial generation over all orders, for at most seven jobs", "hindsched.offline.grid.brute"),
)


def available_solvers() -> list[str]:
    """Return the names of the solvers that can run here, best first, without importing one."""
    return available(SOLVERS)


def solve(
    instance: Instance,
    *,
    solver: str = AUTO,
    time_limit_s: float | None = None,
    memory_limit_mb: float | None = None,
    threads: int = 1,
    seed: int = 0,
) -> Result:
    """Return the least total wait of an instance, or bounds on it, with a schedule that the checker has replayed.

    Parameters
    ----------
    instance
        With all jobs known in advance (docs/grid/model.md section 5).
    solver
        ``auto`` or a name of `SOLVERS`.
    time_limit_s
        Wall-clock seconds; None: no limit, but a fixed amount of work for local search and bounds.
    memory_limit_mb
        Accepted as by all families; no solver here keeps large tables.
    threads
        Threads that CP-SAT may use.
    seed
        Seed of the random searches. The answer of one thread without a time limit depends on nothing else.

    Returns
    -------
    Result
        ``optimal``, or ``feasible`` where the bounds do not meet: ``lower`` is then what the certificate proves, and 0
        without one. The certificate of an optimum may prove less than the optimum; ``counts["certified"]`` says how
        much.

    Raises
    ------
    InputError
        For an unknown solver, an invalid limit, or an instance too large for ``brute``.
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
    chosen = named(available_solvers()[0] if solver == AUTO else solver, SOLVERS)
    claim: Claim = chosen.load()(instance, limits)
    schedule = assign_nodes(instance, claim.starts)
    value, proven = confirm(instance, schedule, claim.prices, chosen.name)
    is_optimal = claim.is_optimal or proven == value
    return Result(
        status=Status.OPTIMAL if is_optimal else Status.FEASIBLE,
        sense=Sense.MIN,
        value=value,
        lower=value if is_optimal else proven,
        upper=value,
        schedule=schedule,
        by=chosen.name,
        runtime_s=watch.elapsed_s(),
        counts={**claim.counts, "certified": proven},
        certificate=claim.prices,
        limit=None if is_optimal else claim.limit,
    )


def confirm(instance: Instance, schedule: Schedule, prices: PriceCertificate | None, by: str) -> tuple[int, int]:
    """Return the total wait and the proven lower bound as the checker finds them; the bound is 0 without a certificate.

    Raises
    ------
    SelfCheckError
        If the checker refuses schedule or certificate, if a job does not run, or if the bound exceeds the wait.
    """
    verdict = check(instance, schedule)
    expect_valid(verdict, by)
    expect_value(0, verdict.outcome.failed, "failed jobs in its schedule", by)
    if prices is None:
        return verdict.outcome.total_wait, 0
    bound = check(instance, prices)
    expect_valid(bound, by, "a certificate")
    if bound.outcome.value > verdict.outcome.total_wait:
        raise SelfCheckError(f"{by} has a certificate for {bound.outcome.value}, but a schedule of {verdict}")
    return verdict.outcome.total_wait, bound.outcome.value
