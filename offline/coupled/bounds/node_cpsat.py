"""A model of the schedules whose iterations end within narrow windows, for CP-SAT (docs/model.md section 3).

Where labels that pay rents have left few ends, what remains is mostly a question of integers: who is sent a program,
and when. The model takes whole programs, whole tasks, and the slots in which all members are UP. It does not say in
which slots the channel serves whom: a communication phase has n_com units a slot, and a worker one in each of its UP
slots. So every schedule is a solution, and where there is no solution there is no schedule.

*Proof.* Every schedule has a normal form with the same ends (docs/model.md section 3): of each iteration a
communication phase, which ends with slot c, and then W slots, of those in which all members are UP, that compute. A
member needs its data in the communication phase, and its program there or, whole, in that of an earlier iteration, all
of it in UP slots of the life in which it computes. Each of these is a constraint below, or several added up. QED

A solution lacks only the slots of the channel. Whether there are enough, iteration by iteration, is a flow (module
`transfer`), and with it the solution is a schedule. If there are not, a minimum cut shows slots T, all of them busy,
in which some lives need too much: whatever the tasks and programs are, a life of which ``out`` UP slots are not in T
needs ``units - out`` of T at least, and T has n_com in each slot. As long as the communication phase does not begin
sooner or end later, that holds for every schedule; it is a constraint from then on, and CP-SAT is asked again.

Variables, for iteration k
--------------------------
- ``ends[t]``: slot t comes after it. ``firsts[c]``: it computes from slot c on.
- ``advances[t]``: in slot t all members are UP, and compute.
- ``tasks[l]`` and ``member[l]``: the tasks of the worker of life l, in which the computing slots lie.
- ``program[l]``: it is sent the program, in its life l.

Constraints
-----------
- Phases follow one another; the communication phase has n_com units a slot for m T_data units of data and the programs.
- The tasks are m; w tasks[l] slots advance, or more; in one that does, workers who are not UP have no tasks.
- A member of life l is sent the program in iteration k or before; what it is sent in iteration k, data and program, is
  no more than its UP slots in the communication phase. Without stand-by, who is sent the program computes at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from ortools.sat.python import cp_model

from hindsched.instances.array_types import Flags, Ints
from hindsched.instances.errors import SelfCheckError
from hindsched.offline.backends.cpsat_runs import solve_interruptibly
from hindsched.offline.coupled.bounds.priced_label_search import Possible
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import Tables
from hindsched.offline.coupled.plans import IterationPlan
from hindsched.offline.coupled.search.channel_flow import make_flow, make_participants, send
from hindsched.offline.coupled.search.constants import NEVER, YES
from hindsched.offline.coupled.search.reconstruction import service_of
from hindsched.offline.coupled.search.state_tables import Table

__all__ = ["Reply", "ask"]


class Reply(NamedTuple):
    """Whether there is a schedule, and one if there is; None if the budget did not suffice to tell.

    ``spent`` is of the budget, and ``num_variables`` of all models that were solved.
    """

    is_possible: bool | None
    plan: tuple[IterationPlan, ...] | None
    spent: float
    num_variables: int


class _Iteration(NamedTuple):
    """The variables of an iteration, and those for the slot in which it starts."""

    starts: dict[int, Any]
    firsts: dict[int, Any]
    tasks: dict[int, Any]
    member: dict[int, Any]
    program: dict[int, Any]


def ask(
    tables: Tables,
    states: Table,
    early: Ints,
    late: Ints,
    used: Sequence[int],
    unused: Sequence[int],
    *,
    possible: Possible | None = None,
    is_own: bool = False,
    budget: float = math.inf,
    left_s: float = math.inf,
) -> Reply:
    """Ask CP-SAT for a schedule whose iterations 1..k are complete within ``early[k]`` to ``late[k]`` slots, for all k.

    Parameters
    ----------
    tables, states
        Of the slots up to the last.
    early, late
        (K + 1,), windows; those of k = 0 are slot 0.
    used, unused
        Lives that compute in some iteration, and lives that do in none.
    possible
        Who can compute in schedules of interest, and from which slots on; None: all.
    is_own
        Without stand-by: who is sent the program computes in the same iteration.
    budget, left_s
        CP-SAT's deterministic time, and the seconds, that it may take.
    """
    part = _PartModel(tables, early, late, unused, is_own, possible)
    if not part.is_possible or not part.use(used):
        return Reply(False, None, 0.0, len(part.model.proto.variables))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = 2  # the linear relaxation is what refutes
    spent, num_variables = 0.0, 0
    while True:
        solver.parameters.max_deterministic_time = max(0.0, budget - spent)
        solver.parameters.max_time_in_seconds = max(0.0, left_s)
        status = solve_interruptibly(solver, part.model)
        if status == cp_model.MODEL_INVALID:
            raise SelfCheckError(f"CP-SAT calls the model {solver.status_name(status)}")
        spent += float(solver.response_proto.deterministic_time)
        left_s -= solver.wall_time
        num_variables += len(part.model.proto.variables)
        if status == cp_model.UNKNOWN:
            return Reply(None, None, spent, num_variables)
        if status == cp_model.INFEASIBLE:
            return Reply(False, None, spent, num_variables)
        plan = part.plan(solver, states)
        if plan is not None:
            return Reply(True, plan, spent, num_variables)


class _PartModel:
    """The model; ``is_possible`` is False if it is seen at once that there is no solution."""

    def __init__(
        self,
        tables: Tables,
        early: Ints,
        late: Ints,
        unused: Sequence[int],
        is_own: bool,
        possible: Possible | None = None,
    ) -> None:
        instance = tables.instance
        self.model = cp_model.CpModel()
        self.is_possible = True
        self._instance, self._tables = instance, tables
        self._w = np.array(instance.w, np.int64)[tables.owner]
        self._most = np.minimum(np.array(instance.capacities, np.int64), instance.tasks)[tables.owner]
        self._most[list(unused)] = 0
        self._up_before = tables.up_slots(0, np.arange(int(late[-1]) + 1)[:, None])  # of each life, before each slot
        self._is_own = is_own
        self._iterations: list[_Iteration] = []
        self._possible = possible
        fit = [self._fit(k, *early[[k, k + 1]], *late[[k, k + 1]]) for k in range(len(early) - 1)]
        last_use = np.max([np.where(fits > 0, k, -1) for k, fits in enumerate(fit)], axis=0)
        starts: dict[int, Any] = {0: self.model.new_constant(1)}
        for k, fits in enumerate(fit):
            ends = {t: self.model.new_bool_var("") for t in range(int(early[k + 1]), int(late[k + 1]) + 1)}
            self.model.add_exactly_one(ends.values())
            if not self._add(k, starts, ends, fits, last_use >= k):
                self.is_possible = False
                return
            starts = ends
        self._send()

    def _firsts(self, k: int, s0: int, t1: int) -> list[int]:
        """Return the slots in which iteration k + 1 can begin to compute, from slot s0 or later to t1."""
        slots = range(s0 + -(-self._instance.tasks * self._instance.t_data // self._instance.channels), t1)
        return [c for c in slots if self._possible is None or self._possible.first[k + 1, c]]

    def _fit(self, k: int, s0: int, t0: int, s1: int, t1: int) -> Ints:
        """Return the most tasks for each life, of iteration k + 1, from slot s0..s1 to t0..t1."""
        instance, tables, up = self._instance, self._tables, self._up_before
        c = np.array(self._firsts(k, s0, t1), np.int64)
        if not c.size:
            return np.zeros_like(self._most)
        fit = np.minimum((up[t1] - up[c]) // self._w, self._most)
        if instance.t_data:
            room = up[c] - up[s0] - instance.t_prog * (tables.first >= s1)
            fit = np.minimum(fit, room // instance.t_data)
        fit[~((tables.first <= c[:, None]) & (c[:, None] <= tables.last))] = 0
        fit[:, tables.last < t0 - 1] = 0
        if self._possible is not None:
            fit[:, ~self._possible.member[k + 1]] = 0
        most: Ints = np.maximum(0, fit.max(axis=0))
        return most

    def _add(self, k: int, starts: dict[int, Any], ends: dict[int, Any], fit: Ints, of_use: Flags) -> bool:
        """Add iteration k + 1 between these slots; False if it has no room, or its members cannot take all tasks."""
        model, instance, tables, up = self.model, self._instance, self._tables, self._up_before
        s0, t0, t1 = min(starts), min(ends), max(ends)
        firsts = {c: model.new_bool_var("") for c in self._firsts(k, s0, t1)}
        if int(fit.sum()) < instance.tasks:
            return False
        slot = cp_model.LinearExpr.weighted_sum
        first, start = slot(list(firsts.values()), list(firsts)), slot(list(starts.values()), list(starts))
        model.add_exactly_one(firsts.values())
        model.add(slot(list(ends.values()), list(ends)) >= first + 1)
        advances = {t: model.new_bool_var("") for t in range(min(firsts), t1)}
        for t, advance in advances.items():
            model.add_bool_or([*(v for c, v in firsts.items() if c <= t), ~advance])
            if t >= t0:
                model.add_bool_or([*(v for e, v in ends.items() if e > t), ~advance])
        length = sum(advances.values())
        self._leave_out_arcs(k, starts, firsts, ends)

        tasks: dict[int, Any] = {}
        member: dict[int, Any] = {}
        for life in np.flatnonzero(fit).tolist():
            most = int(fit[life])
            member[life] = is_in = model.new_bool_var("")
            tasks[life] = x = is_in if most == 1 else model.new_int_var(0, most, "")
            if most > 1:
                model.add(x <= most * is_in)
                model.add(x >= is_in)
            if tables.last[life] < t1 - 1:
                model.add_bool_or([*(v for e, v in ends.items() if e <= tables.last[life] + 1), ~is_in])
            model.add(length >= int(self._w[life]) * x)
        model.add(sum(tasks.values()) == instance.tasks)
        lives = np.array(list(tasks))
        for t, advance in advances.items():
            away = lives[up[t + 1, lives] == up[t, lives]].tolist()
            if away:
                model.add(sum(tasks[life] for life in away) + instance.tasks * advance <= instance.tasks)
            for life in away:  # which is tighter where each has few of the tasks
                model.add_implication(advance, ~member[life])

        sendable = of_use & (up[max(firsts)] - up[s0] >= instance.t_prog)
        if self._is_own:
            sendable &= fit > 0
        program = {life: model.new_bool_var("") for life in np.flatnonzero(sendable).tolist()}
        for life in sorted({*tasks, *program}):
            got = [(tasks, instance.t_data), (program, instance.t_prog)]
            units = sum(each * of_life[life] for of_life, each in got if life in of_life)
            counts = [*up[list(firsts), life].tolist(), *(-up[list(starts), life]).tolist()]
            model.add(units <= slot([*firsts.values(), *starts.values()], counts))
        units = instance.t_prog * sum(program.values()) + instance.tasks * instance.t_data
        model.add(units <= instance.channels * (first - start))
        if self._is_own:
            for life, is_sent in program.items():
                model.add_implication(is_sent, member[life])
        self._iterations.append(_Iteration(starts, firsts, tasks, member, program))
        return True

    def _leave_out_arcs(self, k: int, starts: dict[int, Any], firsts: dict[int, Any], ends: dict[int, Any]) -> None:
        """Let iteration k + 1 compute from no slot after the last that is possible between a start and an end."""
        if self._possible is None:
            return
        for s, is_start in starts.items():
            for t, is_end in ends.items():
                last = self._possible.last_first(k + 1, s, t)
                if any(last < c < t for c in firsts):
                    self.model.add_bool_or([~is_start, ~is_end, *(v for c, v in firsts.items() if c <= last)])

    def _send(self) -> None:
        """Who computes is sent the program before."""
        programs = [iteration.program for iteration in self._iterations]
        for k, iteration in enumerate(self._iterations):
            for life, is_in in iteration.member.items():
                sent = [program[life] for program in programs[: k + 1] if life in program]
                self.model.add_bool_or([*sent, ~is_in])

    def use(self, lives: Sequence[int]) -> bool:
        """Ask that these lives compute in some iteration; False if one cannot."""
        for life in lives:
            members = [iteration.member[life] for iteration in self._iterations if life in iteration.member]
            if not members:
                return False
            self.model.add_bool_or(members)
        return True

    def plan(self, solver: cp_model.CpSolver, states: Table) -> tuple[IterationPlan, ...] | None:
        """Return the schedule of a solution; None if the channel cannot carry it, which is a constraint from now on."""
        t_prog, t_data, owner = self._instance.t_prog, self._instance.t_data, self._tables.owner
        members = [{life for life, v in each.member.items() if solver.value(v)} for each in self._iterations]
        received: set[int] = set()
        plan = []
        for k, iteration in enumerate(self._iterations):
            s, c = (next(t for t, v in at.items() if solver.value(v)) for at in (iteration.starts, iteration.firsts))
            tasks = {life: solver.value(iteration.tasks[life]) for life in sorted(members[k])}
            of_use = set().union(*members[k:]) - received  # CP-SAT may send programs that nobody needs
            sent = {life for life, v in iteration.program.items() if solver.value(v)} & of_use
            received |= sent
            units = {life: t_data * tasks.get(life, 0) + t_prog * (life in sent) for life in sorted({*tasks, *sent})}
            served = self._serve(iteration, {life: need for life, need in units.items() if need}, s, c, states)
            if served is not None:
                of_workers = {int(owner[life]): x for life, x in tasks.items()}
                plan.append(IterationPlan(dict(sorted(of_workers.items())), served, c))
        return tuple(plan) if len(plan) == len(self._iterations) else None

    def _serve(
        self, iteration: _Iteration, units: dict[int, int], s: int, c: int, states: Table
    ) -> dict[int, tuple[int, ...]] | None:
        """Return in which of slots s..c-1 workers get the units for their lives; if they cannot, forbid it: None."""
        lives, n = np.array(list(units), np.int64), len(units)
        parts, flow = make_participants(n), make_flow(n, c - s, np.array([0, NEVER, NEVER]))
        parts.worker[:] = self._tables.owner[lives]
        parts.receive_from[:] = np.maximum(s, self._tables.first[lives])
        if send(states, flow, parts, np.array(list(units.values()), np.int64), n, self._instance.channels, s, c) != YES:
            self._forbid(iteration, s, c, flow.is_scanned)
            return None
        return service_of(flow, parts, n, s, c)

    def _forbid(self, iteration: _Iteration, s: int, c: int, is_busy: Flags) -> None:
        """Let lives need no more of the busy ones of slots s..c-1 than the channel has."""
        model, t_prog, t_data = self.model, self._instance.t_prog, self._instance.t_data
        others = np.flatnonzero(~is_busy) + s
        out = self._tables.up_slots(others[:, None], others[:, None] + 1).sum(axis=0).tolist()
        needs = []
        for life in sorted({*iteration.tasks, *iteration.program}):
            program, is_in, x = (of.get(life, 0) for of in (iteration.program, iteration.member, iteration.tasks))
            most = t_prog * (life in iteration.program) + t_data * int(self._most[life]) * (life in iteration.tasks)
            if most > out[life]:
                units = model.new_int_var(0, most - out[life], "")
                model.add(units >= t_prog * program + t_data * x - out[life])
                model.add(units >= (t_prog - out[life]) * program)
                model.add(units >= t_data * x - out[life] * is_in)
                needs.append(units)
        few = model.add(sum(needs) <= self._instance.channels * int(is_busy.sum()))
        sooner = [v for t, v in iteration.starts.items() if t < s]
        longer = [v for t, v in iteration.firsts.items() if t > c]
        few.only_enforce_if([~v for v in (*sooner, *longer)])
