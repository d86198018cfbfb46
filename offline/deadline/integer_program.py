"""0/1 programs for the rung ``free``, through PuLP: a row of work for one zone, overheads slot by slot for several.

With one zone some optimum has no run without work (docs/deadline/model.md, E1), so n paid slots and k launches do n g -
k d seconds of work, and one row suffices; this is the program of the public simulator. With several zones a run
without work may pay, as it can move the checkpoint, so the program follows the home and the overhead that is left.
"""

from __future__ import annotations

from math import ceil

import pulp

from hindsched.instances.deadline import Guard, Instance, Kind, Placement
from hindsched.instances.errors import InputError
from hindsched.offline.backends import pulp_runs
from hindsched.offline.deadline.claim import Claim
from hindsched.offline.deadline.replay import complete_schedule, payment_unit
from hindsched.offline.limits import Limit, Limits, Stopwatch

__all__ = ["solve"]

#: By how much a bound in floating point may exceed a true one, in units of the objective.
_TOLERANCE = 1e-4


def solve(instance: Instance, guard: Guard | None, limits: Limits, *, backend: str) -> Claim:
    """Return the least cost of an instance, by CBC or HiGHS.

    Parameters
    ----------
    instance
        The instance.
    guard
        None: the programs are for the rung ``free``.
    limits
        The time limit includes the time that the program takes to build.
    backend
        ``cbc`` or ``highs``.

    Raises
    ------
    InputError
        With a guard, or if the solver is not installed.
    """
    name = f"ilp-{backend}"
    if guard is not None:
        raise InputError(f"{name} is for the rung free", place="solver")
    watch = Stopwatch(limits)
    program = _OneZone(instance) if instance.num_zones == 1 else _SeveralZones(instance)
    if watch.is_over():
        return Claim(0, None, name, limit=Limit.TIME)
    outcome = pulp_runs.run(program.program, backend, limits, watch.left_s())
    schedule = complete_schedule(instance, program.placements()) if outcome.has_solution else None
    lower = 0 if outcome.bound is None else max(0, ceil(outcome.bound - _TOLERANCE)) * program.unit
    if schedule is None:
        return Claim(None if outcome.is_proven else lower, None, name, limit=outcome.limit)
    if outcome.is_proven:
        return Claim(schedule.cost, schedule, name)
    return Claim(min(lower, schedule.cost), schedule, name, limit=outcome.limit)


class _Program:
    """Variables for the kinds of instances in zones, and their bill."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.program = pulp.LpProblem("deadline", pulp.LpMinimize)
        self.zones = range(instance.num_zones)
        self.slots = range(instance.slots)
        kinds = [(z, kind) for z in self.zones for kind in Kind]
        self.runs = {
            (t, z, kind): self.program.add_variable(f"y_{t}_{z}_{kind}", cat="Binary")
            for t in self.slots
            for z, kind in kinds
            if kind is Kind.ON_DEMAND or instance.zones[z].spot[t]
        }
        costs = {
            key: instance.slot_s * int(instance.prices[key[1], int(key[2] is Kind.ON_DEMAND), key[0]])
            for key in self.runs
        }
        #: What the objective counts: all costs are multiples of it.
        self.unit = payment_unit(instance)
        self.bill = pulp.lpSum(costs[key] // self.unit * run for key, run in self.runs.items())
        for t in self.slots:
            self.program += self.in_slot(t) <= 1

    def in_slot(self, t: int) -> pulp.LpAffineExpression:
        """Return the number of instances in a slot."""
        return pulp.lpSum(self.at(t, z, kind) for z in self.zones for kind in Kind)

    def at(self, t: int, z: int, kind: Kind) -> pulp.LpVariable | int:
        """Return the variable of an instance in a slot, 0 where there is none."""
        return self.runs.get((t, z, kind), 0)

    def placements(self) -> list[Placement]:
        """Return the placements of a solution."""
        found: list[Placement] = [None] * self.instance.slots
        for (t, z, kind), run in self.runs.items():
            if run.value() > 0.5:
                found[t] = (z, kind)
        return found


class _OneZone(_Program):
    """The program with one row for the work."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        launches = []
        for (t, z, kind), run in self.runs.items():
            launch = self.program.add_variable(f"l_{t}_{kind}", cat="Binary")
            self.program += launch >= run - self.at(t - 1, z, kind)
            launches.append(launch)
        self.program += self.bill
        work = instance.slot_s * pulp.lpSum(self.runs.values()) - instance.overhead_s * pulp.lpSum(launches)
        self.program += work >= instance.work_s


class _SeveralZones(_Program):
    """The program that follows the home and the overhead that is left."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        add = self.program.add_variable
        slot_s = instance.slot_s
        most = max(instance.launch_overhead(a, b) for a in self.zones for b in self.zones)
        home: list[pulp.LpVariable | int] = [0] * instance.num_zones
        left: pulp.LpVariable | int = 0
        work, moves = [], []
        for t in self.slots:
            launched = [self._launches(t, z) for z in self.zones]
            before = home
            home = [add(f"h_{t}_{z}", cat="Binary") for z in self.zones]
            here = [pulp.lpSum(self.at(t, z, kind) for kind in Kind) for z in self.zones]
            for z in self.zones:
                self.program += home[z] >= here[z]
                self.program += home[z] <= here[z] + before[z]
            self.program += pulp.lpSum(home) <= 1
            self.program += pulp.lpSum(home) >= pulp.lpSum(before)
            delays = []
            for a in self.zones:
                for b in self.zones:
                    delay, units = instance.move_delay_s[a][b], instance.move_units(a, b)
                    if delay or units:
                        move = add(f"m_{t}_{a}_{b}", 0, 1)
                        self.program += move >= launched[b] + before[a] - 1
                        delays.append(delay * move)
                        moves.append(units // self.unit * move)
            kept = add(f"k_{t}", 0, most)
            self.program += kept >= left - most * (1 - self.in_slot(t) + pulp.lpSum(launched))
            waiting = instance.overhead_s * pulp.lpSum(launched) + pulp.lpSum(delays) + kept
            is_long = add(f"b_{t}", cat="Binary")
            left = add(f"r_{t}", 0, most)
            self.program += left >= waiting - slot_s
            self.program += left <= most * is_long
            self.program += left <= waiting - slot_s + (most + slot_s) * (1 - is_long)
            work.append(slot_s * self.in_slot(t) - waiting + left)
        self.program += self.bill + pulp.lpSum(moves)
        self.program += pulp.lpSum(work) >= instance.work_s

    def _launches(self, t: int, z: int) -> pulp.LpAffineExpression:
        """Return the number of launches in a zone in a slot: an instance that did not run in the slot before."""
        launches = []
        for kind in Kind:
            if (t, z, kind) in self.runs:
                run, before = self.at(t, z, kind), self.at(t - 1, z, kind)
                launch = self.program.add_variable(f"l_{t}_{z}_{kind}", cat="Binary")
                self.program += launch >= run - before
                self.program += launch <= run
                self.program += launch <= 1 - before
                launches.append(launch)
        return pulp.lpSum(launches)
