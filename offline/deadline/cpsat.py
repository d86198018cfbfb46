"""A CP-SAT model of the rules, slot by slot: placements, homes and overheads, for the rung ``free``."""

from __future__ import annotations

from math import ceil

from ortools.sat.python import cp_model

from hindsched.instances.deadline import Guard, Instance, Kind, Placement
from hindsched.instances.errors import InputError
from hindsched.offline.backends.cpsat_runs import limit_met, make_solver, solve_interruptibly
from hindsched.offline.deadline.claim import Claim
from hindsched.offline.deadline.replay import complete_schedule, payment_unit
from hindsched.offline.limits import Limit, Limits, Stopwatch

__all__ = ["solve"]


def solve(instance: Instance, guard: Guard | None, limits: Limits) -> Claim:
    """Return the least cost of an instance.

    Parameters
    ----------
    instance
        The instance.
    guard
        None: the model is for the rung ``free``.
    limits
        The time limit includes the time that the model takes to build.

    Raises
    ------
    InputError
        With a guard.
    """
    if guard is not None:
        raise InputError("cpsat is for the rung free", place="solver")
    watch = Stopwatch(limits)
    model = _Model(instance)
    if watch.is_over():
        return Claim(0, None, "cpsat", limit=Limit.TIME)
    solver = make_solver(limits, watch.left_s())
    status = solve_interruptibly(solver, model.model)
    if status == cp_model.INFEASIBLE:
        return Claim(None, None, "cpsat")
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Claim(0, None, "cpsat", limit=limit_met(solver))
    schedule = complete_schedule(instance, model.placements(solver))
    assert schedule is not None, "the model demands all the work"
    if status == cp_model.OPTIMAL:
        return Claim(schedule.cost, schedule, "cpsat")
    lower = max(0, ceil(solver.best_objective_bound - 1e-6)) * model.unit
    return Claim(min(lower, schedule.cost), schedule, "cpsat", limit=limit_met(solver))


class _Model:
    """The variables and constraints."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.model = model = cp_model.CpModel()
        zones = range(instance.num_zones)
        self.places: list[Placement] = [None, *((z, kind) for z in zones for kind in Kind)]
        self.unit = payment_unit(instance)
        #: For each slot a literal for each placement.
        self.at: list[list[cp_model.IntVar]] = []
        terms, work = [], []
        no_home = model.new_constant(1)
        home = [model.new_constant(0) for _ in zones]
        before = [model.new_constant(int(place is None)) for place in self.places]
        left: cp_model.IntVar | int = 0
        for t in range(instance.slots):
            at = [model.new_bool_var("") for _ in self.places]
            model.add_exactly_one(at)
            overhead, after = self._overheads(t)
            done = model.new_int_var(0, instance.slot_s, "")
            model.add(overhead == 0).only_enforce_if(at[0])
            model.add(done == 0).only_enforce_if(at[0])
            model.add(done == instance.slot_s - overhead + after).only_enforce_if(at[0].negated())
            for place, literal, was in zip(self.places[1:], at[1:], before[1:], strict=True):
                assert place is not None
                zone, kind = place
                if kind is Kind.SPOT and not instance.zones[zone].spot[t]:
                    model.add(literal == 0)
                    continue
                price = int(instance.prices[zone, int(kind is Kind.ON_DEMAND), t])
                terms.append(instance.slot_s * price // self.unit * literal)
                model.add(overhead == left).only_enforce_if(literal, was)
                for h, literal_of_home in ((None, no_home), *enumerate(home)):
                    launch = [literal, was.negated(), literal_of_home]
                    model.add(overhead == instance.launch_overhead(h, zone)).only_enforce_if(*launch)
                    units = instance.move_units(h, zone)
                    if units:
                        moved = model.new_bool_var("")
                        model.add_bool_or(moved, *(part.negated() for part in launch))
                        terms.append(units // self.unit * moved)
            no_home, home = self._homes(at, no_home, home)
            work.append(done)
            self.at.append(at)
            before, left = at, after
        model.add(sum(work) >= instance.work_s)
        model.minimize(sum(terms))

    def _overheads(self, t: int) -> tuple[cp_model.IntVar, cp_model.IntVar]:
        """Return the overhead left at the beginning and at the end of a slot."""
        zones = range(self.instance.num_zones)
        most = max(self.instance.launch_overhead(a, b) for a in zones for b in zones)
        overhead = self.model.new_int_var(0, most, f"overhead_{t}")
        after = self.model.new_int_var(0, most, f"after_{t}")
        self.model.add_max_equality(after, [overhead - self.instance.slot_s, 0])
        return overhead, after

    def _homes(
        self, at: list[cp_model.IntVar], no_home: cp_model.IntVar, home: list[cp_model.IntVar]
    ) -> tuple[cp_model.IntVar, list[cp_model.IntVar]]:
        """Return the literals of the home after a slot."""
        none_after = self.model.new_bool_var("")
        after = [self.model.new_bool_var("") for _ in home]
        self.model.add_exactly_one(none_after, *after)
        for place, literal in zip(self.places, at, strict=True):
            if place is not None:
                self.model.add_implication(literal, after[place[0]])
        for now, was in ((none_after, no_home), *zip(after, home, strict=True)):
            self.model.add_bool_or(at[0].negated(), was.negated(), now)
        return none_after, after

    def placements(self, solver: cp_model.CpSolver) -> list[Placement]:
        """Return the placements of a solution."""
        return [
            next(place for place, literal in zip(self.places, row, strict=True) if solver.boolean_value(literal))
            for row in self.at
        ]
