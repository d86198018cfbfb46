"""The exact solvers of ``deadline``: their table, and the function that calls them.

A solver is a function ``(instance, guard, limits) -> Claim``, see `hindsched.offline.deadline.claim`.
"""

from __future__ import annotations

from collections.abc import Mapping

from hindsched.instances.deadline import Guard, Instance, Rung, check
from hindsched.instances.deadline.guards import guard_of_rung
from hindsched.offline.confirmation import expect_valid, expect_value
from hindsched.offline.deadline.claim import Claim
from hindsched.offline.limits import Limits, Stopwatch
from hindsched.offline.results import Result
from hindsched.offline.solvers import AUTO, Solver, available, by_name, named

__all__ = ["SOLVERS", "available_solvers", "confirm", "solve"]

#: Every solver by name; ``auto`` takes the first that is available.
SOLVERS: Mapping[str, Solver] = by_name(
    Solver(
        "native",
        "least costs by state and amount of work, cut off by the Lagrangian bound",
        "hindsched.offline.deadline.native",
        requires=("numba",),
    ),
    Solver(
        "fronts",
        "Pareto fronts of work and cost in plain Python, for numbers of any size",
        "hindsched.offline.deadline.fronts",
    ),
    Solver(
        "ilp-highs",
        "0/1 program through PuLP, solved by HiGHS, rung free",
        "hindsched.offline.deadline.integer_program",
        requires=("pulp", "highspy"),
        options=(("backend", "highs"),),
    ),
    Solver(
        "ilp-cbc",
        "0/1 program through PuLP, solved by CBC, rung free",
        "hindsched.offline.deadline.integer_program",
        requires=("pulp",),
        options=(("backend", "cbc"),),
    ),
    Solver(
        "cpsat",
        "CP-SAT model of the rules slot by slot, rung free",
        "hindsched.offline.deadline.cpsat",
        requires=("ortools",),
    ),
    Solver("brute", "enumeration of all sequences of placements, tiny", "hindsched.offline.deadline.brute"),
)


def available_solvers() -> list[str]:
    """Return the names of the solvers that can run here, without importing one."""
    return available(SOLVERS)


def solve(
    instance: Instance,
    *,
    rung: Rung | str = Rung.FREE,
    guard: Guard | str | None = None,
    solver: str = AUTO,
    time_limit_s: float | None = None,
    memory_limit_mb: float | None = None,
    threads: int = 1,
    seed: int = 0,
) -> Result:
    """Return the least cost of a complete schedule, or bounds on it, with a schedule that the checker has replayed.

    Parameters
    ----------
    instance
        With spot and prices of all slots known (docs/deadline/model.md section 4).
    rung
        ``free``: all schedules count. ``guarded``: only those that the guard lets run.
    guard
        The guard of ``guarded``; None: ``step`` with one zone, ``latched`` with several.
    solver
        ``auto`` or a name of `SOLVERS`.
    time_limit_s
        Wall-clock seconds; None: no limit.
    memory_limit_mb
        Accepted as by all families; no solver here counts its memory.
    threads
        Threads that CP-SAT and HiGHS may use.
    seed
        Accepted as by all families; the native solver draws no numbers.

    Returns
    -------
    Result
        ``optimal``, ``infeasible`` by the deadline, or ``bounds``. Values are units of money
        (`hindsched.instances.deadline.UNITS_PER_DOLLAR`). The certificate proves the Lagrangian bound.

    Raises
    ------
    InputError
        For an unknown rung, guard or solver, a solver that does not apply to the instance, or an invalid limit.
    SelfCheckError
        If the checker does not confirm the schedule or the certificate: a defect of the solver.

    Examples
    --------
    >>> from hindsched.instances.deadline.generate import generate
    >>> job = generate(4, slots=12)
    >>> solve(job).value, solve(job, rung="guarded").value, solve(job, solver="fronts").value
    (9011160000, 10263300000, 9011160000)
    """
    kept = guard_of_rung(instance, rung, guard)
    limits = Limits(time_limit_s, memory_limit_mb, threads, seed)
    watch = Stopwatch(limits)
    chosen = named(available_solvers()[0] if solver == AUTO else solver, SOLVERS)
    claim: Claim = chosen.load()(instance, kept, limits)
    result = claim.result(watch.elapsed_s())
    confirm(instance, result, kept)
    return result


def confirm(instance: Instance, result: Result, guard: Guard | None) -> None:
    """Raise `SelfCheckError` unless the checker accepts schedule and certificate of a result and finds their values."""
    if result.schedule is not None:
        rung = Rung.FREE if guard is None else Rung.GUARDED
        verdict = check(instance, result.schedule, rung=rung, guard=guard)
        expect_valid(verdict, result.by)
        expect_value(result.value, verdict.outcome.cost, "cost", result.by)
    if result.certificate is not None:
        expect_valid(check(instance, result.certificate), result.by, "a certificate")
