"""A slot-level CP-SAT model of R1-R5: K iterations within the first H slots.

Iteration i ends in slot e_i. Its *communication phase* is followed by its *computation phase* from slot c_i to e_i. By
the normal form (docs/model.md, Proposition 1) every schedule can be brought into this form without moving any e_i:

1. The computation phase sends nothing, no member is DOWN in it, and all members are UP in W of its slots.
2. A member receives x_q T_data units of data in UP slots of the communication phase, and T_prog units of program unless
   it holds the program already; it is not DOWN between the first of them and e_i. So all of them lie in one
   *availability period* of the worker.
3. A program is received whole in one communication phase and lost at the end of the period. One in a period suffices.

``stand_by=False`` requires that a worker that receives the program in iteration i is a member of i.

Variables (for iteration i, worker q, a period g of q, and slot t in the window of iteration i)
-----------------------------------------------------------------------------------------------
- ``ended[i, t]``: e_i < t. ``computing[i, t]``: c_i <= t. Both are monotone in t.
- ``advances[i, t]``: slot t is one of the W computing slots.
- ``member[i, q, g]``: q is a member of i and the computation phase lies in its period g; ``tasks[i, q, g]``: x_q.
- ``program[i, q, g]``: q receives the whole program in the communication phase of i, in its period g.
- ``served[i, q, t]``: the master serves q in slot t, an UP slot of the communication phase of i.
- ``length[i]``: an integer, at least W.

These are at most about p (H + L) variables per iteration, where L is the number of periods. Windows reduce them: an
iteration ends no earlier than the free-prefetch bound, and early enough for later iterations to end in H slots too.

Constraints
-----------
- The sum of tasks[i, q, g] over q and g is m; tasks <= mu_q; tasks >= 1 iff member; at most one g with member.
- w_q tasks[i, q, g] <= length[i] = the sum of advances[i, t] over t.
- advances[i, t] only in the computation phase and only where all members are UP; e_i is such a slot.
- member[i, q, g]: c_i and e_i lie in g; and program[j, q, g] for some j <= i. At most one j with program[j, q, g].
- The sum of served[i, q, t] over the slots of g is T_prog program[i, q, g] + T_data tasks[i, q, g].
- The sum of served[i, q, t] over q is at most n_com in the communication phase of i, and 0 outside.

A solution may omit slots that advance the computation by R4, and count more than W of them. Then its iterations end
earlier in the schedule that `emit` makes of it, which leaves all later iterations valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from hindsched.instances.coupled.model import Instance
from hindsched.instances.states import DOWN, UP
from hindsched.offline.coupled.models.round_windows import Window
from hindsched.offline.coupled.plans import IterationPlan
from hindsched.offline.limits import Stopwatch

__all__ = ["SlotModel"]


class SlotModel:
    """The model of K iterations that end within their windows, as described above.

    Parameters
    ----------
    instance
        The instance.
    windows
        The slots in which each iteration may end; first and last slots are strictly increasing.
    watch
        Stops the construction of a large model.
    stand_by
        Whether a program may be sent for a later iteration.

    Raises
    ------
    OutOfTimeError
        When the time is over.
    """

    def __init__(self, instance: Instance, windows: Sequence[Window], watch: Stopwatch, *, stand_by: bool) -> None:
        self.instance = instance
        self.model = cp_model.CpModel()
        self._watch = watch
        self._windows = [(window.earliest, window.latest) for window in windows]
        self._is_up = instance.states == UP
        self._periods = [_periods(row, windows[0].earliest, windows[-1].latest) for row in instance.states]
        self._ended: dict[tuple[int, int], Any] = {}
        self._computing: dict[tuple[int, int], Any] = {}
        self._advances: dict[tuple[int, int], Any] = {}
        self._tasks: dict[tuple[int, int, int], Any] = {}
        self._member: dict[tuple[int, int, int], Any] = {}
        self._program: dict[tuple[int, int, int], Any] = {}
        self._served: dict[tuple[int, int, int], Any] = {}
        for i in range(len(windows)):
            self._add_phases(i)
            self._add_members(i)
        if instance.t_prog:
            self._add_programs(stand_by)
        if instance.t_prog or instance.t_data:
            for i in range(len(windows)):
                self._add_service(i)

    def first(self, i: int) -> int:
        """Return the first slot that iteration i may use."""
        return self._windows[i - 1][0] + 1 if i else 0

    def _slots(self, i: int) -> range:
        return range(self.first(i), self._windows[i][1] + 1)

    def ended(self, i: int, slot: int) -> Any:
        """Return the literal "iteration i ends before ``slot``"; iteration -1 ends before slot 0."""
        if i < 0 or slot > self._windows[i][1]:
            return 1
        return self._ended.get((i, slot), 0)

    def computing(self, i: int, slot: int) -> Any:
        """Return the literal "the computation phase of iteration i begins in ``slot`` or before"."""
        if slot >= self._windows[i][1]:
            return 1
        return self._computing.get((i, slot), 0)

    def _add_phases(self, i: int) -> None:
        model = self.model
        earliest, latest = self._windows[i]
        for t in range(earliest + 1, latest + 1):
            self._ended[i, t] = model.new_bool_var(f"ended[{i},{t}]")
        for t in range(self.first(i), latest):
            self._computing[i, t] = model.new_bool_var(f"computing[{i},{t}]")
        for t in self._slots(i):
            self._watch.check()
            self._advances[i, t] = model.new_bool_var(f"advances[{i},{t}]")
            model.add_implication(self._advances[i, t], self.computing(i, t))
            model.add_implication(self._advances[i, t], self._not(self.ended(i, t)))
            model.add_implication(self.computing(i, t), self.ended(i - 1, t))
            model.add_implication(self.ended(i, t + 1), self.computing(i, t))
            model.add_implication(self.computing(i, t), self.computing(i, t + 1))
            model.add_implication(self.ended(i, t), self.ended(i, t + 1))
            # the last slot of an iteration advances it
            model.add_bool_or(self._not(self.ended(i, t + 1)), self.ended(i, t), self._advances[i, t])

    def _add_members(self, i: int) -> None:
        model, instance = self.model, self.instance
        earliest, latest = self._windows[i]
        most = max(w * cap for w, cap in zip(instance.w, instance.capacities, strict=True))
        length = model.new_int_var(1, min(most, len(self._slots(i))), f"length[{i}]")
        model.add(sum(self._advances[i, t] for t in self._slots(i)) == length)
        for q, periods in enumerate(self._periods):
            self._watch.check()
            for g, (period_start, period_end) in enumerate(periods):
                first, last = max(period_start, self.first(i)), min(period_end, latest)
                num_up = int(self._is_up[q, first : last + 1].sum())
                cap = min(instance.capacities[q], num_up // (instance.w[q] + instance.t_data))
                if last < earliest or cap < 1:
                    continue
                key = i, q, g
                member = self._member[key] = model.new_bool_var(f"member[{i},{q},{g}]")
                tasks = self._tasks[key] = model.new_int_var(0, cap, f"tasks[{i},{q},{g}]")
                model.add(tasks >= member)
                model.add(tasks <= cap * member)
                model.add(instance.w[q] * tasks <= length)
                model.add_implication(member, self.ended(i, period_end + 1))
                if period_start > 0:
                    model.add_implication(member, self._not(self.computing(i, period_start - 1)))
                for t in range(first, last + 1):
                    if not self._is_up[q, t]:
                        model.add_bool_or(self._not(member), self._not(self._advances[i, t]))
        for q, periods in enumerate(self._periods):
            model.add_at_most_one(self._member[i, q, g] for g in range(len(periods)) if (i, q, g) in self._member)
        model.add(sum(tasks for (j, _, _), tasks in self._tasks.items() if j == i) == instance.tasks)

    def _add_programs(self, stand_by: bool) -> None:
        model, instance = self.model, self.instance
        iterations = range(len(self._windows))
        for q, periods in enumerate(self._periods):
            self._watch.check()
            for g, (period_start, period_end) in enumerate(periods):
                uses = {i: self._member[i, q, g] for i in iterations if (i, q, g) in self._member}
                sends: list[Any] = []
                for i in iterations:
                    first, last = max(period_start, self.first(i)), min(period_end, self._windows[i][1] - 1)
                    later = [use for j, use in uses.items() if j >= i]
                    if (
                        later
                        and int(self._is_up[q, first : last + 1].sum()) >= instance.t_prog
                        and (stand_by or i in uses)
                    ):
                        send = self._program[i, q, g] = model.new_bool_var(f"program[{i},{q},{g}]")
                        sends.append(send)
                        if stand_by:
                            model.add_bool_or(self._not(send), *later)
                        else:
                            model.add_implication(send, uses[i])
                    if i in uses:
                        model.add_bool_or(self._not(uses[i]), *sends)
                model.add_at_most_one(sends)

    def _add_service(self, i: int) -> None:
        model, instance = self.model, self.instance
        by_slot: dict[int, list[Any]] = {t: [] for t in self._slots(i)}
        for q, periods in enumerate(self._periods):
            self._watch.check()
            for g, (period_start, period_end) in enumerate(periods):
                tasks, program = self._tasks.get((i, q, g), 0), self._program.get((i, q, g), 0)
                if isinstance(tasks, int) and isinstance(program, int):
                    continue
                units = []
                for t in range(max(period_start, self.first(i)), min(period_end, self._windows[i][1] - 1) + 1):
                    if self._is_up[q, t]:
                        unit = self._served[i, q, t] = model.new_bool_var(f"served[{i},{q},{t}]")
                        model.add_implication(unit, self.ended(i - 1, t))
                        model.add_implication(unit, self._not(self.computing(i, t)))
                        units.append(unit)
                        by_slot[t].append(unit)
                model.add(sum(units) == instance.t_prog * program + instance.t_data * tasks)
        for t, units in by_slot.items():
            if len(units) > instance.channels:
                model.add(sum(units) <= instance.channels * (self.ended(i - 1, t) - self.computing(i, t)))

    def minimise_end(self) -> None:
        """Minimise the slot in which the last iteration ends."""
        last = len(self._windows) - 1
        earliest, latest = self._windows[last]
        self.model.minimize(earliest + sum(1 - self.ended(last, t) for t in range(earliest + 1, latest + 1)))

    def plan(self, solver: cp_model.CpSolver) -> list[IterationPlan]:
        """Return the plan of a solution; its iterations may be shorter than in the model, never longer."""
        plan = []
        for i in range(len(self._windows)):
            members = {
                q: solver.value(tasks) for (j, q, _), tasks in self._tasks.items() if j == i and solver.value(tasks)
            }
            service: dict[int, list[int]] = {}
            for (j, q, t), unit in self._served.items():
                if j == i and solver.value(unit):
                    service.setdefault(q, []).append(t)
            end = max(t for t in self._slots(i) if solver.value(self._advances[i, t]))
            period_starts = [
                int(np.flatnonzero(self.instance.states[q, : end + 1] == DOWN).max(initial=-1)) + 1 for q in members
            ]
            begin = max(slots[-1] for slots in service.values()) + 1 if service else self.begin(solver, i)
            plan.append(IterationPlan(members, service, max(begin, *period_starts)))
        return plan

    def begin(self, solver: cp_model.CpSolver, i: int) -> int:
        """Return the slot after the end of iteration i - 1 in a solution."""
        return next(t for t in self._slots(i) if solver.value(self.ended(i - 1, t)))

    def _not(self, literal: Any) -> Any:
        return 1 - literal if isinstance(literal, int) else literal.negated()


def _periods(states: Any, earliest: int, latest: int) -> list[tuple[int, int]]:
    """Return the availability periods that meet [earliest, latest], as first and last slots."""
    downs = [-1, *np.flatnonzero(states == DOWN).tolist(), states.size]
    periods = [(a + 1, b - 1) for a, b in pairwise(downs) if b > a + 1]
    return [(first, last) for first, last in periods if last >= earliest and first <= latest]
