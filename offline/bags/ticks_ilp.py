"""A time-indexed integer linear program of levels, for PuLP: exact for tiny instances, shared store, not on demand.

``x[s, t, l]`` = 1 iff a segment that is the l-th of its task starts in availability period s at tick t. Tasks are
equal, so chains need only n segments of each level, and at every tick at least as many ends of level l as starts of
level l + 1. All times are integers, and nothing is relaxed.
"""

from __future__ import annotations

import numpy as np
import pulp

from hindsched.instances.bags import Instance
from hindsched.instances.errors import InputError
from hindsched.offline.backends.pulp_runs import MilpSolver, is_available, run
from hindsched.offline.bags.availability_periods import AvailabilityPeriods
from hindsched.offline.bags.claim import Claim
from hindsched.offline.bags.matching import Segment
from hindsched.offline.bags.schedule_building import schedule_of_chains
from hindsched.offline.limits import Limit, Limits, OutOfTimeError, Stopwatch

__all__ = ["MAX_VARIABLES", "solve"]

#: Largest number of variables of a program.
MAX_VARIABLES = 20_000


def solve(instance: Instance, limits: Limits) -> Claim:
    """Solve a tiny instance; stopped by a time limit, it may have no schedule.

    Raises
    ------
    InputError
        For private stores, for an instance on demand, and for more than `MAX_VARIABLES` variables.

    Examples
    --------
    >>> pair = Instance.from_letters(["uuu", "udu"], ticks=[2, 1], slot=2, tasks=2, segments=2)
    >>> found = solve(pair, Limits())
    >>> found.lower, found.upper
    (4, 4)
    """
    if instance.on_demand or not instance.is_shared:
        raise InputError("ticks is for a shared store, not on demand", place="solver")
    size = instance.horizon * instance.num_machines * instance.segments
    if size > MAX_VARIABLES:
        raise InputError(f"ticks: {size} variables, expected at most {MAX_VARIABLES}", place="solver")
    watch = Stopwatch(limits)
    try:
        program = _Program(instance, watch)
    except OutOfTimeError:
        return Claim(0, None, "ticks", limit=Limit.TIME)
    solver = MilpSolver.HIGHS if is_available(MilpSolver.HIGHS) else MilpSolver.CBC
    outcome = run(program.program, solver, limits, watch.left_s())
    if not outcome.has_solution:
        return Claim(None if outcome.is_proven else 0, None, "ticks", limit=outcome.limit)
    schedule = schedule_of_chains(instance, program.periods, program.chains())
    assert schedule.turnaround is not None
    return Claim(schedule.turnaround if outcome.is_proven else 0, schedule, "ticks", limit=outcome.limit)


class _Program:
    """The program, and the segment of each variable; `OutOfTimeError` if the time is over first."""

    def __init__(self, instance: Instance, watch: Stopwatch) -> None:
        self.instance, self.watch = instance, watch
        self.periods = AvailabilityPeriods.of_states(instance.states, instance.ticks, instance.slot)
        self.program = pulp.LpProblem("levels", pulp.LpMinimize)
        self.end = self.program.add_variable("end", 0, instance.horizon)
        self.program += self.end
        self.places: list[tuple[int, Segment, pulp.LpVariable]] = []  # level, segment, its variable
        for s in range(self.periods.machine.size):
            self._add_period(s)
        for level in range(instance.segments):
            self.program += pulp.lpSum(x for at, _, x in self.places if at == level) == instance.tasks
            for t in range(instance.horizon) if level else ():
                watch.check()
                done = pulp.lpSum(x for at, place, x in self.places if at == level - 1 and place[2] <= t)
                begun = pulp.lpSum(x for at, place, x in self.places if at == level and place[1] <= t)
                self.program += begun <= done

    def _add_period(self, s: int) -> None:
        """Require that at most one segment runs at any tick, and that no segment ends after the end."""
        places = _places(self.periods, s)
        ticks = int(self.periods.ticks[self.periods.machine[s]])
        rows = []
        for w, place in enumerate(places):
            self.watch.check()
            row = [self.program.add_variable(f"x_{s}_{w}_{j}", cat="Binary") for j in range(self.instance.segments)]
            self.places += [(j, place, x) for j, x in enumerate(row)]
            self.program += self.end >= place[2] * pulp.lpSum(row)
            rows.append(row)
        for w in range(len(places)):
            self.watch.check()
            self.program += pulp.lpSum(x for row in rows[max(0, w - ticks + 1) : w + 1] for x in row) <= 1

    def chains(self) -> list[list[Segment]]:
        """Return the segments of every task in a solution: the i-th start of a level continues the i-th end."""
        used: list[list[Segment]] = [[] for _ in range(self.instance.segments)]
        for level, place, x in self.places:
            if x.value() > 0.5:
                used[level].append(place)
        chains = [[place] for place in used[0]]
        for places in used[1:]:
            chains.sort(key=lambda chain: chain[-1][2])
            for chain, place in zip(chains, sorted(places, key=lambda place: place[1]), strict=True):
                chain.append(place)
        return chains


def _places(periods: AvailabilityPeriods, s: int) -> list[Segment]:
    """Return all segments that are possible in a period, by work."""
    ticks = int(periods.ticks[periods.machine[s]])
    work = np.arange(max(0, int(periods.caps(periods.horizon)[s]) - ticks + 1))
    where = np.full(work.size, s)
    starts, ends = periods.start_at(where, work), periods.end_at(where, work + ticks)
    return [(s, start, end) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
