"""What a back end has found, as the one type of result: its value recomputed, and no more claimed than is proven."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from hindsched.instances.errors import SelfCheckError
from hindsched.offline.coupled.no_communication import levels
from hindsched.offline.coupled.no_communication.common_slots import Aim, CommonSlots, Team, value_of
from hindsched.offline.limits import Limit, Stopwatch
from hindsched.offline.results import Result, Status

__all__ = ["conclude", "conclude_model"]

_SLACK = 1e-6  # what a floating-point bound may be off and still round to the same integer


def conclude(
    problem: CommonSlots,
    by: str,
    watch: Stopwatch,
    team: Team | None,
    *,
    value: int | None,
    bound: int | None,
    is_proven: bool,
    counts: Mapping[str, int],
    limit: Limit | None = Limit.TIME,
) -> Result:
    """Return the result of a search, whose schedule is a team.

    Parameters
    ----------
    problem, by, watch, counts
        What was asked, who answers, since when, and what it counted.
    team, value
        The best team found and what the search takes it to be worth; None without one.
    bound
        Proven: no team is worth more, or less where less is better; None if nothing is. Ignored where ``is_proven``.
    is_proven
        Whether the team is optimal or, without one, there is none. For the two maximal aims, whose least value is 0,
        there is always one unless the rows cannot hold m tasks.
    limit
        What stopped the search, where nothing is proven.

    Raises
    ------
    SelfCheckError
        Where the team is none of this problem, or has another value: a defect of the search.
    """
    worth = None if team is None else value_of(problem, team)
    if worth != value:
        raise SelfCheckError(f"{by} claims {value}, its team has {worth}")
    if is_proven or (problem.aim is Aim.ANY and value is not None):
        bound = value
    if value is None:
        status = Status.INFEASIBLE if is_proven else Status.UNKNOWN
    else:
        status = Status.OPTIMAL if value == bound else Status.FEASIBLE
    lower, upper = (value, bound) if problem.aim.is_maximal else (bound, value)
    limit = None if status.is_proven else limit
    runtime_s = watch.elapsed_s()
    return Result(status, problem.aim.sense, value, lower, upper, team, by, runtime_s, counts=dict(counts), limit=limit)


def conclude_model(
    problem: CommonSlots,
    by: str,
    watch: Stopwatch,
    tasks: Sequence[int] | None,
    slots: Sequence[int],
    *,
    bound: float | None,
    is_proven: bool,
    incumbent: Team | None,
    counts: Mapping[str, int],
    limit: Limit | None,
) -> Result:
    """Return the result of a model: the better of its team and the incumbent, with the tightest proven bound.

    Parameters
    ----------
    problem, by, watch, counts
        As for `conclude`.
    tasks, slots
        x_q of every row and the slots with z_t = 1 in the solution; None and nothing without a solution.
    bound
        The solver's own bound on the objective, in the sense of the problem, to be rounded to the integer it implies;
        None without one.
    is_proven
        Whether the solver claims to be done: its solution is optimal or, without one, there is none.
    incumbent
        A team that was known before; None without one.
    limit
        What stopped the solver, where it claims no proof.

    Raises
    ------
    SelfCheckError
        Where the solver claims a proof that the incumbent refutes.
    """
    team = incumbent
    value = None if incumbent is None else value_of(problem, incumbent)
    if tasks is not None:
        own = Team({q: x for q, x in enumerate(tasks) if x}, tuple(slots))
        own_value = value_of(problem, own)
        if value is None or (own_value > value if problem.aim.is_maximal else own_value < value):
            team, value = own, own_value
        if is_proven and own_value != value:
            raise SelfCheckError(f"{by} claims {own_value} to be best, but a team with {value} was known")
    elif is_proven and incumbent is not None:
        raise SelfCheckError(f"{by} claims that there is no team, but one with {value} was known")
    tightest = None if is_proven else _tightest(problem, bound)
    return conclude(
        problem, by, watch, team, value=value, bound=tightest, is_proven=is_proven, counts=counts, limit=limit
    )


def _tightest(problem: CommonSlots, claimed: float | None) -> int | None:
    own = levels.bound(problem)
    if claimed is None or not math.isfinite(claimed):
        return own
    rounded = math.floor(claimed + _SLACK) if problem.aim.is_maximal else math.ceil(claimed - _SLACK)
    if own is None:
        return rounded
    return min(own, rounded) if problem.aim.is_maximal else max(own, rounded)
