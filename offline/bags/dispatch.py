"""The solvers of this family: one table, one signature, one function to call them all.

Every solver is a function ``(instance, limits) -> Found``, see `hindsched.offline.bags.found`.
"""

from __future__ import annotations

from collections.abc import Mapping

from hindsched.instances.bags import Instance, Store, check
from hindsched.instances.errors import SelfCheckError
from hindsched.offline.bags.found import Found
from hindsched.offline.limits import Limits, Stopwatch
from hindsched.offline.results import Result, Sense, Status
from hindsched.offline.solvers import AUTO, Solver, by_name, named

__all__ = ["SOLVERS", "available_solvers", "solve"]

#: Every solver by name; ``auto`` takes the first one that is made for the instance.
SOLVERS: Mapping[str, Solver] = by_name(
    Solver(
        "closed",
        "closed forms: private stores, one segment or one task, or shared on demand",
        "hindsched.offline.bags.entries",
        function="closed_forms",
    ),
    Solver(
        "matching",
        "polynomial matching of positions, for two segments, shared, not on demand",
        "hindsched.offline.bags.entries",
        function="matching",
    ),
    Solver(
        "levels",
        "bounds, target greedy, annealed levels and exact decisions, for shared stores, not on demand",
        "hindsched.offline.bags.entries",
        requires=("numba", "ortools"),
        function="levels",
    ),
    Solver(
        "chains",
        "CP-SAT model of every segment of every task, not on demand, small",
        "hindsched.offline.bags.chain_model",
        requires=("ortools",),
    ),
    Solver(
        "ticks",
        "integer linear program with a variable for each level and tick, through PuLP, shared, not on demand, tiny",
        "hindsched.offline.bags.time_model",
        requires=("pulp",),
    ),
)


def available_solvers() -> list[str]:
    """Return the names of the solvers that can run here; nothing heavy is imported."""
    return [name for name, solver in SOLVERS.items() if solver.is_available()]


def solve(
    instance: Instance,
    *,
    store: Store | str | None = None,
    on_demand: bool | None = None,
    time_limit_s: float | None = None,
    memory_limit_mb: float | None = None,
    threads: int = 1,
    seed: int = 0,
    solver: str = AUTO,
) -> Result:
    """Return the hindsight optimum of an instance, or bounds on it, with a schedule that the checker has replayed.

    Parameters
    ----------
    instance
        Every state is known (docs/bags/model.md section 4).
    store, on_demand
        Instead of the instance's own; None: as it is. The schedule is then for `Instance.replace` with these.
    time_limit_s
        Wall-clock seconds; None: no limit, but a fixed amount of work for each step of the search.
    memory_limit_mb
        Accepted as by all families; no solver here keeps large tables.
    threads
        Threads that CP-SAT may use.
    seed
        Of the random searches. The answer of one thread without a time limit depends on nothing else.
    solver
        ``auto`` or a name of `SOLVERS`. ``auto`` is polynomial wherever a polynomial answer is known: everything but
        shared stores with three segments or more, not on demand.

    Returns
    -------
    Result
        ``optimal``, ``infeasible`` within the known slots, or ``bounds``: ``lower`` is proven, and ``value`` is that of
        the best schedule, if one was found. ``by`` names what gave the lower bound.

    Raises
    ------
    InputError
        For an unknown solver or store, a solver not made for the instance, or a limit that cannot be meant.
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
    chosen = SOLVERS[_best(instance)] if solver == AUTO else named(solver, SOLVERS)
    found: Found = chosen.load()(instance, limits)
    runtime_s = watch.elapsed_s()
    confirm(instance, found)
    status = _status(found)
    return Result(
        status,
        Sense.MIN,
        found.upper,
        found.lower,
        found.upper,
        found.schedule,
        found.by,
        runtime_s,
        found.counts,
        limit=None if status.is_proven else found.limit,
    )


def _best(instance: Instance) -> str:
    """Return the name of the solver that is made for an instance."""
    if instance.on_demand or not instance.is_shared or 1 in (instance.segments, instance.tasks):
        return "closed"
    return "matching" if instance.segments == 2 else "levels"


def _status(found: Found) -> Status:
    if found.lower is None:
        return Status.INFEASIBLE
    return Status.OPTIMAL if found.lower == found.upper else Status.BOUNDS


def confirm(instance: Instance, found: Found) -> None:
    """Raise `SelfCheckError` unless the checker finds the schedule valid and worth what is claimed."""
    if found.schedule is None or found.schedule.turnaround is None:
        return
    used = instance.states[:, : -(-found.schedule.turnaround // instance.slot)]
    # what happens by the turnaround does not depend on later slots
    verdict = check(instance.replace(states=used), found.schedule)
    if not verdict.is_valid:
        raise SelfCheckError(f"{found.by} made a schedule that the checker refuses: {verdict}")
    if verdict.outcome.turnaround != found.schedule.turnaround:
        raise SelfCheckError(f"{found.by} claims turnaround {found.upper}, the checker says {verdict}")
