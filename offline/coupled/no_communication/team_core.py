"""The search for teams: board after board, lengths in intervals, all under one best team so far.

At a length L worker q is as good as c_q(L) = min(most_q, floor(L / w_q)) equal rows, its *copies*: m of them share L
columns just if a team of that length holds m tasks. (Copies are divided by their greatest common divisor. Workers that
are all alike have one copy each, and mu = inf asks for ceil(m / c) plain rows.) So the search for common slots answers
at every length. It need not be asked at each: c_q grows with L, so an interval [L_1, L_2] of lengths asks for no less
than m copies of length L_2 that share L_1 columns. Where not even those exist the whole interval is refuted at once;
otherwise it is halved. For the largest m the same holds with columns and copies in each other's place.

Where workers hold so many different numbers of tasks that copies are too many, one search with weights
(`kernels.joint`) takes all lengths of a board together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from offline.coupled.no_communication import joint
from offline.coupled.no_communication.boards import Board, Opening, openings
from offline.coupled.no_communication.common_slots import Aim, Booleans, CommonSlots, Integers, Team, value_of
from offline.coupled.no_communication.levels import bound, capacities
from offline.kmis import core_bounds as bounds
from offline.kmis import exact as driver
from offline.kmis.kernels.search_layout import PAUSED
from offline.kmis.matrix import Matrix, octets_of
from offline.limits import Stopwatch

__all__ = ["Search"]

_WIDE = 1.3  # an interval of lengths is searched as a whole if its ends differ by no more than this factor
_COPIES = 24  # copies per worker from which on the joint search takes over
_SLICE = 20_000_000  # words of the joint search between two looks at the clock
_LOOKED_AT = 40  # unfinished intervals up to which each is bounded on its own

_PURPOSES = {
    Aim.EARLIEST: joint.JOINT_FINISH,
    Aim.WIDEST: joint.JOINT_WIDTH,
    Aim.HEAVIEST: joint.JOINT_TASKS,
    Aim.ANY: joint.JOINT_ANY,
}


class _Interval(NamedTuple):
    """Lengths number ``first`` to ``last`` of a board."""

    board: Board
    first: int
    last: int


class _Plain(NamedTuple):
    """A plain question: do ``goal`` copies share ``width`` columns? With goal <= 0 the leader does it alone."""

    up: Booleans
    owners: Integers
    goal: int
    width: int
    unit: int
    led: int


class Search:
    """A search for the best team of a problem, with what it knows so far.

    Parameters
    ----------
    problem
        Any problem.
    watch
        When to stop.
    """

    def __init__(self, problem: CommonSlots, watch: Stopwatch) -> None:
        self.problem = problem
        self.watch = watch
        self.bound: int | None = None
        self.lengths = _lengths(problem)
        self.team: Team | None = None
        self.value: int | None = None
        self.is_stopped = False
        self.proven: int | None = None  # about the one length whose search was stopped
        self.counts = {"boards": 0, "searches": 0}
        if problem.aim is Aim.HEAVIEST:
            self.team, self.value = Team({}, ()), 0
        elif problem.aim is Aim.WIDEST and int(problem.most.sum()) >= problem.tasks:
            self.team, self.value = Team(_filled(problem.most, range(problem.num_rows), problem.tasks), ()), 0

    def run(self) -> None:
        """Search to the end, or until the time is over."""
        todo = list(openings(self.problem)) if self.lengths else []
        if self.problem.aim.is_maximal:
            todo.sort(key=lambda opening: -opening.slots.size)
        left: list[_Interval] = []
        for opening in todo:
            if self.is_done():
                break
            if self._is_promising(opening):
                self.counts["boards"] += 1
                left = self._search_board(opening.board())
        self.bound = self.value
        if self.is_stopped:
            self.bound = bound(self.problem)
            self._tighten(left if len(todo) == 1 else None)

    def is_done(self) -> bool:
        """Whether nothing better can come, or the time is over."""
        return self.is_stopped or (self.problem.aim is Aim.ANY and self.value is not None)

    def _is_promising(self, opening: Opening) -> bool:
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

    def _search_board(self, board: Board) -> list[_Interval]:
        """Search a board; return what is left of it where the time was over."""
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
            plain = self._plain(interval)
            if plain is None:
                continue
            _, first, last_ = interval
            if first == last_:
                before = self.value
                self._solve(board, plain)
                if self.is_stopped or (plain.goal <= 0 and self.value != before):
                    todo.append(interval)
                continue
            if self.lengths[last_] <= _WIDE * self.lengths[first]:
                verdict = self._try(board, plain)
                if verdict is None:
                    continue
                if verdict or self.is_stopped:
                    todo.append(interval)
                    continue
            middle = (first + last_) // 2
            todo.append(_Interval(board, middle + 1, last_))
            todo.append(_Interval(board, first, middle))
        return todo

    def _plain(self, interval: _Interval) -> _Plain | None:
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
            return _Plain(up, board.workers, goal, width, 1, led)
        copies = held[board.workers]
        if aim is not Aim.HEAVIEST:
            copies = np.minimum(copies, goal)
        copies = np.where(np.count_nonzero(up, axis=1) >= width, copies, 0)
        if int(copies.sum()) < goal or np.count_nonzero(copies @ up >= goal) < width:
            return None
        unit = int(np.gcd.reduce(copies))
        owners = np.repeat(np.arange(len(copies)), copies // unit)
        return _Plain(up[owners], board.workers[owners], -(-goal // unit), width, unit, led)

    def _try(self, board: Board, plain: _Plain) -> bool | None:
        """Ask the question: None: no; otherwise whether the team it gives is better than the best so far."""
        if plain.goal <= 0:
            return self._take(board, [])
        self.counts["searches"] += 1
        found = driver.exists(plain.up, plain.goal, plain.width, self.watch)
        if found is None:
            return None
        if not found.rows:
            self.is_stopped = True
            return False
        return self._take(board, plain.owners[found.rows].tolist())

    def _solve(self, board: Board, plain: _Plain) -> None:
        """Find the best team of one length."""
        aim = self.problem.aim
        if plain.goal <= 0 or aim is Aim.ANY:
            self._try(board, plain)
            return
        self.counts["searches"] += 1
        found: driver.Block | None
        if aim is Aim.EARLIEST:
            found = driver.earliest(plain.up, plain.goal, plain.width, self.watch)
            if found is None:
                return
            self.is_stopped = not found.rows or found.bound != found.columns[-1] + 1
            rows = found.rows
        elif aim is Aim.WIDEST:
            floor = plain.width - 1
            found = driver.widest(plain.up, plain.goal, self.watch, floor)
            self.is_stopped = found.bound > max(floor, len(found.columns))
            rows = found.rows
        else:
            floor = plain.goal - 1
            found = driver.widest(np.ascontiguousarray(plain.up.T), plain.width, self.watch, floor)
            self.is_stopped = found.bound > max(floor, len(found.columns))
            rows = found.columns
        if self.is_stopped and aim is not Aim.HEAVIEST:
            self.proven = found.bound
        if rows:
            self._take(board, plain.owners[rows].tolist())

    def _search_jointly(self, board: Board) -> None:
        """Search all lengths of a board together, with tasks as weights."""
        problem, up, workers = self.problem, board.up, board.workers
        if board.leader is not None:
            up = np.vstack((np.ones((1, up.shape[1]), dtype=bool), up))
            workers = np.concatenate(([board.leader], workers))
        order = np.lexsort((-np.count_nonzero(up, axis=1), problem.w[workers]))
        up, workers = up[order], workers[order]
        p, n = up.shape
        limit = n
        if problem.aim is Aim.EARLIEST and self.value is not None:
            limit = int(np.searchsorted(board.slots, self.value - 1))
        state = np.zeros(6, np.int64)
        state[joint.JOINT_LIMIT] = limit
        state[joint.JOINT_FACTOR] = (self.value or 0) + 1 if problem.aim is Aim.WIDEST else 1
        state[joint.JOINT_GOAL] = (self.value or 0) + 1 if problem.aim is Aim.HEAVIEST else problem.tasks
        packed = octets_of(up).view(np.uint64)
        common = np.full((p + 1, packed.shape[1]), ~np.uint64(0))
        candidates = np.empty((p + 1, p), np.int64)
        candidates[0] = np.arange(p)
        numbers, places = np.full(p + 1, p), np.full(p + 1, -1)
        chosen, best = np.zeros(p + 1, np.int64), np.zeros(p + 1, np.int64)
        while True:
            joint.search_joint(
                packed, problem.w[workers], problem.most[workers], _PURPOSES[problem.aim], state, common, candidates,
                numbers, places, chosen, best, _SLICE,
            )  # fmt: skip
            if state[joint.JOINT_STATUS] != PAUSED:
                break
            if self.watch.is_over():
                self.is_stopped = True
                break
        self.counts["searches"] += 1
        if state[joint.JOINT_SIZE]:
            self._take(Board(up, workers, board.slots, None), workers[best[: state[joint.JOINT_SIZE]]].tolist())

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
            team = Team(_filled(capacities(problem, length), members, problem.tasks), tuple(kept.tolist()))
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

    def _tighten(self, left: list[_Interval] | None) -> None:
        """Improve the bound by what the two-sided core refutes, where the problem is one board."""
        problem = self.problem
        if left is None or len(left) > _LOOKED_AT or problem.aim in (Aim.HEAVIEST, Aim.ANY) or self.bound is None:
            return
        reached = [self.value] if self.value is not None else []
        for interval in left:
            proven = self.proven if interval is left[-1] else None  # the last one is the one that was stopped
            plain = self._plain(interval)
            if plain is None:
                continue
            if plain.goal <= 0:
                return
            matrix = Matrix(octets_of(plain.up), plain.up.shape[1])
            if problem.aim is Aim.EARLIEST:
                prefix = bounds.earliest_bound(matrix, plain.goal, plain.width, matrix.n)
                prefix = prefix if proven is None else min(matrix.n + 1, max(prefix, proven))
                reached.append(int(interval.board.slots[prefix - 1]) + 1 if prefix <= matrix.n else problem.slots + 1)
            else:
                widest = bounds.widest_bound(matrix, plain.goal, plain.width - 1)
                widest = widest if proven is None else min(widest, max(proven, plain.width - 1))
                reached.append(widest // self.lengths[interval.first])
        if reached:
            self.bound = min(self.bound, max(reached)) if problem.aim.is_maximal else max(self.bound, min(reached))


def _lengths(problem: CommonSlots) -> list[int]:
    """Return the lengths a team can have, those left out for which no row has the slots; O(p N)."""
    most = problem.most if problem.aim is Aim.HEAVIEST else np.minimum(problem.most, problem.tasks)
    if problem.aim is not Aim.WIDEST:
        most = np.minimum(most, np.count_nonzero(problem.up, axis=1) // problem.w)
    if problem.aim is not Aim.HEAVIEST and int(most.sum()) < problem.tasks:
        return []
    return sorted(
        {k * w for w, most_q in zip(problem.w.tolist(), most.tolist(), strict=True) for k in range(1, most_q + 1)}
    )


def _filled(held: Integers, members: list[int] | range, tasks: int) -> dict[int, int]:
    """Hand out tasks, the first workers first."""
    team = {}
    for q in members:
        if x := min(int(held[q]), tasks):
            team[q] = x
            tasks -= x
    return team
