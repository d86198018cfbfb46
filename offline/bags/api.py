"""The exact solvers of ``bags``: their table, and the function that calls them.

A solver is a function ``(instance, limits) -> Claim``, see `hindsched.offline.bags.claim`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from hindsched.instances.bags import Instance, Store, check
from hindsched.instances.errors import InputError
from hindsched.offline.bags.claim import Claim
from hindsched.offline.confirmation import expect_valid, expect_value
from hindsched.offline.limits import Limits, Stopwatch
from hindsched.offline.results import Result
from hindsched.offline.solvers import AUTO, Solver, available, by_name, named

__all__ = ["SOLVERS", "available_solvers", "confirm", "solve"]

#: Every solver by name; ``auto`` takes the polynomial one that applies, else ``levels``.
SOLVERS: Mapping[str, Solver] = by_name(
    Solver(
        "closed",
        "closed forms: private stores, one segment or one task, or shared on demand",
        "hindsched.offline.bags.exact_solvers",
        function="solve_closed_forms",
    ),
    Solver(
        "matching",
        "polynomial matching of positions, for two segments, shared, not on demand",
        "hindsched.offline.bags.exact_solvers",
        function="solve_matching",
    ),
    Solver(
        "levels",
        "bounds, target greedy, annealed levels and exact decisions, for shared stores, not on demand",
        "hindsched.offline.bags.exact_solvers",
        requires=("numba", "ortools"),
        function="solve_levels",
    ),
    Solver(
        "chains",
        "CP-SAT model of every segment of every task, not on demand, small",
        "hindsched.offline.bags.chains_cpsat",
        requires=("ortools",),
    ),
    Solver(
        "ticks",
        "integer linear program with a variable for each level and tick, through PuLP, shared, not on demand, tiny",
        "hindsched.offline.bags.ticks_ilp",
        requires=("pulp",),
    ),
)


def available_solvers() -> list[str]:
    """Return the names of the solvers that can run here, without importing one."""
    return available(SOLVERS)


def solve(
    instance: Instance,
    *,
    solver: str = AUTO,
    store: Store | str | None = None,
    on_demand: bool | None = None,
    time_limit_s: float | None = None,
    memory_limit_mb: float | None = None,
    threads: int = 1,
    seed: int = 0,
) -> Result:
    """Return the hindsight optimum of an instance, or bounds on it, with a schedule that the checker has replayed.

    Parameters
    ----------
    instance
        With all states known (docs/bags/model.md section 4).
    solver
        ``auto`` or a name of `SOLVERS`. ``auto`` is polynomial wherever a polynomial algorithm is known: everywhere but
        for a shared store, not on demand, with three segments or more.
    store, on_demand
        Replace those of the instance; None: keep them. The schedule is then one of `Instance.replace` with these.
    time_limit_s
        Wall-clock seconds; None: no limit, but a fixed amount of work for each step of the search.
    memory_limit_mb
        Accepted as by all families; no solver here keeps large tables.
    threads
        Threads that CP-SAT may use.
    seed
        Seed of the random searches. The answer of one thread without a time limit depends on nothing else.

    Returns
    -------
    Result
        ``optimal``, ``infeasible`` within the known slots, or ``bounds``: ``lower`` is proven, and ``value`` is the
        turnaround of the best schedule, if one was found. ``by`` names the method behind the lower bound. Where moves
        of checkpoints are paid, there is an optimum only if both bounds agree.

    Raises
    ------
    InputError
        For an unknown solver or store, a solver that does not apply to the instance, or an invalid limit.
    SelfCheckError
        If the checker does not confirm the schedule: a defect of the solver.

    Examples
    --------
    >>> pair = Instance.from_letters(["uuuu", "uduu"], ticks=[5, 6], slot=4, tasks=2, segments=2)
    >>> for store in Store:
    ...     for on_demand in (False, True):
    ...         answer = solve(pair, store=store, on_demand=on_demand)
    ...         print(store, on_demand, answer.status, answer.value, answer.by)
    shared False optimal 15 matching
    shared True optimal 13 fluid
    private False infeasible None whole-segments
    private True optimal 16 private-on-demand
    """
    limits = Limits(time_limit_s, memory_limit_mb, threads, seed)
    watch = Stopwatch(limits)
    if store is not None or on_demand is not None:
        instance = instance.replace(
            store=instance.store if store is None else store,
            on_demand=instance.on_demand if on_demand is None else on_demand,
        )
    if not instance.is_move_paid:
        claim = _claim(instance, solver, limits)
    elif solver == AUTO:
        claim = _bounds_with_paid_moves(instance, limits)
    else:
        raise InputError(f"{solver}, expected {AUTO}: moves are paid, and only bounds are known", place="solver")
    result = claim.result(watch.elapsed_s())
    confirm(instance, result)
    return result


def _claim(instance: Instance, solver: str, limits: Limits) -> Claim:
    claim: Claim = named(_best(instance) if solver == AUTO else solver, SOLVERS).load()(instance, limits)
    return claim


def _bounds_with_paid_moves(instance: Instance, limits: Limits) -> Claim:
    """Return the optimum without the price of moves as a bound, and a schedule that moves nothing (H10)."""
    free = _claim(instance.replace(move=0), AUTO, limits)
    still = _claim(instance.replace(move=0, store=Store.PRIVATE), AUTO, limits)
    schedule = None if still.schedule is None else replace(still.schedule, instance=instance.fingerprint)
    return replace(free, schedule=schedule, by=f"{free.by}, free moves")


def _best(instance: Instance) -> str:
    """Return the solver that ``auto`` takes."""
    if instance.on_demand or not instance.is_shared or 1 in (instance.segments, instance.tasks):
        return "closed"
    return "matching" if instance.segments == 2 else "levels"


def confirm(instance: Instance, result: Result) -> None:
    """Raise `SelfCheckError` unless the checker accepts the schedule of a result and finds its turnaround."""
    if result.schedule is None or result.value is None:
        return
    # what happens until the turnaround does not depend on later slots
    used = instance.states[:, : -(-result.value // instance.slot)]
    verdict = check(instance.replace(states=used), result.schedule)
    expect_valid(verdict, result.by)
    expect_value(result.value, verdict.outcome.turnaround, "turnaround", result.by)
