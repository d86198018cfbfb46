"""The exact solvers of ``coupled``: their table, and the function that calls them.

A solver is a function ``(instance, objective, *, stand_by, limits) -> CoupledResult``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.schedule import NOT_ENROLLED, Schedule
from hindsched.instances.errors import InputError
from hindsched.instances.state_sources import KnownStates
from hindsched.instances.states import DOWN, UP
from hindsched.offline.confirmation import expect_valid, expect_value
from hindsched.offline.coupled.no_communication.team_periods import is_easy
from hindsched.offline.coupled.no_communication.team_solvers import TeamSolver
from hindsched.offline.coupled.objectives import CoupledResult, Objective
from hindsched.offline.limits import Limits
from hindsched.offline.results import Status
from hindsched.offline.solvers import AUTO, Solver, available, by_name, named

__all__ = ["SOLVERS", "SolverName", "available_solvers", "confirm", "solve"]


class SolverName(StrEnum):
    """Names of the solvers."""

    NATIVE = "native"
    CPSAT = "cpsat"
    CPSAT_WHOLE = "cpsat-whole"
    PERIODS = "periods"
    CORE = "core"
    ILP_HIGHS = "ilp-highs"
    ILP_CBC = "ilp-cbc"
    BRUTE = "brute"


#: Every solver by name, best first: ``auto`` takes the first one that is available.
SOLVERS: Mapping[str, Solver] = by_name(
    Solver(
        SolverName.NATIVE,
        "best-first search over (slot, holders of the program), for the general problem at any size",
        "hindsched.offline.coupled.search.portfolio",
        requires=("numba",),
    ),
    Solver(
        SolverName.CPSAT,
        "slot-level CP-SAT model of the general problem, between proven windows",
        "hindsched.offline.coupled.models.cpsat_solver",
        requires=("ortools",),
    ),
    Solver(
        SolverName.CPSAT_WHOLE,
        "the same model over the whole horizon, without proven windows, as a baseline",
        "hindsched.offline.coupled.models.cpsat_solver",
        requires=("ortools",),
        function="solve_whole",
    ),
    Solver(
        SolverName.PERIODS,
        "polynomial, without communication where no availability period of a worker is interrupted",
        "hindsched.offline.coupled.no_communication.common_slots_reduction",
        options=(("solver", TeamSolver.PERIODS),),
    ),
    Solver(
        SolverName.CORE,
        "k-subset intersection on 64-bit words, for instances without communication",
        "hindsched.offline.coupled.no_communication.common_slots_reduction",
        requires=("numba",),
        options=(("solver", TeamSolver.CORE),),
    ),
    Solver(
        SolverName.ILP_HIGHS,
        "integer linear program of the general problem, through PuLP, solved by HiGHS",
        "hindsched.offline.coupled.models.ilp_solver",
        requires=("pulp", "highspy"),
        function="solve_by_highs",
    ),
    Solver(
        SolverName.ILP_CBC,
        "the same program, solved by CBC",
        "hindsched.offline.coupled.models.ilp_solver",
        requires=("pulp",),
        function="solve_by_cbc",
    ),
    Solver(
        SolverName.BRUTE,
        "exhaustive search over slot-by-slot decisions, for tiny instances",
        "hindsched.offline.coupled.brute",
    ),
)


def available_solvers() -> list[str]:
    """Return the names of the solvers that can run here, best first, without importing one."""
    return available(SOLVERS)


def solve(
    instance: Instance,
    objective: Objective | str = Objective.MAKESPAN,
    *,
    solver: str = AUTO,
    stand_by: bool = True,
    time_limit_s: float | None = None,
    memory_limit_mb: float | None = None,
    threads: int = 1,
    seed: int = 0,
) -> CoupledResult:
    """Return the hindsight optimum of an instance, with a schedule that the checker has replayed.

    Parameters
    ----------
    instance
        With all states known: the optimum is over all schedules that R1-R5 admit.
    objective
        ``makespan``: fewest slots to complete the instance's iterations. ``iterations``: most iterations completed
        within its slots.
    solver
        ``auto`` or a name of `SOLVERS`. ``auto`` is the polynomial ``periods`` where it applies, else the first
        available solver.
    stand_by
        False: a worker may receive the program only in an iteration in which it computes (docs/model.md section 3).
    time_limit_s
        Wall-clock seconds; None: no limit. A solver stopped by it returns its best schedule and a proven bound. The
        loading of machine code, and its compilation at the first use on a machine, does not count for ``native``.
    memory_limit_mb
        Megabytes for the tables of a solver that counts them; None: no limit.
    threads
        Threads a solver may use.
    seed
        Seed of a solver that draws random numbers. The answer of one thread without a time limit depends on
        nothing else.

    Returns
    -------
    CoupledResult
        For the makespan the schedule covers exactly ``value`` slots. For the iterations it covers all slots, also if
        no iteration can be completed.

    Raises
    ------
    InputError
        For an unknown objective or solver, an invalid limit, or an instance too large for ``brute``.
    SelfCheckError
        If the checker does not confirm the schedule: a defect of the solver.

    Examples
    --------
    >>> pair = Instance.from_letters(["uuruu", "uruuu"], w=[1, 2], tasks=2, t_prog=1, n_com=1)
    >>> answer = solve(pair, solver="brute")
    >>> print(answer.status, answer.value, answer.bound, *answer.schedule.letters)
    optimal 4 4 PCIC ....
    """
    if not isinstance(instance, Instance):
        raise InputError(f"{type(instance).__name__}, expected an instance of coupled", place="instance")
    limits = Limits(time_limit_s, memory_limit_mb, threads, seed)
    goal = Objective.parse(objective)
    chosen = named(_best(instance) if solver == AUTO else solver, SOLVERS)
    if goal is Objective.MAKESPAN and instance.iterations > instance.slots:  # an iteration takes at least one slot
        return CoupledResult.of(Status.INFEASIBLE, goal, None, None, None, chosen.name, 0.0)
    if _holds_too_few(instance):
        if goal is Objective.MAKESPAN:
            return CoupledResult.of(Status.INFEASIBLE, goal, None, None, None, chosen.name, 0.0)
        nothing = Schedule(instance.fingerprint, (NOT_ENROLLED * instance.slots,) * instance.num_workers, ())
        return CoupledResult.of(Status.OPTIMAL, goal, 0, 0, nothing, chosen.name, 0.0)
    result: CoupledResult = chosen.load()(instance, goal, stand_by=stand_by, limits=limits)
    confirm(instance, result)
    return result


def _holds_too_few(instance: Instance) -> bool:
    """Return whether the workers provably cannot hold m tasks at once; only tested where m exceeds the slots.

    A worker needs T_prog UP slots for the program, and T_data + w_q further UP slots for each task. Solvers have tables
    of size m, so an m that no schedule can reach must not get to them.
    """
    if instance.tasks <= instance.slots:
        return False
    num_up = (instance.states == UP).sum(axis=1).tolist()
    spare = [max(0, up - instance.t_prog) for up in num_up]
    rows = zip(instance.capacities, spare, instance.w, strict=True)
    held: int = sum(min(cap, left // (w + instance.t_data)) for cap, left, w in rows)
    return held < instance.tasks


def _best(instance: Instance) -> str:
    """Return the solver that ``auto`` takes; states that are drawn on demand stay undrawn."""
    is_free = not instance.t_prog and not instance.t_data and isinstance(instance.source, KnownStates)
    if is_free and is_easy(instance.states == UP, instance.states == DOWN):
        return SolverName.PERIODS
    return available_solvers()[0]


def confirm(instance: Instance, result: CoupledResult) -> None:
    """Raise `SelfCheckError` unless the checker accepts the schedule of a result and finds its value."""
    if result.schedule is None:
        return
    from hindsched.instances.coupled.replay import replay  # late: it loads the compiler

    verdict = replay(instance, result.schedule)
    expect_valid(verdict, result.by)
    is_makespan = result.objective is Objective.MAKESPAN
    found = verdict.outcome.makespan if is_makespan else verdict.outcome.iterations
    expect_value(result.value, found, str(result.objective), result.by)
