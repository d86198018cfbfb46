"""A CP-SAT model of the schedules of a branch node, with cuts for the channel (docs/bounds.md).

The model has whole programs, whole tasks and the slots in which all members are UP. It does not decide which worker
the channel serves in a slot, so it is a relaxation: without a solution there is no schedule. A flow tests whether the
channel can carry a solution, iteration by iteration. If so, the solution is a schedule; otherwise a minimum cut gives a
constraint that the solution violates, and the model is solved again (logic-based Benders cuts: Hooker and Ottosson
2003).

Variables, for iteration k
--------------------------
- ``ends[t]``: slot t follows it. ``compute_starts[c]``: it computes from slot c on.
- ``advances[t]``: in slot t all members are UP, and compute.
- ``tasks[l]`` and ``member[l]``: tasks and membership of the worker of availability period l.
- ``program[l]``: period l is sent the program.

Constraints
-----------
- Iterations follow one another; the communication phase has n_com units per slot for m T_data units of data and the
  programs.
- The tasks sum to m. At least w tasks[l] slots advance, and a worker that is not UP in such a slot has no tasks.
- A member is sent the program in iteration k or before, in its period. Its data and program in iteration k
  take at most its UP slots in the communication phase. Without stand-by, only members are sent the program.
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
from hindsched.offline.coupled.bounds.priced_label_search import Domains
from hindsched.offline.coupled.bounds.program_lagrangian.slot_graph import SlotTables
from hindsched.offline.coupled.plans import IterationPlan
from hindsched.offline.coupled.search.channel_flow import YES, make_flow, make_participants, send
from hindsched.offline.coupled.search.reconstruction import service_of
from hindsched.offline.coupled.search.slot_codes import NEVER
from hindsched.offline.coupled.search.state_tables import Table
from hindsched.offline.limits import NO_LIMITS, OutOfTimeError, Stopwatch

__all__ = ["NodeAnswer", "NodeProblem", "solve_node"]


class NodeProblem(NamedTuple):
    """A branch node.

    Parameters
    ----------
    early, late
        (K + 1,), windows: iterations 1..k are complete within ``early[k]`` to ``late[k]`` slots; 0 for k = 0.
    used, unused
        Numbers of periods that compute in some iteration, and of periods that compute in none.
    domains
        Members, compute starts and arcs of schedules of interest; None: all.
    is_own
        Without stand-by: a worker that is sent the program computes in the same iteration.
    """

    early: Ints
    late: Ints
    used: Sequence[int] = ()
    unused: Sequence[int] = ()
    domains: Domains | None = None
    is_own: bool = False


class NodeAnswer(NamedTuple):
    """Whether the node has a schedule, None if that is open, and one if it has.

    ``time`` is the deterministic time taken, ``num_variables`` the number of variables of all models solved.
    """

    is_possible: bool | None
    plan: tuple[IterationPlan, ...] | None
    time: float
    num_variables: int


class _Iteration(NamedTuple):
    """The variables of an iteration, and those of the slot in which it starts."""

    starts: dict[int, Any]
    compute_starts: dict[int, Any]
    tasks: dict[int, Any]
    member: dict[int, Any]
    program: dict[int, Any]


def solve_node(
    tables: SlotTables, states: Table, node: NodeProblem, *, watch: Stopwatch | None = None, time: float = math.inf
) -> NodeAnswer:
    """Find a schedule of a branch node, or prove that it has none.

    Parameters
    ----------
    tables, states
        Of the slots up to the last end.
    node
        The node.
    watch
        Limit of the seconds, in which the model is built as well; None: no limit.
    time
        Limit of the deterministic time.
    """
    watch = Stopwatch(NO_LIMITS) if watch is None else watch
    try:
        model = _NodeModel(tables, node, watch)
    except OutOfTimeError:
        return NodeAnswer(None, None, 0.0, 0)
    if not model.is_possible or not model.require(node.used):
        return NodeAnswer(False, None, 0.0, len(model.model.proto.variables))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = 2  # the linear relaxation is what refutes
    spent, num_variables = 0.0, 0
    while True:
        solver.parameters.max_deterministic_time = max(0.0, time - spent)
        left_s = watch.left_s()
        solver.parameters.max_time_in_seconds = math.inf if left_s is None else left_s
        status = solve_interruptibly(solver, model.model)
        if status == cp_model.MODEL_INVALID:
            raise SelfCheckError(f"CP-SAT calls the model {solver.status_name(status)}")
        spent += float(solver.response_proto.deterministic_time)
        num_variables += len(model.model.proto.variables)
        if status == cp_model.UNKNOWN:
            return NodeAnswer(None, None, spent, num_variables)
        if status == cp_model.INFEASIBLE:
            return NodeAnswer(False, None, spent, num_variables)
        plan = model.plan(solver, states)
        if plan is not None:
            return NodeAnswer(True, plan, spent, num_variables)


class _NodeModel:
    """The model of a node; ``is_possible`` is False if it has no solution before it is solved.

    Raises
    ------
    OutOfTimeError
        When the time is over.
    """

    def __init__(self, tables: SlotTables, node: NodeProblem, watch: Stopwatch) -> None:
        instance, early, late = tables.instance, node.early, node.late
        self.model = cp_model.CpModel()
        self.is_possible = True
        self._watch = watch
        self._instance, self._tables, self._domains, self._is_own = instance, tables, node.domains, node.is_own
        self._w = np.array(instance.w, np.int64)[tables.owner]
        self._max_tasks = np.minimum(np.array(instance.capacities, np.int64), instance.tasks)[tables.owner]
        self._max_tasks[list(node.unused)] = 0
        self._up_before = tables.up_slots(0, np.arange(int(late[-1]) + 1)[:, None])  # of each period, by slot
        self._iterations: list[_Iteration] = []
        caps = [self._task_caps(k, *early[[k, k + 1]], *late[[k, k + 1]]) for k in range(len(early) - 1)]
        last_use = np.max([np.where(of_periods > 0, k, -1) for k, of_periods in enumerate(caps)], axis=0)
        starts: dict[int, Any] = {0: self.model.new_constant(1)}
        for k, of_periods in enumerate(caps):
            ends = {t: self.model.new_bool_var("") for t in range(int(early[k + 1]), int(late[k + 1]) + 1)}
            self.model.add_exactly_one(ends.values())
            if not self._add_iteration(k, starts, ends, of_periods, last_use >= k):
                self.is_possible = False
                return
            starts = ends
        self._require_programs()

    def _compute_starts(self, k: int, s0: int, t1: int) -> list[int]:
        """Return the compute starts of iteration k + 1 for starts from slot s0 on and ends up to t1."""
        slots = range(s0 + -(-self._instance.tasks * self._instance.t_data // self._instance.channels), t1)
        return [c for c in slots if self._domains is None or self._domains.compute_start[k + 1, c]]

    def _task_caps(self, k: int, s0: int, t0: int, s1: int, t1: int) -> Ints:
        """Return the most tasks of each period in iteration k + 1, with starts s0..s1 and ends t0..t1."""
        instance, tables, up = self._instance, self._tables, self._up_before
        c = np.array(self._compute_starts(k, s0, t1), np.int64)
        if not c.size:
            return np.zeros_like(self._max_tasks)
        caps = np.minimum((up[t1] - up[c]) // self._w, self._max_tasks)
        if instance.t_data:
            room = up[c] - up[s0] - instance.t_prog * (tables.first >= s1)
            caps = np.minimum(caps, room // instance.t_data)
        caps[~((tables.first <= c[:, None]) & (c[:, None] <= tables.last))] = 0
        caps[:, tables.last < t0 - 1] = 0
        if self._domains is not None:
            caps[:, ~self._domains.member[k + 1]] = 0
        largest: Ints = np.maximum(0, caps.max(axis=0))
        return largest

    def _add_iteration(
        self, k: int, starts: dict[int, Any], ends: dict[int, Any], caps: Ints, is_useful: Flags
    ) -> bool:
        """Add iteration k + 1; return False if its members cannot hold all tasks.

        ``caps`` are the most tasks of each period; a program for a period is useful if it can compute then or later.
        """
        model, s0, t1 = self.model, min(starts), max(ends)
        firsts = {c: model.new_bool_var("") for c in self._compute_starts(k, s0, t1)}
        if int(caps.sum()) < self._instance.tasks:
            return False
        first, start, end = (_chosen(slots) for slots in (firsts, starts, ends))
        model.add_exactly_one(firsts.values())
        model.add(end >= first + 1)
        advances = {t: model.new_bool_var("") for t in range(min(firsts), t1)}
        for t, advance in advances.items():
            model.add_bool_or([*(v for c, v in firsts.items() if c <= t), ~advance])
            if t >= min(ends):
                model.add_bool_or([*(v for e, v in ends.items() if e > t), ~advance])
        self._fix_arcs(k, starts, firsts, ends)
        tasks, member = self._add_members(caps, ends, advances)
        up = self._up_before
        can_receive = is_useful & (up[max(firsts)] - up[s0] >= self._instance.t_prog)
        if self._is_own:
            can_receive &= caps > 0
        program = {period: model.new_bool_var("") for period in np.flatnonzero(can_receive).tolist()}
        iteration = _Iteration(starts, firsts, tasks, member, program)
        self._add_channel(iteration, first - start)
        self._iterations.append(iteration)
        return True

    def _add_members(
        self, caps: Ints, ends: dict[int, Any], advances: dict[int, Any]
    ) -> tuple[dict[int, Any], dict[int, Any]]:
        """Add and return the tasks and the memberships of the periods that can compute."""
        model, up, m, last_slot = self.model, self._up_before, self._instance.tasks, max(ends) - 1
        length = sum(advances.values())
        tasks: dict[int, Any] = {}
        member: dict[int, Any] = {}
        for period in np.flatnonzero(caps).tolist():
            self._watch.check()
            cap, last = int(caps[period]), self._tables.last[period]
            member[period] = is_member = model.new_bool_var("")
            tasks[period] = x = is_member if cap == 1 else model.new_int_var(0, cap, "")
            if cap > 1:
                model.add(x <= cap * is_member)
                model.add(x >= is_member)
            if last < last_slot:
                model.add_bool_or([*(v for e, v in ends.items() if e <= last + 1), ~is_member])
            model.add(length >= int(self._w[period]) * x)
        model.add(sum(tasks.values()) == m)
        periods = np.array(list(tasks))
        for t, advance in advances.items():
            self._watch.check()
            away = periods[up[t + 1, periods] == up[t, periods]].tolist()
            if away:
                model.add(sum(tasks[period] for period in away) + m * advance <= m)
            for period in away:  # tighter where each has few of the tasks
                model.add_implication(advance, ~member[period])
        return tasks, member

    def _add_channel(self, iteration: _Iteration, length: Any) -> None:
        """Limit what is sent in a communication phase of this length: by period, and in all."""
        model, up = self.model, self._up_before
        t_prog, t_data = self._instance.t_prog, self._instance.t_data
        starts, firsts, tasks, member, program = iteration
        for period in sorted({*tasks, *program}):
            self._watch.check()
            sent = [(tasks, t_data), (program, t_prog)]
            units = sum(each * of_period[period] for of_period, each in sent if period in of_period)
            counts = [*up[list(firsts), period].tolist(), *(-up[list(starts), period]).tolist()]
            model.add(units <= cp_model.LinearExpr.weighted_sum([*firsts.values(), *starts.values()], counts))
        units = t_prog * sum(program.values()) + self._instance.tasks * t_data
        model.add(units <= self._instance.channels * length)
        if self._is_own:
            for period, is_sent in program.items():
                model.add_implication(is_sent, member[period])

    def _fix_arcs(self, k: int, starts: dict[int, Any], firsts: dict[int, Any], ends: dict[int, Any]) -> None:
        """Exclude compute starts of iteration k + 1 after the latest one between a start and an end."""
        if self._domains is None:
            return
        for s, is_start in starts.items():
            self._watch.check()
            for t, is_end in ends.items():
                latest = self._domains.latest_compute_start(k + 1, s, t)
                if any(latest < c < t for c in firsts):
                    self.model.add_bool_or([~is_start, ~is_end, *(v for c, v in firsts.items() if c <= latest)])

    def _require_programs(self) -> None:
        """Require that members are sent the program, in this iteration or before."""
        programs = [iteration.program for iteration in self._iterations]
        for k, iteration in enumerate(self._iterations):
            for period, is_member in iteration.member.items():
                sent = [program[period] for program in programs[: k + 1] if period in program]
                self.model.add_bool_or([*sent, ~is_member])

    def require(self, periods: Sequence[int]) -> bool:
        """Require that these periods compute in some iteration; return False if one cannot."""
        for period in periods:
            members = [iteration.member[period] for iteration in self._iterations if period in iteration.member]
            if not members:
                return False
            self.model.add_bool_or(members)
        return True

    def plan(self, solver: cp_model.CpSolver, states: Table) -> tuple[IterationPlan, ...] | None:
        """Return the schedule of a solution; if the channel cannot carry it, add a cut and return None."""
        t_prog, t_data, owner = self._instance.t_prog, self._instance.t_data, self._tables.owner
        members = [{period for period, v in each.member.items() if solver.value(v)} for each in self._iterations]
        received: set[int] = set()
        plan = []
        for k, iteration in enumerate(self._iterations):
            s = next(t for t, v in iteration.starts.items() if solver.value(v))
            c = next(t for t, v in iteration.compute_starts.items() if solver.value(v))
            tasks = {period: solver.value(iteration.tasks[period]) for period in sorted(members[k])}
            needed = set().union(*members[k:]) - received  # CP-SAT may send programs that no member needs
            sent = {period for period, v in iteration.program.items() if solver.value(v)} & needed
            received |= sent
            units = {
                period: t_data * tasks.get(period, 0) + t_prog * (period in sent) for period in sorted({*tasks, *sent})
            }
            served = self._serve(iteration, {period: x for period, x in units.items() if x}, s, c, states)
            if served is not None:
                of_workers = {int(owner[period]): x for period, x in tasks.items()}
                plan.append(IterationPlan(dict(sorted(of_workers.items())), served, c))
        return tuple(plan) if len(plan) == len(self._iterations) else None

    def _serve(
        self, iteration: _Iteration, units: dict[int, int], s: int, c: int, states: Table
    ) -> dict[int, tuple[int, ...]] | None:
        """Return in which of slots s..c-1 workers receive these units; if the channel cannot, add a cut: None."""
        periods, n = np.array(list(units), np.int64), len(units)
        participants, flow = make_participants(n), make_flow(n, c - s, np.array([0, NEVER, NEVER]))
        participants.worker[:] = self._tables.owner[periods]
        participants.receive_from[:] = np.maximum(s, self._tables.first[periods])
        needs = np.array(list(units.values()), np.int64)
        if send(states, flow, participants, needs, n, self._instance.channels, s, c) != YES:
            self._add_cut(iteration, s, c, flow.is_scanned)
            return None
        return service_of(flow, participants, n, s, c)

    def _add_cut(self, iteration: _Iteration, s: int, c: int, is_busy: Flags) -> None:
        """Limit what periods need of the busy slots of s..c-1 to the units that the channel has in them.

        The cut holds unless the communication phase starts before s or ends after c.
        """
        model, t_prog, t_data = self.model, self._instance.t_prog, self._instance.t_data
        others = np.flatnonzero(~is_busy) + s
        free = self._tables.up_slots(others[:, None], others[:, None] + 1).sum(axis=0).tolist()
        needs = []
        for period in sorted({*iteration.tasks, *iteration.program}):
            variables = iteration.program, iteration.member, iteration.tasks
            program, is_member, x = (of_period.get(period, 0) for of_period in variables)
            largest = t_prog * (period in iteration.program)
            largest += t_data * int(self._max_tasks[period]) * (period in iteration.tasks)
            if largest > free[period]:
                units = model.new_int_var(0, largest - free[period], "")
                model.add(units >= t_prog * program + t_data * x - free[period])
                model.add(units >= (t_prog - free[period]) * program)
                model.add(units >= t_data * x - free[period] * is_member)
                needs.append(units)
        cut = model.add(sum(needs) <= self._instance.channels * int(is_busy.sum()))
        sooner = [v for t, v in iteration.starts.items() if t < s]
        longer = [v for t, v in iteration.compute_starts.items() if t > c]
        cut.only_enforce_if([~v for v in (*sooner, *longer)])


def _chosen(slots: dict[int, Any]) -> Any:
    """Return the slot whose variable is 1, as a linear expression."""
    return cp_model.LinearExpr.weighted_sum(list(slots.values()), list(slots))
