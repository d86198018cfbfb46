"""The back end ``core``: board after board, lengths in intervals, all under one best team so far.

Each question that is left is one of `offline.kmis`: do so many rows share so many columns, and which of them most?

At a length L worker q is as good as c_q(L) = min(most_q, floor(L / w_q)) equal rows, its *copies*: m of them share L
columns just if a team of that length holds m tasks. (Copies are divided by their greatest common divisor. Workers that
are all alike have one copy each, and mu = inf asks for ceil(m / c) plain rows.) So the search for common slots answers
at every length. It need not be asked at each: c_q grows with L, so an interval [L_1, L_2] of lengths asks for no less
than m copies of length L_2 that share L_1 columns. Where not even those exist the whole interval is refuted at once;
otherwise it is halved. For the largest m the same holds with columns and copies in each other's place.

Where workers hold so many different numbers of tasks that copies are too many, one search with weights
(`joint_search`) takes all lengths of a board together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.offline.coupled.no_communication.boards import Board, Opening, openings
from hindsched.offline.coupled.no_communication.common_slots import Aim, Booleans, CommonSlots, Integers, Team, value_of
from hindsched.offline.coupled.no_communication.conclude import conclude
from hindsched.offline.coupled.no_communication.joint_search import search_jointly
from hindsched.offline.coupled.no_communication.levels import bound, capacities, hand_out, lengths
from hindsched.offline.kmis import core_bounds, exact
from hindsched.offline.kmis.matrix import Matrix, octets_of
from hindsched.offline.limits import NO_LIMITS, Limits, Stopwatch
from hindsched.offline.results import Result, Status

__all__ = ["solve"]

_WIDE = 1.3  # an interval of lengths is searched as a whole if its ends differ by no more than this factor
_COPIES = 24  # copies per worker from which on the joint search takes over
_LOOKED_AT = 40  # unfinished intervals up to which each is bounded on its own


class _Interval(NamedTuple):
    """Lengths number ``first`` to ``last`` of a board."""

    board: Board
    first: int
    last: int


class _Question(NamedTuple):
    """A question of `hindsched.offline.kmis`: whether ``goal`` copies share ``width`` columns.

    With goal <= 0 the leader does it alone.
    """

    up: Booleans
    owners: Integers
    goal: int
    width: int
    unit: int
    led: int


def solve(problem: CommonSlots, limits: Limits = NO_LIMITS) -> Result:
    """Solve a problem by the search for common slots; exact, deterministic without a time limit, anytime with one.

    Examples
    --------
    >>> solve(CommonSlots.of_rows(["1101", "1011", "0111"], tasks=2, aim=Aim.WIDEST)).value
    2
    """
    watch = Stopwatch(limits)
    search = _Search(problem, watch)
    todo = list(openings(problem)) if search.lengths else []
    if problem.aim.is_maximal:
        todo.sort(key=lambda opening: -opening.slots.size)
    left: list[_Interval] = []
    for opening in todo:
        if search.is_done():
            break
        if search.is_promising(opening):
            left = search.search_board(opening.board())
    proven = search.proven_bound(left if len(todo) == 1 else None) if search.is_stopped else None
    return conclude(
        problem,
        "core",
        watch,
        search.team,
        value=search.value,
        bound=proven,
        is_proven=not search.is_stopped or (search.value is None and proven is None),
        counts=search.counts,
    )


class _Search:
    """What is known of the best team of a problem, and what it takes to know more."""

    def __init__(self, problem: CommonSlots, watch: Stopwatch) -> None:
        self.problem = problem
        self.watch = watch
        self.lengths = lengths(problem)
        self.team: Team | None = None
        self.value: int | None = None
        self.is_stopped = False
        self.proven: int | None = None  # about the one length whose search was stopped
        self.counts = {"boards": 0, "searches": 0}
        if problem.aim is Aim.HEAVIEST:
            self.team, self.value = Team({}, ()), 0
        elif problem.aim is Aim.WIDEST and int(problem.most.sum()) >= problem.tasks:
            self.team, self.value = Team(hand_out(problem.most, range(problem.num_rows), problem.tasks), ()), 0

    def is_done(self) -> bool:
        """Whether nothing better can come, or the time is over."""
        return self.is_stopped or (self.problem.aim is Aim.ANY and self.value is not None)

    def is_promising(self, opening: Opening) -> bool:
        """Whether the leader on its own, or the number of slots, leaves hope for something better."""
        problem, value, size = self.problem, self.value or 0, int(opening.slots.size)
        if opening.leader is not None:
            shortest = int(problem.w[opening.leader])
            if not problem.most[opening.leader]:
                return False
        else:
            shortest = self.lengths[0]
        if problem.aim is Aim.EARLIEST and self.value is not None:
            size = int(np.searchsorted(opening.slots, value - 1))
        if problem.aim is Aim.HEAVIEST:
            return int(np.minimum(problem.most, size // problem.w).sum()) > value
        return size >= shortest * (value + 1 if problem.aim is Aim.WIDEST else 1)

    def search_board(self, board: Board) -> list[_Interval]:
        """Search a board; return what is left of it where the time was over."""
        self.counts["boards"] += 1
        last = capacities(self.problem, self.lengths[-1])[board.workers]
        unit = max(1, int(np.gcd.reduce(last, initial=0)))
        if int(last.sum()) > _COPIES * unit * max(1, len(board.workers)):
            self._search_jointly(board)
            return [_Interval(board, 0, len(self.lengths) - 1)]
        todo = [_Interval(board, 0, len(self.lengths) - 1)]
        while todo and not self.is_done():
            if self.watch.is_over():
                self.is_stopped = True
                break
            interval = todo.pop()
            question = self._question_of(interval)
            if question is None:
                continue
            _, first, last_ = interval
            if first == last_:
                before = self.value
                self._solve(board, question)
                if self.is_stopped or (question.goal <= 0 and self.value != before):
                    todo.append(interval)
                continue
            if self.lengths[last_] <= _WIDE * self.lengths[first]:
                verdict = self._try(board, question)
                if verdict is None:
                    continue
                if verdict or self.is_stopped:
                    todo.append(interval)
                    continue
            middle = (first + last_) // 2
            todo.append(_Interval(board, middle + 1, last_))
            todo.append(_Interval(board, first, middle))
        return todo

    def _question_of(self, interval: _Interval) -> _Question | None:
        """Return the question whose answer no refutes an interval, with the rows that matter; None if it is no."""
        board, aim = interval.board, self.problem.aim
        width = self.lengths[interval.first]
        up = board.up
        goal = self.problem.tasks
        if aim is Aim.EARLIEST and self.value is not None:
            up = up[:, : int(np.searchsorted(board.slots, self.value - 1))]
        elif aim is Aim.WIDEST:
            width *= (self.value or 0) + 1
        elif aim is Aim.HEAVIEST:
            goal = (self.value or 0) + 1
        if up.shape[1] < width:
            return None
        held = capacities(self.problem, self.lengths[interval.last])
        led = 0
        if board.leader is not None:
            led = int(held[board.leader])
            if led == 0:
                return None
        goal -= led
        if goal <= 0:
            return _Question(up, board.workers, goal, width, 1, led)
        copies = held[board.workers]
        if aim is not Aim.HEAVIEST:
            copies = np.minimum(copies, goal)
        copies = np.where(np.count_nonzero(up, axis=1) >= width, copies, 0)
        if int(copies.sum()) < goal or np.count_nonzero(copies @ up >= goal) < width:
            return None
        unit = int(np.gcd.reduce(copies))
        owners = np.repeat(np.arange(len(copies)), copies // unit)
        return _Question(up[owners], board.workers[owners], -(-goal // unit), width, unit, led)

    def _try(self, board: Board, question: _Question) -> bool | None:
        """Ask the question: None: no; otherwise whether the team it gives is better than the best so far."""
        if question.goal <= 0:
            return self._take(board, [])
        self.counts["searches"] += 1
        found = exact.exists(question.up, question.goal, question.width, self.watch)
        if found is None:
            return None
        if found.status is Status.UNKNOWN:
            self.is_stopped = True
            return False
        return self._take(board, question.owners[list(found.workers)].tolist())

    def _solve(self, board: Board, question: _Question) -> None:
        """Find the best team of one length."""
        aim = self.problem.aim
        if question.goal <= 0 or aim is Aim.ANY:
            self._try(board, question)
            return
        self.counts["searches"] += 1
        if aim is Aim.EARLIEST:
            found = exact.earliest(question.up, question.goal, question.width, self.watch)
        elif aim is Aim.WIDEST:
            found = exact.widest(question.up, question.goal, self.watch, question.width - 1)
        else:
            found = exact.widest(np.ascontiguousarray(question.up.T), question.width, self.watch, question.goal - 1)
        if found is None:
            return
        if found.status is not Status.OPTIMAL:
            self.is_stopped = True
            if aim is not Aim.HEAVIEST:
                self.proven = found.bound
        copies = found.slots if aim is Aim.HEAVIEST else found.workers
        if copies:
            self._take(board, question.owners[list(copies)].tolist())

    def _search_jointly(self, board: Board) -> None:
        """Search all lengths of a board together, with tasks as weights."""
        self.counts["searches"] += 1
        found, is_done = search_jointly(self.problem, board, self.value, self.watch)
        self.is_stopped = not is_done
        if found is not None:
            self._take(*found)

    def _take(self, board: Board, owners: list[int]) -> bool:
        """Make the best of some workers, and of the leader; return whether that is better than the best so far."""
        problem, aim = self.problem, self.problem.aim
        members = sorted(set(owners))
        is_common = board.up[np.isin(board.workers, members)].all(axis=0)
        if board.leader is not None:
            members = [board.leader, *members]
        slots = board.slots[is_common]
        if aim is Aim.HEAVIEST:
            held = capacities(problem, slots.size)
            team = Team({q: x for q in members if (x := int(held[q]))}, tuple(slots.tolist()))
        else:
            length = self._length(members)
            if length is None or length > slots.size:
                return False
            kept = slots if aim is Aim.WIDEST else slots[:length]
            team = Team(hand_out(capacities(problem, length), members, problem.tasks), tuple(kept.tolist()))
        value = value_of(problem, team)
        if self.value is not None and (value <= self.value if aim.is_maximal else value >= self.value):
            return False
        self.team, self.value = team, value
        return True

    def _length(self, members: list[int]) -> int | None:
        """Return the least length at which these workers hold m tasks."""
        low, high = -1, len(self.lengths)
        while high - low > 1:
            middle = (low + high) // 2
            if int(capacities(self.problem, self.lengths[middle])[members].sum()) >= self.problem.tasks:
                high = middle
            else:
                low = middle
        return self.lengths[high] if high < len(self.lengths) else None

    def proven_bound(self, left: list[_Interval] | None) -> int | None:
        """Return a proven bound on the value where the search was stopped.

        Where the problem is one board, and it is known what is left of it, what the two-sided core refutes improves
        the bound that looks at every row on its own.
        """
        problem, cheap = self.problem, bound(self.problem)
        if left is None or len(left) > _LOOKED_AT or problem.aim in (Aim.HEAVIEST, Aim.ANY) or cheap is None:
            return cheap
        reached = [self.value] if self.value is not None else []
        for interval in left:
            proven = self.proven if interval is left[-1] else None  # the last one is the one that was stopped
            question = self._question_of(interval)
            if question is None:
                continue
            if question.goal <= 0:
                return cheap
            matrix = Matrix(octets_of(question.up), question.up.shape[1])
            if problem.aim is Aim.EARLIEST:
                prefix = core_bounds.earliest_bound(matrix, question.goal, question.width, matrix.n)
                prefix = prefix if proven is None else min(matrix.n + 1, max(prefix, proven))
                reached.append(int(interval.board.slots[prefix - 1]) + 1 if prefix <= matrix.n else problem.slots + 1)
            else:
                widest = core_bounds.widest_bound(matrix, question.goal, question.width - 1)
                widest = widest if proven is None else min(widest, max(proven, question.width - 1))
                reached.append(widest // self.lengths[interval.first])
        if not reached:
            return cheap
        return min(cheap, max(reached)) if problem.aim.is_maximal else max(cheap, min(reached))
