"""Feasibility of an instant tau, exactly: levels by CP-SAT with dynamic discretization of times.

Position j of a period is the segment, if any, that starts at work j g + offset with 0 <= offset < g. Two segments of a
period start at least g apart, so each has a position of its own, and offsets do not decrease along a period. The
offsets of a position are divided into *cells* [a, b]. The model lets a segment in a cell end as early as offset a
allows and start as late as offset b allows, so it is a relaxation: if it is infeasible, no schedule ends by tau.

A solution of the model gives an order of the segments, which is replayed with true times. Either the replay is a
schedule, or a segment ends too late for another one that relied on the early end of its cell; that cell is then split
at the true offset. Offsets are integers, so this ends, mostly after few splits.

References
----------
N. Boland, M. Hewitt, L. Marshall, M. Savelsbergh, "The continuous-time service network design problem", Operations
Research 65 (2017) (dynamic discretization discovery).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from hindsched.offline.backends.cpsat_runs import make_solver, solve_interruptibly
from hindsched.offline.bags.availability_periods import AvailabilityPeriods
from hindsched.offline.bags.levels import earliest_starts, latest_ends
from hindsched.offline.bags.matching import Segment
from hindsched.offline.limits import Limits, Stopwatch

__all__ = ["Feasibility", "decide"]


@dataclass(frozen=True, slots=True)
class Feasibility:
    """Whether a schedule by tau exists.

    Parameters
    ----------
    exists
        None: a limit stopped the search.
    chains
        The segments of each task, if a schedule exists.
    splits
        Number of cells that were split.
    """

    exists: bool | None
    chains: list[list[Segment]] | None = None
    splits: int = 0


class _Budget:
    """Time and effort that are left for one decision."""

    def __init__(self, limits: Limits, effort: float | None) -> None:
        self.limits = limits
        self.watch = Stopwatch(limits)
        self.effort = effort

    def solve(self, model: cp_model.CpModel) -> tuple[cp_model.CpSolver, Any]:
        """Solve a model within the remaining time; return the solver and its status."""
        effort = None if self.effort is None else max(self.effort, 0.01)
        solver = make_solver(self.limits, self.watch.left_s(), effort)
        status = solve_interruptibly(solver, model)
        if self.effort is not None:
            self.effort -= solver.response_proto.deterministic_time
        return solver, status


@dataclass(frozen=True, slots=True)
class _Option:
    """A position in one of its cells, with the times of the relaxation."""

    position: int
    cell: int
    end: int  # earliest
    start: int  # latest


class _Cells:
    """All positions by tau, with their cells."""

    def __init__(self, periods: AvailabilityPeriods, tau: int) -> None:
        at = periods.positions(tau)
        self.periods = periods
        self.period: list[int] = at.period.tolist()
        self.number: list[int] = at.number.tolist()
        self.ticks: list[int] = at.ticks.tolist()
        caps = periods.caps(tau)
        self.caps: list[int] = caps.tolist()
        is_last = np.append(at.period[1:] != at.period[:-1], True) if len(at) else np.zeros(0, dtype=bool)
        slack = caps[at.period] % at.ticks
        self.most: list[int] = np.where(is_last, slack, at.ticks - 1).tolist()  # greatest offset
        # first cells: the offsets that let all later positions of the period be used, and the others
        self.cuts = [[0] if most == s else [0, s + 1] for most, s in zip(self.most, slack.tolist(), strict=True)]

    def bounds(self, p: int, cell: int) -> tuple[int, int]:
        """Return the least and greatest offset of a cell."""
        cuts = self.cuts[p]
        return cuts[cell], cuts[cell + 1] - 1 if cell + 1 < len(cuts) else self.most[p]

    def options(self) -> list[_Option]:
        """Return all positions in all of their cells."""
        which = [(p, c) for p, cuts in enumerate(self.cuts) for c in range(len(cuts))]
        if not which:
            return []
        p = np.array([row[0] for row in which])
        low, high = np.array([self.bounds(*row) for row in which]).T
        where, ticks = np.array(self.period)[p], np.array(self.ticks)[p]
        base = np.array(self.number)[p] * ticks
        ends = self.periods.end_at(where, base + low + ticks).tolist()
        starts = self.periods.start_at(where, base + high).tolist()
        return [_Option(q, c, e, s) for (q, c), e, s in zip(which, ends, starts, strict=True)]

    def split(self, p: int, offset: int) -> bool:
        """Split a cell of a position at an offset; False if a cell begins there already."""
        cuts = self.cuts[p]
        i = bisect_right(cuts, offset)
        if cuts[i - 1] == offset:
            return False
        cuts.insert(i, offset)
        return True


def decide(
    periods: AvailabilityPeriods, tasks: int, segments: int, tau: int, limits: Limits, *, effort: float | None = None
) -> Feasibility:
    """Decide whether n chains of k segments exist by tau, with a shared store, not on demand.

    Parameters
    ----------
    periods
        Of all machines.
    tasks, segments
        n and k.
    tau
        The instant.
    limits
        Time, threads and seed.
    effort
        Deterministic seconds of CP-SAT, which do not depend on the load of the machine; None: no limit.

    Examples
    --------
    >>> from hindsched.instances.states import from_letters
    >>> both = AvailabilityPeriods.of_states(from_letters(["uuuu", "uduu"]), [5, 6], slot=4)
    >>> decide(both, 2, 2, 15, Limits()).exists, decide(both, 2, 2, 14, Limits()).exists
    (True, False)
    """
    budget = _Budget(limits, effort)
    cells = _Cells(periods, tau)
    begins = earliest_starts(periods, segments).tolist()
    rests = latest_ends(periods, segments, tau).tolist()
    if len(cells.period) < tasks * segments or len(begins) < segments or rests[-1] < 0:
        return Feasibility(False)
    splits = 0
    while True:
        options = cells.options()
        status, found = _levels(cells, options, tasks, segments, begins, rests, budget)
        if status == cp_model.INFEASIBLE:
            return Feasibility(False, splits=splits)
        if found is None:
            return Feasibility(None, splits=splits)
        replay = _Replay(cells, options, found, tasks, segments)
        if not replay.late:
            return Feasibility(True, replay.chains, splits)
        splits += sum(cells.split(p, offset) for p, offset in replay.late)


def _levels(
    cells: _Cells,
    options: list[_Option],
    tasks: int,
    segments: int,
    begins: list[int],
    rests: list[int],
    budget: _Budget,
) -> tuple[int, dict[int, int] | None]:
    """Solve the relaxation; return CP-SAT's status and the level of each option that is used."""
    model = cp_model.CpModel()
    use: dict[tuple[int, int], cp_model.IntVar] = {}
    of_level: list[list[int]] = [[] for _ in range(segments + 1)]
    of_cell: list[dict[int, list[cp_model.IntVar]]] = [{} for _ in cells.period]
    for i, option in enumerate(options):
        for level in range(1, segments + 1):
            if option.start >= begins[level - 1] and option.end <= rests[segments - level]:
                use[i, level] = model.new_bool_var("")
                of_level[level].append(i)
                of_cell[option.position].setdefault(option.cell, []).append(use[i, level])
    for level in range(1, segments + 1):
        model.add(sum(use[i, level] for i in of_level[level]) == tasks)
    for p, here in enumerate(of_cell):
        model.add_at_most_one(x for variables in here.values() for x in variables)
        if p + 1 < len(of_cell) and cells.period[p] == cells.period[p + 1]:
            _add_order(model, cells, p, here, of_cell[p + 1])
    for level in range(1, segments):
        _add_supply(model, options, use, of_level, level, tasks)
    solver, status = budget.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return status, None
    return status, {i: level for (i, level), x in use.items() if solver.boolean_value(x)}


def _add_order(
    model: cp_model.CpModel,
    cells: _Cells,
    p: int,
    here: dict[int, list[cp_model.IntVar]],
    following: dict[int, list[cp_model.IntVar]],
) -> None:
    """Forbid a later cell of a position together with an earlier cell of the next one."""
    for c in here:
        least = cells.bounds(p, c)[0]
        early = [x for d, xs in following.items() if cells.bounds(p + 1, d)[1] < least for x in xs]
        if early:
            model.add_at_most_one([x for d, xs in here.items() if d >= c for x in xs] + early)


def _add_supply(
    model: cp_model.CpModel,
    options: list[_Option],
    use: dict[tuple[int, int], cp_model.IntVar],
    of_level: list[list[int]],
    level: int,
    tasks: int,
) -> None:
    """Require that at each start of the next level enough segments of this level have ended: a stock >= 0."""
    events = [(options[i].end, 0, use[i, level]) for i in of_level[level]]
    events += [(options[i].start, 1, use[i, level + 1]) for i in of_level[level + 1]]
    events.sort(key=lambda event: event[:2])
    stock: Any = 0  # an expression
    for j, (_, is_start, x) in enumerate(events):
        stock = stock - x if is_start else stock + x
        if is_start and (j + 1 == len(events) or not events[j + 1][1]):
            level_now = model.new_int_var(0, tasks, "")
            model.add(stock == level_now)
            stock = level_now


class _Replay:
    """The order of a solution of the relaxation, with true times.

    Parameters
    ----------
    late
        Position and true offset of each segment that ended too late for another one; empty for a schedule.
    chains
        The segments of each task.
    """

    def __init__(self, cells: _Cells, options: list[_Option], found: dict[int, int], tasks: int, segments: int) -> None:
        self.cells = cells
        self.late: set[tuple[int, int]] = set()
        self.chains: list[list[Segment]] = [[] for _ in range(tasks)]
        before = _predecessors(options, found, segments)
        task_of: dict[int, int] = {}
        work_of: dict[int, int] = {}
        end_of: dict[int, int] = {}
        cause_of: dict[int, int | None] = {}  # the segment that a segment waited for
        last: dict[int, int] = {}  # the last option used in a period
        for i in sorted(found, key=lambda i: (options[i].end, options[i].start)):
            p = options[i].position
            s = cells.period[p]
            source, previous = before.get(i), last.get(s)
            done = self._work_by(s, end_of[source]) if source is not None else 0
            free = work_of[previous] + cells.ticks[p] if previous is not None else 0
            base = cells.number[p] * cells.ticks[p]
            low, high = cells.bounds(p, options[i].cell)
            work = max(base, done, free)
            cause_of[i] = None if work <= base + low else source if done >= free else previous
            if work > base + high:
                self._blame(cause_of[i], options, work_of, cause_of)
                work = base + high
            at = np.array([s])
            start = int(cells.periods.start_at(at, np.array([work]))[0])
            end = int(cells.periods.end_at(at, np.array([work + cells.ticks[p]]))[0])
            task_of[i] = task_of[source] if source is not None else sum(found[j] == 1 for j in task_of)
            self.chains[task_of[i]].append((s, start, end))
            work_of[i], end_of[i], last[s] = work, end, i

    def _blame(
        self, i: int | None, options: list[_Option], work_of: dict[int, int], cause_of: dict[int, int | None]
    ) -> None:
        """Record the chain of segments whose waiting made one late."""
        while i is not None and cause_of[i] is not None:
            p = options[i].position
            self.late.add((p, work_of[i] - self.cells.number[p] * self.cells.ticks[p]))
            i = cause_of[i]

    def _work_by(self, period: int, instant: int) -> int:
        at = self.cells.periods
        runs = slice(int(at.first_run[period]), int(at.first_run[period + 1]))
        return int(np.maximum(np.minimum(at.end[runs], instant) - at.start[runs], 0).sum())


def _predecessors(options: list[_Option], found: dict[int, int], segments: int) -> dict[int, int]:
    """Return for each option above level 1 the option before it in its task: first ended, first continued."""
    before: dict[int, int] = {}
    for level in range(2, segments + 1):
        ended = sorted((i for i, at in found.items() if at == level - 1), key=lambda i: options[i].end)
        begun = sorted((i for i, at in found.items() if at == level), key=lambda i: options[i].start)
        before.update(zip(begun, ended, strict=True))
    return before
