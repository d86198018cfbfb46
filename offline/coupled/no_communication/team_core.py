"""The back end ``core``: k-subset intersections, for intervals of lengths and one subproblem after the other.

At a length L worker q is equivalent to c_q(L) = min(most_q, floor(L / w_q)) equal rows, its *copies*: m copies share L
columns iff a team of that length holds m tasks. Copies are divided by their greatest common divisor; equal workers have
one copy each, and mu = inf asks for ceil(m / c) plain rows. So `offline.kmis` decides every length. One query refutes
many lengths: c_q grows with L, so teams with a length in [L_1, L_2] need m copies of length L_2 that share L_1 columns.
If those do not exist the whole interval is refuted; otherwise it is halved. For the largest m, columns and copies
change places.

If workers hold too many different numbers of tasks for copies, one search with weights
(`weighted_search`) covers all lengths of a subproblem.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.offline.coupled.no_communication.common_slots import Aim, Booleans, CommonSlots, Integers, Team, value_of
from hindsched.offline.coupled.no_communication.subproblems import Subproblem, SubproblemStart, subproblem_starts
from hindsched.offline.coupled.no_communication.team_lengths import (
    bound,
    candidate_lengths,
    capacities,
    distribute_tasks,
    trivial_team,
)
from hindsched.offline.coupled.no_communication.team_result import SearchOutcome, make_result
from hindsched.offline.coupled.no_communication.weighted_search import search_weighted_teams
from hindsched.offline.kmis import core_bounds, exact
from hindsched.offline.kmis.matrix import Matrix, octets_of
from hindsched.offline.limits import NO_LIMITS, Limits, Stopwatch
from hindsched.offline.results import Result, Status

__all__ = ["solve"]

_MAX_LENGTH_RATIO = 1.3  # of the ends of an interval that is decided by one query
_MAX_COPIES_PER_WORKER = 24  # more are left to the weighted search
_MAX_BOUNDED_INTERVALS = 40  # open intervals for which bounds are computed when the time is over


class _Interval(NamedTuple):
    """The lengths of a subproblem from index ``first`` to ``last``."""

    subproblem: Subproblem
    first: int
    last: int


class _KmisQuery(NamedTuple):
    """A query to `offline.kmis` whether ``goal`` copies share ``width`` columns.

    Each copy stands for ``unit`` tasks of a worker in ``owners``. The leader holds ``leader_tasks``, which suffice if
    ``goal`` <= 0.
    """

    up: Booleans
    owners: Integers
    goal: int
    width: int
    unit: int
    leader_tasks: int


def solve(problem: CommonSlots, limits: Limits = NO_LIMITS) -> Result:
    """Solve a problem exactly; deterministic without a time limit, with bounds if one is met.

    Examples
    --------
    >>> solve(CommonSlots.of_rows(["1101", "1011", "0111"], tasks=2, aim=Aim.WIDEST)).value
    2
    """
    watch = Stopwatch(limits)
    search = _Search(problem, watch)
    todo = list(subproblem_starts(problem)) if search.lengths else []
    if problem.aim.is_maximal:
        todo.sort(key=lambda start: -start.slots.size)
    left: list[_Interval] = []
    for start in todo:
        if search.is_done():
            break
        if search.is_promising(start):
            left = search.search_subproblem(start.subproblem())
    proven = search.proven_bound(left if len(todo) == 1 else None) if search.is_stopped else None
    is_proven = not search.is_stopped or (search.value is None and proven is None)
    return make_result(
        problem, "core", watch, SearchOutcome(search.team, search.value, proven, is_proven, search.counts)
    )


class _Search:
    """The best team of a problem so far, and the search for a better one."""

    def __init__(self, problem: CommonSlots, watch: Stopwatch) -> None:
        self.problem = problem
        self.watch = watch
        self.lengths = candidate_lengths(problem)
        self.is_stopped = False
        self.proven: int | None = None  # bound of the length whose search was stopped
        self.counts = {"boards": 0, "searches": 0}
        self.team = trivial_team(problem)
        self.value = None if self.team is None else 0

    def is_done(self) -> bool:
        """Return whether the search is over: the time is, or any team suffices."""
        return self.is_stopped or (self.problem.aim is Aim.ANY and self.value is not None)

    def is_promising(self, start: SubproblemStart) -> bool:
        """Return whether leader and number of slots allow a better team."""
        problem, value, size = self.problem, self.value or 0, int(start.slots.size)
        if start.leader is not None:
            shortest = int(problem.w[start.leader])
            if not problem.most[start.leader]:
                return False
        else:
            shortest = self.lengths[0]
        if problem.aim is Aim.EARLIEST and self.value is not None:
            size = int(np.searchsorted(start.slots, value - 1))
        if problem.aim is Aim.HEAVIEST:
            return int(np.minimum(problem.most, size // problem.w).sum()) > value
        return size >= shortest * (value + 1 if problem.aim is Aim.WIDEST else 1)

    def search_subproblem(self, subproblem: Subproblem) -> list[_Interval]:
        """Search a subproblem; return the intervals that are open when the time is over."""
        self.counts["boards"] += 1
        last = capacities(self.problem, self.lengths[-1])[subproblem.workers]
        unit = max(1, int(np.gcd.reduce(last, initial=0)))
        if int(last.sum()) > _MAX_COPIES_PER_WORKER * unit * max(1, len(subproblem.workers)):
            self._search_weighted(subproblem)
            return [_Interval(subproblem, 0, len(self.lengths) - 1)]
        todo = [_Interval(subproblem, 0, len(self.lengths) - 1)]
        while todo and not self.is_done():
            if self.watch.is_over():
                self.is_stopped = True
                break
            interval = todo.pop()
            query = self._query_of(interval)
            if query is None:
                continue
            _, first, last_ = interval
            if first == last_:
                before = self.value
                self._solve(subproblem, query)
                if self.is_stopped or (query.goal <= 0 and self.value != before):
                    todo.append(interval)
                continue
            if self.lengths[last_] <= _MAX_LENGTH_RATIO * self.lengths[first]:
                verdict = self._try(subproblem, query)
                if verdict is None:
                    continue
                if verdict or self.is_stopped:
                    todo.append(interval)
                    continue
            middle = (first + last_) // 2
            todo.append(_Interval(subproblem, middle + 1, last_))
            todo.append(_Interval(subproblem, first, middle))
        return todo

    def _query_of(self, interval: _Interval) -> _KmisQuery | None:
        """Return the query that refutes an interval if its answer is no; None if counts already refute it."""
        subproblem, aim = interval.subproblem, self.problem.aim
        width = self.lengths[interval.first]
        up = subproblem.up
        goal = self.problem.tasks
        if aim is Aim.EARLIEST and self.value is not None:
            up = up[:, : int(np.searchsorted(subproblem.slots, self.value - 1))]
        elif aim is Aim.WIDEST:
            width *= (self.value or 0) + 1
        elif aim is Aim.HEAVIEST:
            goal = (self.value or 0) + 1
        if up.shape[1] < width:
            return None
        held = capacities(self.problem, self.lengths[interval.last])
        leader_tasks = 0
        if subproblem.leader is not None:
            leader_tasks = int(held[subproblem.leader])
            if leader_tasks == 0:
                return None
        goal -= leader_tasks
        if goal <= 0:
            return _KmisQuery(up, subproblem.workers, goal, width, 1, leader_tasks)
        copies = held[subproblem.workers]
        if aim is not Aim.HEAVIEST:
            copies = np.minimum(copies, goal)
        copies = np.where(np.count_nonzero(up, axis=1) >= width, copies, 0)
        if int(copies.sum()) < goal or np.count_nonzero(copies @ up >= goal) < width:
            return None
        unit = int(np.gcd.reduce(copies))
        owners = np.repeat(np.arange(len(copies)), copies // unit)
        return _KmisQuery(up[owners], subproblem.workers[owners], -(-goal // unit), width, unit, leader_tasks)

    def _try(self, subproblem: Subproblem, query: _KmisQuery) -> bool | None:
        """Solve a query: None if the answer is no, else whether its team is better than the best."""
        if query.goal <= 0:
            return self._take(subproblem, [])
        self.counts["searches"] += 1
        found = exact.exists(query.up, query.goal, query.width, self.watch)
        if found is None:
            return None
        if found.status is Status.UNKNOWN:
            self.is_stopped = True
            return False
        return self._take(subproblem, query.owners[list(found.workers)].tolist())

    def _solve(self, subproblem: Subproblem, query: _KmisQuery) -> None:
        """Find the best team of one length."""
        aim = self.problem.aim
        if query.goal <= 0 or aim is Aim.ANY:
            self._try(subproblem, query)
            return
        self.counts["searches"] += 1
        if aim is Aim.EARLIEST:
            found = exact.earliest(query.up, query.goal, query.width, self.watch)
        elif aim is Aim.WIDEST:
            found = exact.widest(query.up, query.goal, self.watch, query.width - 1)
        else:
            found = exact.widest(np.ascontiguousarray(query.up.T), query.width, self.watch, query.goal - 1)
        if found is None:
            return
        if found.status is not Status.OPTIMAL:
            self.is_stopped = True
            if aim is not Aim.HEAVIEST:
                self.proven = found.bound
        copies = found.slots if aim is Aim.HEAVIEST else found.workers
        if copies:
            self._take(subproblem, query.owners[list(copies)].tolist())

    def _search_weighted(self, subproblem: Subproblem) -> None:
        """Search all lengths of a subproblem at once, with tasks as weights."""
        self.counts["searches"] += 1
        found, is_done = search_weighted_teams(self.problem, subproblem, self.value, self.watch)
        self.is_stopped = not is_done
        if found is not None:
            self._take(*found)

    def _take(self, subproblem: Subproblem, owners: list[int]) -> bool:
        """Make a team of some workers and the leader, and keep it if it is better; return whether it is."""
        problem, aim = self.problem, self.problem.aim
        members = sorted(set(owners))
        is_common = subproblem.up[np.isin(subproblem.workers, members)].all(axis=0)
        if subproblem.leader is not None:
            members = [subproblem.leader, *members]
        slots = subproblem.slots[is_common]
        if aim is Aim.HEAVIEST:
            held = capacities(problem, slots.size)
            team = Team({q: x for q in members if (x := int(held[q]))}, tuple(slots.tolist()))
        else:
            length = self._length(members)
            if length is None or length > slots.size:
                return False
            kept = slots if aim is Aim.WIDEST else slots[:length]
            team = Team(distribute_tasks(capacities(problem, length), members, problem.tasks), tuple(kept.tolist()))
        value = value_of(problem, team)
        if not aim.is_better(value, self.value):
            return False
        self.team, self.value = team, value
        return True

    def _length(self, members: list[int]) -> int | None:
        """Return the least length at which these workers can hold m tasks."""
        low, high = -1, len(self.lengths)
        while high - low > 1:
            middle = (low + high) // 2
            if int(capacities(self.problem, self.lengths[middle])[members].sum()) >= self.problem.tasks:
                high = middle
            else:
                low = middle
        return self.lengths[high] if high < len(self.lengths) else None

    def proven_bound(self, left: list[_Interval] | None) -> int | None:
        """Return a proven bound on the value after the search was stopped.

        The bound comes from single rows. If the problem has one subproblem, the two-sided core of its open intervals
        improves it.
        """
        problem, cheap = self.problem, bound(self.problem)
        if (
            left is None
            or len(left) > _MAX_BOUNDED_INTERVALS
            or problem.aim in (Aim.HEAVIEST, Aim.ANY)
            or cheap is None
        ):
            return cheap
        reached = [self.value] if self.value is not None else []
        for interval in left:
            proven = self.proven if interval is left[-1] else None  # the last one is the one that was stopped
            query = self._query_of(interval)
            if query is None:
                continue
            if query.goal <= 0:
                return cheap
            matrix = Matrix(octets_of(query.up), query.up.shape[1])
            if problem.aim is Aim.EARLIEST:
                prefix = core_bounds.earliest_bound(matrix, query.goal, query.width, matrix.n)
                prefix = prefix if proven is None else min(matrix.n + 1, max(prefix, proven))
                reached.append(
                    int(interval.subproblem.slots[prefix - 1]) + 1 if prefix <= matrix.n else problem.slots + 1
                )
            else:
                widest = core_bounds.widest_bound(matrix, query.goal, query.width - 1)
                widest = widest if proven is None else min(widest, max(proven, query.width - 1))
                reached.append(widest // self.lengths[interval.first])
        if not reached:
            return cheap
        return min(cheap, max(reached)) if problem.aim.is_maximal else max(cheap, min(reached))
