"""The core search as a back end: every question about teams, exactly, with a proven bound where it is stopped."""

from __future__ import annotations

from offline.coupled.no_communication.common_slots import NO_LIMITS, Aim, Answer, CommonSlots
from offline.coupled.no_communication.team_core import Search
from offline.limits import Limits, Stopwatch
from offline.results import Status

__all__ = ["solve"]


def solve(problem: CommonSlots, limits: Limits = NO_LIMITS) -> Answer:
    """Solve a problem by the core search; exact, deterministic without a time limit, anytime with one.

    Examples
    --------
    >>> solve(CommonSlots.of_rows(["1101", "1011", "0111"], tasks=2, aim=Aim.WIDEST)).value
    2
    """
    watch = Stopwatch(limits)
    search = Search(problem, watch)
    search.run()
    value, proven = search.value, search.bound
    if problem.aim is Aim.ANY and value is not None:
        proven = value
    if value is not None:
        status = Status.OPTIMAL if value == proven else Status.FEASIBLE
    else:
        status = Status.UNKNOWN if search.is_stopped and proven is not None else Status.INFEASIBLE
    return Answer(status, value, proven, search.team, "core", watch.elapsed_s(), search.counts)
