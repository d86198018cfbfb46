"""The back ends by name, which are imported at their first use, and the choice of ``auto``."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from hindsched.instances.errors import InputError
from hindsched.offline.backends.pulp_runs import MilpSolver
from hindsched.offline.coupled.no_communication.common_slots import CommonSlots
from hindsched.offline.coupled.no_communication.team_periods import is_easy
from hindsched.offline.limits import NO_LIMITS, Limits
from hindsched.offline.results import Result
from hindsched.offline.solvers import AUTO, Solver, by_name, named

__all__ = ["BACKENDS", "TeamSolver", "answer", "available_backends", "choose"]

_HERE = "hindsched.offline.coupled.no_communication"


class TeamSolver(StrEnum):
    """The back ends."""

    PERIODS = "periods"
    CORE = "core"
    PLAIN = "plain"
    CPSAT = "cpsat"
    HIGHS = "highs"
    CBC = "cbc"
    BRUTE = "brute"


#: Every back end by name: a function ``(problem, limits) -> Result``.
BACKENDS: Mapping[str, Solver] = by_name(
    Solver(
        TeamSolver.PERIODS,
        "polynomial; where no availability period of a worker is interrupted",
        f"{_HERE}.team_periods",
    ),
    Solver(TeamSolver.CORE, "k-subset intersection on 64-bit words", f"{_HERE}.team_core", ("numba",)),
    Solver(TeamSolver.PLAIN, "plain branch and bound over workers", f"{_HERE}.team_plain"),
    Solver(TeamSolver.CPSAT, "CP-SAT model with implicit team length", f"{_HERE}.team_cpsat", ("ortools",)),
    Solver(
        TeamSolver.HIGHS,
        "integer program by levels, solved by HiGHS",
        f"{_HERE}.team_ilp",
        ("pulp", "highspy"),
        options=(("solver", MilpSolver.HIGHS),),
    ),
    Solver(
        TeamSolver.CBC,
        "integer program by levels, solved by CBC",
        f"{_HERE}.team_ilp",
        ("pulp",),
        options=(("solver", MilpSolver.CBC),),
    ),
    Solver(TeamSolver.BRUTE, "every assignment of tasks, for tests", f"{_HERE}.team_brute"),
)


def available_backends() -> list[str]:
    """Return the names of the back ends that are installed; importing none of them."""
    return [name for name, backend in BACKENDS.items() if backend.is_available()]


def choose(problem: CommonSlots, name: str = AUTO) -> Solver:
    """Return the back end of this name; ``auto``: the polynomial one where it applies, else the core search.

    Raises
    ------
    InputError
        For an unknown name, or ``periods`` where it does not apply.
    """
    if name == AUTO:
        search = TeamSolver.CORE if BACKENDS[TeamSolver.CORE].is_available() else TeamSolver.PLAIN
        return BACKENDS[TeamSolver.PERIODS if is_easy(problem.up, problem.down) else search]
    if name == TeamSolver.PERIODS and not is_easy(problem.up, problem.down):
        raise InputError("periods: a worker is RECLAIMED between two UP slots, expected UP or DOWN", place="solver")
    return named(name, BACKENDS)


def answer(problem: CommonSlots, solver: str = AUTO, limits: Limits = NO_LIMITS) -> Result:
    """Solve a problem by a back end; the schedule of the result is a checked `Team`.

    Raises
    ------
    InputError
        For a back end that is unknown, not installed or does not apply.
    SelfCheckError
        If the team is invalid or has another value than claimed: a defect of the back end.

    Examples
    --------
    >>> from hindsched.offline.coupled.no_communication.common_slots import Aim
    >>> found = answer(CommonSlots.of_rows(["1101", "1011", "0111"], tasks=2, aim=Aim.WIDEST))
    >>> print(found.status, found.value, found.schedule)
    optimal 2 Team(tasks={0: 1, 1: 1}, slots=(0, 3))
    """
    found: Result = choose(problem, solver).load()(problem, limits)
    return found
