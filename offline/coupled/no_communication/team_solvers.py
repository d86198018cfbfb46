"""The back ends by name, none of them imported before it is asked for, and which one ``auto`` takes."""

from __future__ import annotations

from collections.abc import Mapping

from instances.errors import InputError, SelfCheckError
from offline.coupled.no_communication.common_slots import NO_LIMITS, Answer, CommonSlots, value_of
from offline.coupled.no_communication.team_windows import is_easy
from offline.limits import Limits
from offline.solvers import AUTO, Solver, by_name, named

__all__ = ["BACKENDS", "answer", "available_backends", "choose"]

_HERE = "offline.coupled.no_communication"

#: Every back end by name: a function ``(problem, limits) -> Answer``.
BACKENDS: Mapping[str, Solver] = by_name(
    Solver("windows", "polynomial; where the UP slots of every worker come in one piece", f"{_HERE}.team_windows"),
    Solver("core", "core search on 64-bit words", f"{_HERE}.core_backend", ("numba",)),
    Solver("plain", "plain branch and bound over workers", f"{_HERE}.team_plain"),
    Solver("cpsat", "CP-SAT model, the length of the team left implicit", f"{_HERE}.team_cpsat", ("ortools",)),
    Solver(
        "highs",
        "integer program by levels, solved by HiGHS",
        f"{_HERE}.team_ilp",
        ("pulp", "highspy"),
        options=(("solver", "highs"),),
    ),
    Solver(
        "cbc", "integer program by levels, solved by CBC", f"{_HERE}.team_ilp", ("pulp",), options=(("solver", "cbc"),)
    ),
    Solver("brute", "every assignment of tasks, for tests", f"{_HERE}.team_brute"),
)


def available_backends() -> list[str]:
    """Return the names of the back ends that can run here; nothing heavy is imported."""
    return [name for name, backend in BACKENDS.items() if backend.is_available()]


def choose(problem: CommonSlots, name: str = AUTO) -> Solver:
    """Return the back end of this name; ``auto``: the polynomial one where it applies, else the core search.

    Raises
    ------
    InputError
        For an unknown name, or ``windows`` where it does not apply.
    """
    if name == AUTO:
        search = "core" if BACKENDS["core"].is_available() else "plain"
        return BACKENDS["windows" if is_easy(problem.up, problem.down) else search]
    if name == "windows" and not is_easy(problem.up, problem.down):
        raise InputError("windows applies only where no worker is RECLAIMED between two UP slots", place="solver")
    return named(name, BACKENDS)


def answer(problem: CommonSlots, solver: str = AUTO, limits: Limits = NO_LIMITS) -> Answer:
    """Solve a problem by a back end, and check its team.

    Raises
    ------
    InputError
        For an unknown, unavailable or unfit back end.
    SelfCheckError
        Where the team is none, or has another value than claimed: a defect of the back end.

    Examples
    --------
    >>> from offline.coupled.no_communication.common_slots import Aim
    >>> found = answer(CommonSlots.of_rows(["1101", "1011", "0111"], tasks=2, aim=Aim.WIDEST))
    >>> print(found.status, found.value, found.team)
    optimal 2 Team(tasks={0: 1, 1: 1}, slots=(0, 3))
    """
    found: Answer = choose(problem, solver).load()(problem, limits)
    if found.team is not None and value_of(problem, found.team) != found.value:
        raise SelfCheckError(f"{found.solver} claims {found.value}, its team has {value_of(problem, found.team)}")
    return found
