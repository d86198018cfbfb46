"""Whether a play by an instant tau exists, exactly: levels by CP-SAT, with times in cells that are split where needed.

Position j of a period is the segment, if any, that starts at work j g + offset with 0 <= offset < g: two segments of
a period start at least g apart, so each has a position of its own, and of two neighbours the second has no smaller
offset. The offsets of each position are cut into *cells* [a, b]. A segment in a cell is taken to end as early as
offset a lets it and to start as late as offset b lets it: all that a play needs, or less. So if the levels (see
`levels`) cannot be given, no play by tau exists. If they can, the order of segments that they tell is replayed with
real times; if it is no play, some segment was late for another that relied on the early end of its cell, and that cell
is split at the offset it really has. Offsets are integers, so this ends; mostly after none or a few splits.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from hindsched.offline.backends.cpsat_runs import solve_interruptibly
from hindsched.offline.bags.availability_periods import AvailabilityPeriods
from hindsched.offline.bags.levels import earliest_starts, latest_ends
from hindsched.offline.bags.matching import Segment
from hindsched.offline.limits import Limits, Stopwatch

__all__ = ["Feasibility", "decide"]


@dataclass(frozen=True, slots=True)
class Feasibility:
    """Whether a play by tau exists.

    Parameters
    ----------
    exists
        None: the time was over first.
    chains
        The segments of each task, if one exists.
    splits
        How many cells were split.
    """

    exists: bool | None
    chains: list[list[Segment]] | None = None
    splits: int = 0


class _Budget:
    """What one question may still spend."""

    def __init__(self, limits: Limits, effort: float | None) -> None:
        self.limits = limits
        self.watch = Stopwatch(limits)
        self.effort = effort

    def solve(self, model: cp_model.CpModel) -> tuple[cp_model.CpSolver, Any]:
        """Solve a model within what is left; return the solver and its status."""
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = self.limits.threads
        solver.parameters.random_seed = self.limits.seed
        left = self.watch.left_s()
        if left is not None:
            solver.parameters.max_time_in_seconds = left
        if self.effort is not None:
            solver.parameters.max_deterministic_time = max(self.effort, 0.01)
        status = solve_interruptibly(solver, model)
        if self.effort is not None:
            self.effort -= solver.response_proto.deterministic_time
        return solver, status


@dataclass(frozen=True, slots=True)
class _Option:
    """A position in one of its cells, as the model sees it."""

    position: int
    cell: int
    end: int  # earliest
    start: int  # latest


class _Field:
    """All positions by tau, and their cells."""

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
        """Return every position in each of its cells."""
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
        """Let a cell of a position begin at an offset; return whether none did."""
        cuts = self.cuts[p]
        i = bisect_right(cuts, offset)
        if cuts[i - 1] == offset:
            return False
        cuts.insert(i, offset)
        return True


def decide(
    periods: AvailabilityPeriods, tasks: int, segments: int, tau: int, limits: Limits, *, effort: float | None = None
) -> Feasibility:
    """Return whether n chains of k segments exist by tau, with shared disks, not on demand.

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
        Most of CP-SAT's deterministic seconds, which do not depend on the machine's load; None: any.

    Examples
    --------
    >>> from hindsched.instances.states import from_letters
    >>> both = AvailabilityPeriods.of_states(from_letters(["uuuu", "uduu"]), [5, 6], slot=4)
    >>> decide(both, 2, 2, 15, Limits()).exists, decide(both, 2, 2, 14, Limits()).exists
    (True, False)
    """
    budget = _Budget(limits, effort)
    field = _Field(periods, tau)
    begins = earliest_starts(periods, segments).tolist()
    rests = latest_ends(periods, segments, tau).tolist()
    if len(field.period) < tasks * segments or len(begins) < segments or rests[-1] < 0:
        return Feasibility(False)
    splits = 0
    while True:
        options = field.options()
        status, found = _levels(field, options, tasks, segments, begins, rests, budget)
        if status == cp_model.INFEASIBLE:
            return Feasibility(False, splits=splits)
        if found is None:
            return Feasibility(None, splits=splits)
        replay = _Replay(field, options, found, tasks, segments)
        if not replay.late:
            return Feasibility(True, replay.chains, splits)
        splits += sum(field.split(p, offset) for p, offset in replay.late)


def _levels(
    field: _Field,
    options: list[_Option],
    tasks: int,
    segments: int,
    begins: list[int],
    rests: list[int],
    budget: _Budget,
) -> tuple[int, dict[int, int] | None]:
    """Ask CP-SAT for levels; return its status and the level of each option used."""
    model = cp_model.CpModel()
    use: dict[tuple[int, int], cp_model.IntVar] = {}
    of_level: list[list[int]] = [[] for _ in range(segments + 1)]
    of_cell: list[dict[int, list[cp_model.IntVar]]] = [{} for _ in field.period]
    for i, option in enumerate(options):
        for level in range(1, segments + 1):
            if option.start >= begins[level - 1] and option.end <= rests[segments - level]:
                use[i, level] = model.new_bool_var("")
                of_level[level].append(i)
                of_cell[option.position].setdefault(option.cell, []).append(use[i, level])
    for level in range(1, segments + 1):
        model.add(sum(use[i, level] for i in of_level[level]) == tasks)
    for p, cells in enumerate(of_cell):
        model.add_at_most_one(x for variables in cells.values() for x in variables)
        if p + 1 < len(of_cell) and field.period[p] == field.period[p + 1]:
            _add_order(model, field, p, cells, of_cell[p + 1])
    for level in range(1, segments):
        _add_supply(model, options, use, of_level, level, tasks)
    solver, status = budget.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return status, None
    return status, {i: level for (i, level), x in use.items() if solver.boolean_value(x)}


def _add_order(
    model: cp_model.CpModel,
    field: _Field,
    p: int,
    cells: dict[int, list[cp_model.IntVar]],
    following: dict[int, list[cp_model.IntVar]],
) -> None:
    """Let no position have a cell beyond that of the next one, if both are used."""
    for c in cells:
        least = field.bounds(p, c)[0]
        early = [x for d, xs in following.items() if field.bounds(p + 1, d)[1] < least for x in xs]
        if early:
            model.add_at_most_one([x for d, xs in cells.items() if d >= c for x in xs] + early)


def _add_supply(
    model: cp_model.CpModel,
    options: list[_Option],
    use: dict[tuple[int, int], cp_model.IntVar],
    of_level: list[list[int]],
    level: int,
    tasks: int,
) -> None:
    """At each start of the next level as many of this level must have ended: a stock that is never negative."""
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
    """The order that levels and cells tell, with the real times.

    Parameters
    ----------
    late
        Position and offset of each segment that ended too late for the cell of another; empty for a play.
    chains
        The segments of each task.
    """

    def __init__(self, field: _Field, options: list[_Option], found: dict[int, int], tasks: int, segments: int) -> None:
        self.field = field
        self.late: set[tuple[int, int]] = set()
        self.chains: list[list[Segment]] = [[] for _ in range(tasks)]
        before = _predecessors(options, found, segments)
        task_of: dict[int, int] = {}
        work_of: dict[int, int] = {}
        end_of: dict[int, int] = {}
        cause_of: dict[int, int | None] = {}  # what a segment waited for, if it waited
        last: dict[int, int] = {}  # the last option used in a period
        for i in sorted(found, key=lambda i: (options[i].end, options[i].start)):
            p = options[i].position
            s = field.period[p]
            source, previous = before.get(i), last.get(s)
            done = self._work_by(s, end_of[source]) if source is not None else 0
            free = work_of[previous] + field.ticks[p] if previous is not None else 0
            base = field.number[p] * field.ticks[p]
            low, high = field.bounds(p, options[i].cell)
            work = max(base, done, free)
            cause_of[i] = None if work <= base + low else source if done >= free else previous
            if work > base + high:
                self._blame(cause_of[i], options, work_of, cause_of)
                work = base + high
            at = np.array([s])
            start = int(field.periods.start_at(at, np.array([work]))[0])
            end = int(field.periods.end_at(at, np.array([work + field.ticks[p]]))[0])
            task_of[i] = task_of[source] if source is not None else sum(found[j] == 1 for j in task_of)
            self.chains[task_of[i]].append((s, start, end))
            work_of[i], end_of[i], last[s] = work, end, i

    def _blame(
        self, i: int | None, options: list[_Option], work_of: dict[int, int], cause_of: dict[int, int | None]
    ) -> None:
        """Note all segments that waited for each other until the one that is late."""
        while i is not None and cause_of[i] is not None:
            p = options[i].position
            self.late.add((p, work_of[i] - self.field.number[p] * self.field.ticks[p]))
            i = cause_of[i]

    def _work_by(self, period: int, instant: int) -> int:
        at = self.field.periods
        runs = slice(int(at.first_run[period]), int(at.first_run[period + 1]))
        return int(np.maximum(np.minimum(at.end[runs], instant) - at.start[runs], 0).sum())


def _predecessors(options: list[_Option], found: dict[int, int], segments: int) -> dict[int, int]:
    """Return for each option used above level 1 the one whose task it takes up: first ended, first taken."""
    before: dict[int, int] = {}
    for level in range(2, segments + 1):
        ended = sorted((i for i, at in found.items() if at == level - 1), key=lambda i: options[i].end)
        begun = sorted((i for i, at in found.items() if at == level), key=lambda i: options[i].start)
        before.update(zip(begun, ended, strict=True))
    return before
