"""The result of a back end: its value is recomputed, and it claims only proven bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hindsched.instances.errors import SelfCheckError
from hindsched.offline.coupled.no_communication import team_lengths
from hindsched.offline.coupled.no_communication.common_slots import Aim, CommonSlots, Team, value_of
from hindsched.offline.limits import Limit, Stopwatch
from hindsched.offline.results import Result, Status

__all__ = ["ModelOutcome", "SearchOutcome", "make_model_result", "make_result"]

_TOLERANCE = 1e-6  # by which a floating-point bound may be wrong


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The result of a search.

    Parameters
    ----------
    team, value
        The best team found and the value that the search claims for it; None without a team.
    bound
        A proven bound on the value of every team; None without one. Ignored if ``is_proven``.
    is_proven
        Whether the team is optimal or, without a team, none exists. The two aims to be maximised have a team of value 0
        unless the rows cannot hold m tasks.
    counts
        What the search counted.
    limit
        The limit that stopped the search; ignored with a proof.
    """

    team: Team | None
    value: int | None
    bound: int | None
    is_proven: bool
    counts: Mapping[str, int]
    limit: Limit | None = Limit.TIME


@dataclass(frozen=True, slots=True)
class ModelOutcome:
    """What the solver of a model claims.

    Parameters
    ----------
    tasks, slots
        x_q of every row and the slots with z_t = 1 in the solution; None and empty without a solution.
    bound
        The solver's bound on the objective, which is rounded to an integer; None without one.
    is_proven
        Whether the solver claims a proof: its solution is optimal or, without a solution, none exists.
    counts
        What the solver counted.
    limit
        The limit that stopped the solver; None with a proof.
    """

    tasks: Sequence[int] | None
    slots: Sequence[int]
    bound: float | None
    is_proven: bool
    counts: Mapping[str, int]
    limit: Limit | None


def make_result(problem: CommonSlots, by: str, watch: Stopwatch, outcome: SearchOutcome) -> Result:
    """Return the result of the search of back end ``by``, whose schedule is a team.

    Raises
    ------
    SelfCheckError
        If the team is invalid or has another value: a defect of the search.
    """
    team, value, bound = outcome.team, outcome.value, outcome.bound
    actual = None if team is None else value_of(problem, team)
    if actual != value:
        raise SelfCheckError(f"{by} claims value {value}, but its team has value {actual}")
    if outcome.is_proven or (problem.aim is Aim.ANY and value is not None):
        bound = value
    if value is None:
        status = Status.INFEASIBLE if outcome.is_proven else Status.UNKNOWN
    else:
        status = Status.OPTIMAL if value == bound else Status.FEASIBLE
    lower, upper = (value, bound) if problem.aim.is_maximal else (bound, value)
    limit = None if status.is_proven else outcome.limit
    runtime_s, counts = watch.elapsed_s(), dict(outcome.counts)
    return Result(status, problem.aim.sense, value, lower, upper, team, by, runtime_s, counts=counts, limit=limit)


def make_model_result(
    problem: CommonSlots, by: str, watch: Stopwatch, outcome: ModelOutcome, incumbent: Team | None
) -> Result:
    """Return the result of a model: the better of its team and the incumbent, with the better of two bounds.

    Raises
    ------
    SelfCheckError
        If the incumbent refutes the proof that the solver claims.
    """
    team = incumbent
    value = None if incumbent is None else value_of(problem, incumbent)
    if outcome.tasks is not None:
        own = Team({q: x for q, x in enumerate(outcome.tasks) if x}, tuple(outcome.slots))
        own_value = value_of(problem, own)
        if problem.aim.is_better(own_value, value):
            team, value = own, own_value
        if outcome.is_proven and own_value != value:
            raise SelfCheckError(f"{by} claims optimum {own_value}, but the incumbent has value {value}")
    elif outcome.is_proven and incumbent is not None:
        raise SelfCheckError(f"{by} claims that there is no team, but the incumbent has value {value}")
    bound = None if outcome.is_proven else _tightest(problem, outcome.bound)
    found = SearchOutcome(team, value, bound, outcome.is_proven, outcome.counts, outcome.limit)
    return make_result(problem, by, watch, found)


def _tightest(problem: CommonSlots, claimed: float | None) -> int | None:
    own = team_lengths.bound(problem)
    if claimed is None or not math.isfinite(claimed):
        return own
    rounded = math.floor(claimed + _TOLERANCE) if problem.aim.is_maximal else math.ceil(claimed - _TOLERANCE)
    if own is None:
        return rounded
    return min(own, rounded) if problem.aim.is_maximal else max(own, rounded)
