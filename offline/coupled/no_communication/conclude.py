"""From what a model's solver says to an answer that claims no more than is proven."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from instances.errors import SelfCheckError
from offline.coupled.no_communication import levels
from offline.coupled.no_communication.common_slots import Aim, Answer, CommonSlots, Team, value_of
from offline.limits import Stopwatch
from offline.results import Status

__all__ = ["Found", "conclude"]

_SLACK = 1e-6  # what a floating-point bound may be off and still round to the same integer


@dataclass
class Found:
    """What a solver found on a model.

    Parameters
    ----------
    is_proven
        Whether it claims to be done: its solution is optimal, or, without one, there is none.
    tasks, slots
        x_q of every row and the slots with z_t = 1; None without a solution.
    bound
        The solver's own bound on the objective, in the sense of the problem; None without one.
    """

    is_proven: bool
    tasks: list[int] | None = None
    slots: list[int] = field(default_factory=list)
    bound: float | None = None


def conclude(
    problem: CommonSlots, solver: str, found: Found, incumbent: Team | None, watch: Stopwatch, counts: dict[str, int]
) -> Answer:
    """Return the answer: the better of the solver's team and the incumbent, with the tightest proven bound.

    The value is recomputed from the team; a bound is rounded to the integer it implies.

    Raises
    ------
    SelfCheckError
        Where the solver claims a proof that the incumbent refutes.
    """
    team = incumbent
    value = None if incumbent is None else value_of(problem, incumbent)
    if found.tasks is not None:
        own = Team({q: x for q, x in enumerate(found.tasks) if x}, tuple(found.slots))
        own_value = value_of(problem, own)
        if value is None or (own_value > value if problem.aim.is_maximal else own_value < value):
            team, value = own, own_value
        if found.is_proven and own_value != value:
            raise SelfCheckError(f"{solver} claims {own_value} to be best, but a team with {value} was known")
    elif found.is_proven and incumbent is not None:
        raise SelfCheckError(f"{solver} claims that there is no team, but one with {value} was known")
    if found.is_proven:
        proven = value
    else:
        proven = _tightest(problem, found.bound)
        if problem.aim is Aim.ANY and value is not None:
            proven = value
    if value is None:
        status = Status.INFEASIBLE if found.is_proven else Status.UNKNOWN
    else:
        status = Status.OPTIMAL if value == proven else Status.FEASIBLE
    return Answer(status, value, proven, team, solver, watch.elapsed_s(), counts)


def _tightest(problem: CommonSlots, claimed: float | None) -> int | None:
    own = levels.bound(problem)
    if claimed is None or not math.isfinite(claimed):
        return own
    rounded = math.floor(claimed + _SLACK) if problem.aim.is_maximal else math.ceil(claimed - _SLACK)
    if own is None:
        return rounded
    return min(own, rounded) if problem.aim.is_maximal else max(own, rounded)
