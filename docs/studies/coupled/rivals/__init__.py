"""Rivals of the exact search: other libraries on the general problem, which the product does not use."""

from __future__ import annotations

from collections.abc import Mapping

from hindsched.instances.coupled.check import check
from hindsched.instances.coupled.model import Instance
from hindsched.offline.confirmation import expect_valid, expect_value
from hindsched.offline.coupled.objectives import CoupledResult, Objective
from hindsched.offline.limits import Limits
from hindsched.offline.solvers import Solver, by_name, named

__all__ = ["RIVALS", "solve"]

#: Every rival by name. Those that end in ``-whole`` have no proven windows, like ``cpsat-whole``.
RIVALS: Mapping[str, Solver] = by_name(
    *(
        Solver(
            f"didp-{search}{suffix}",
            "dynamic program over slots and received units, solved by didppy",
            "docs.studies.coupled.rivals.didp",
            requires=("didppy",),
            function=function,
            options=(("search", search),),
        )
        for search in ("caasdy", "cabs")
        for suffix, function in (("", "solve"), ("-whole", "solve_whole"))
    ),
    *(
        Solver(
            name,
            "integer linear program of the general problem, solved by SCIP",
            "docs.studies.coupled.rivals.ilp",
            requires=("pulp", "pyscipopt"),
            function=function,
        )
        for name, function in (("ilp-scip", "solve"), ("ilp-scip-whole", "solve_whole"))
    ),
)


def solve(instance: Instance, name: str, *, stand_by: bool, limits: Limits) -> CoupledResult:
    """Return the answer of a rival about the makespan, after the plain checker has replayed its schedule.

    Raises
    ------
    InputError
        For an unknown rival, or one that is not installed.
    SelfCheckError
        If the checker does not confirm the schedule.
    """
    result: CoupledResult = named(name, RIVALS).load()(instance, Objective.MAKESPAN, stand_by=stand_by, limits=limits)
    if result.schedule is not None:
        verdict = check(instance, result.schedule)
        expect_valid(verdict, name)
        expect_value(result.value, verdict.outcome.makespan, "makespan", name)
    return result
