"""A CP-SAT model of chains of segments, task by task: the model to read, and to check the others against.

Not on demand. Every segment of every task is one interval in the UP time of one availability period. A segment starts
where the state of its predecessor is: anywhere with a shared store, on the same machine with private ones. The model
has no bound, no position and no level. Tasks are distinct (their first segments start in the order of their numbers),
so it is for small instances.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil

from ortools.sat.python import cp_model

from hindsched.instances.bags import Instance
from hindsched.instances.errors import InputError
from hindsched.offline.backends.cpsat_runs import limit_met, make_solver, solve_interruptibly
from hindsched.offline.bags.availability_periods import AvailabilityPeriods
from hindsched.offline.bags.claim import Claim
from hindsched.offline.bags.matching import Segment
from hindsched.offline.bags.schedule_building import schedule_of_chains
from hindsched.offline.limits import Limit, Limits, OutOfTimeError, Stopwatch

__all__ = ["solve"]


def solve(instance: Instance, limits: Limits) -> Claim:
    """Solve a small instance; stopped by the time limit, return its bounds.

    Raises
    ------
    InputError
        For an instance on demand: this model has integer instants only.

    Examples
    --------
    >>> pair = Instance.from_letters(["uuu", "udu"], ticks=[2, 1], slot=2, tasks=2, segments=2)
    >>> found = solve(pair, Limits())
    >>> found.lower, found.upper
    (4, 4)
    """
    if instance.on_demand:
        raise InputError("chains is for instances that are not on demand", place="solver")
    watch = Stopwatch(limits)
    model = cp_model.CpModel()
    try:
        chains = _Chains(model, instance, watch)
    except OutOfTimeError:
        return Claim(0, None, "chains", limit=Limit.TIME)
    model.minimize(chains.end)
    solver = make_solver(limits, watch.left_s())
    status = solve_interruptibly(solver, model)
    if status == cp_model.INFEASIBLE:
        return Claim(None, None, "chains")
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Claim(max(0, ceil(solver.best_objective_bound - 1e-6)), None, "chains", limit=limit_met(solver))
    schedule = schedule_of_chains(instance, chains.periods, chains.solution(solver))
    lower = schedule.turnaround if status == cp_model.OPTIMAL else ceil(solver.best_objective_bound - 1e-6)
    return Claim(lower, schedule, "chains", limit=None if status == cp_model.OPTIMAL else limit_met(solver))


class _Chains:
    """The variables and constraints of a model; `OutOfTimeError` if the time is over first."""

    def __init__(self, model: cp_model.CpModel, instance: Instance, watch: Stopwatch) -> None:
        self.model, self.watch = model, watch
        self.instance = instance
        self.periods = AvailabilityPeriods.of_states(instance.states, instance.ticks, instance.slot)
        self.horizon = instance.horizon
        self.busy: list[list[cp_model.IntervalVar]] = [[] for _ in self.periods.machine]
        # start, end, and a literal for each period, of each segment of each task
        self.segments: list[list[tuple[cp_model.IntVar, cp_model.IntVar, list[cp_model.IntVar]]]] = []
        self.end = self._last_end()

    def solution(self, solver: cp_model.CpSolver) -> list[list[Segment]]:
        """Return the segments of every task in a solution."""
        return [
            [(_first_true(solver, places), solver.value(start), solver.value(end)) for start, end, places in task]
            for task in self.segments
        ]

    def _last_end(self) -> cp_model.IntVar:
        """Add all constraints and return the variable of the last completion."""
        last = self.model.new_int_var(0, self.horizon, "end")
        for i in range(self.instance.tasks):
            task = [self._segment(f"{i}_{j}") for j in range(self.instance.segments)]
            for (_, ready, _), (start, _, _) in pairwise(task):
                self.model.add(start >= ready)
            if not self.instance.is_shared:
                self._keep_machine([places for _, _, places in task])
            self.model.add(last >= task[-1][1])
            self.segments.append(task)
        for a, b in pairwise(task[0][0] for task in self.segments):
            self.model.add(a <= b)
        for intervals in self.busy:
            self.model.add_no_overlap(intervals)
        return last

    def _segment(self, name: str) -> tuple[cp_model.IntVar, cp_model.IntVar, list[cp_model.IntVar]]:
        """Return start and end of a segment, and for each period a literal: the segment lies there."""
        start = self.model.new_int_var(0, self.horizon, f"start_{name}")
        end = self.model.new_int_var(0, self.horizon, f"end_{name}")
        places = []
        for s, machine in enumerate(self.periods.machine):
            self.watch.check()
            here = self.model.new_bool_var(f"in_{name}_{s}")
            places.append(here)
            self._in_period(s, int(self.periods.ticks[machine]), start, end, here)
        self.model.add_exactly_one(places)
        return start, end, places

    def _in_period(
        self, s: int, ticks: int, start: cp_model.IntVar, end: cp_model.IntVar, here: cp_model.IntVar
    ) -> None:
        """Link the instants of a segment to its work in a period, for each run of UP slots."""
        at = self.periods
        runs = range(int(at.first_run[s]), int(at.first_run[s + 1]))
        origin = int(at.before[runs[0]])
        total = int(at.before[runs[-1] + 1]) - origin
        if total < ticks:
            self.model.add(here == 0)
            return
        work = self.model.new_int_var(0, total - ticks, "")
        self.busy[s].append(self.model.new_optional_fixed_size_interval_var(work, ticks, here, ""))
        starting, ending = [], []
        for run in runs:
            low, high = int(at.before[run]) - origin, int(at.before[run + 1]) - origin
            shift = int(at.start[run]) - low
            begins, ends = self.model.new_bool_var(""), self.model.new_bool_var("")
            self.model.add(start == work + shift).only_enforce_if(begins)
            self.model.add(work >= low).only_enforce_if(begins)
            self.model.add(work < high).only_enforce_if(begins)
            self.model.add(end == work + ticks + shift).only_enforce_if(ends)
            self.model.add(work + ticks > low).only_enforce_if(ends)
            self.model.add(work + ticks <= high).only_enforce_if(ends)
            starting.append(begins)
            ending.append(ends)
        self.model.add(sum(starting) == here)
        self.model.add(sum(ending) == here)

    def _keep_machine(self, segments: list[list[cp_model.IntVar]]) -> None:
        """Keep all segments of a task on one machine."""
        for q in range(self.instance.num_machines):
            on = self.model.new_bool_var("")
            for places in segments:
                here = [x for x, machine in zip(places, self.periods.machine, strict=True) if machine == q]
                self.model.add(sum(here) == on)


def _first_true(solver: cp_model.CpSolver, literals: list[cp_model.IntVar]) -> int:
    return next(i for i, literal in enumerate(literals) if solver.boolean_value(literal))
