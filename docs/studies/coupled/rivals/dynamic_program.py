"""A dynamic program of R1-R5 in DyPDL, the language of didppy: K iterations within the first H slots, slot by slot.

Proposition 1 (docs/model.md) makes the decisions late. While an iteration communicates, a state only counts the units
that each worker has received; the workers that hold tasks are settled by the computation.

State variables
---------------
- ``slot``: the next slot. ``todo``: iterations left; fewer are better.
- ``received[q]``: the units that worker q has received and not lost, program first; more are better. While an iteration
  computes, it stands for the tasks that q can still take part with.
- ``left_out``: workers that the master has decided not to serve in this slot.
- ``computing``: 1 while an iteration computes. ``left``: its slots of computation left; fewer are better.

Transitions
-----------
- ``serve`` sends one unit to each worker that is UP, lacks something, and is not left out, if they are at most n_com,
  and ends the slot. Serving as many as possible is never worse, because units do no harm.
- ``leave q`` leaves worker q out of this slot, if the workers that could be served are more than n_com. Workers are
  left out by increasing index.
- ``begin L`` begins a computation of L slots in this slot, with the workers that are UP and hold program and data,
  each with at most L / w_q tasks, if these make m tasks. L is a product x w_q of a worker that can hold x tasks.
- ``count`` counts a slot of the computation; the workers that are not UP no longer take part. ``finish`` counts the
  last one, which ends the iteration. ``skip`` does not count it, if some worker that takes part is not UP. Workers that
  are DOWN lose what they hold.

The cost is the number of slots. ``todo``, ``received`` and ``left`` are resource variables, so didppy discards a state
that another one dominates.

State constraints and dual bounds
---------------------------------
- The present iteration can still end within its window.
- In a computation, the workers that still take part can hold m tasks. Before it, the workers can hold m tasks by their
  own UP slots in one availability period, what they have received included.
- By counting, the cost to the end is at least the missing data over n_com, the shortest computation, and the shortest
  possible iterations after it.
- By the windows, iterations end no earlier than their windows begin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
import numpy.typing as npt

from hindsched.instances.coupled.model import Instance
from hindsched.instances.states import DOWN, UP
from hindsched.offline.coupled.models.capacities import Capacities
from hindsched.offline.coupled.models.round_windows import Window
from hindsched.offline.coupled.plans import IterationPlan
from hindsched.offline.limits import OutOfTimeError, Stopwatch

__all__ = ["DynamicProgram"]


class DynamicProgram:
    """The dynamic program of iterations that end within their windows, as described above.

    Parameters
    ----------
    instance
        The instance.
    windows
        The slots in which each iteration may end.
    watch
        Stops the construction of a large program.

    Raises
    ------
    OutOfTimeError
        When the time is over.
    """

    def __init__(self, instance: Instance, windows: Sequence[Window], watch: Stopwatch) -> None:
        import didppy

        self._dp = didppy
        self.model = didppy.Model()
        self._instance = instance
        self._windows = windows
        self._workers = range(instance.num_workers)
        self._caps = [min(cap, instance.tasks) for cap in instance.capacities]
        # Without data, a complete program comes with the units of all tasks.
        self._unit = max(instance.t_data, 1)
        self._given = [0 if instance.t_data else cap for cap in self._caps]
        self._lengths = self._possible_lengths()
        self._transitions: dict[str, Any] = {}
        if watch.is_over():
            raise OutOfTimeError
        if not self.is_possible:
            return
        self._add_variables()
        self._add_tables()
        self._add_expressions()
        self._add_communication()
        self._add_computation()
        self._add_bounds()

    # ------------------------------------------------------------------------------------------------ writing

    def _possible_lengths(self) -> list[int]:
        """Return the lengths of computations within which all workers together can compute m tasks."""
        instance = self._instance
        products = {x * w for w, cap in zip(instance.w, self._caps, strict=True) for x in range(1, cap + 1)}
        tasks = {length: sum(self._most_in(q, length) for q in self._workers) for length in products}
        last = self._windows[-1].latest
        return sorted(length for length in products if length <= last + 1 and tasks[length] >= instance.tasks)

    def _most_in(self, q: int, length: int) -> int:
        """Return the tasks that worker q can compute in ``length`` slots."""
        return min(self._caps[q], length // self._instance.w[q])

    @property
    def is_possible(self) -> bool:
        """Whether some computation is short enough."""
        return bool(self._lengths)

    @property
    def _horizon(self) -> int:
        return self._windows[-1].latest + 1

    def _add_variables(self) -> None:
        model, instance = self.model, self._instance
        longest = self._lengths[-1]
        self._num_slots = self._horizon + longest + 1  # ends of computations that would begin in the last slots
        self._num_workers = model.add_object_type(instance.num_workers)
        self._slot = model.add_element_var(model.add_object_type(self._num_slots), 0)
        count = model.add_object_type(len(self._windows) + 1)
        self._todo = model.add_element_resource_var(count, len(self._windows), less_is_better=True)
        self._computing = model.add_element_var(model.add_object_type(2), 0)
        self._left = model.add_element_resource_var(model.add_object_type(longest + 1), 0, less_is_better=True)
        self._left_out = model.add_set_var(self._num_workers, [])
        first = 0 if instance.t_prog else 1
        self._received = [
            model.add_int_resource_var(first * self._given[q], less_is_better=False) for q in self._workers
        ]

    def _add_tables(self) -> None:
        model, instance = self.model, self._instance
        states = instance.prefix(self._horizon)
        missing = np.zeros((instance.num_workers, self._num_slots - self._horizon), dtype=bool)
        self._up = model.add_bool_table(np.hstack([states == UP, missing]).T.tolist())
        self._alive = model.add_bool_table(np.hstack([states != DOWN, missing]).T.tolist())
        # By the number of iterations left; the last entry of a list is the first iteration.
        self._after = model.add_element_table([self._num_slots, *(w.latest + 1 for w in reversed(self._windows))])
        wanted = [[0] * instance.num_workers]
        useful = [False] * instance.num_workers
        for i in reversed(range(len(self._windows))):
            first = self._windows[i - 1].earliest + 1 if i else 0
            span = self._windows[i].latest + 1 - first
            most = [min(self._most_in(q, span), span // (instance.w[q] + instance.t_data)) for q in self._workers]
            useful = [is_useful or count > 0 for is_useful, count in zip(useful, most, strict=True)]
            wanted.append([instance.t_prog * useful[q] + self._unit * most[q] for q in self._workers])
        self._wanted = model.add_int_table(wanted)
        self._add_up_counts(states)

    def _add_up_counts(self, states: npt.NDArray[np.uint8]) -> None:
        """Add tables of the UP slots that workers have ahead, and of the tasks that they can do in later periods."""
        model, instance = self.model, self._instance
        up = np.zeros((instance.num_workers, self._num_slots + 1), dtype=np.int64)  # UP slots before a slot
        np.cumsum(states == UP, axis=1, out=up[:, 1 : self._horizon + 1])
        up[:, self._horizon + 1 :] = up[:, [self._horizon]]
        period_end = np.tile(np.arange(self._num_slots), (instance.num_workers, 1))  # the slot after this period
        later = np.zeros_like(period_end)  # tasks that fit into the best period after this one
        for q, periods in enumerate(Capacities(instance, self._horizon).periods):
            best = 0
            for first, last in reversed(periods):
                later[q, : last + 1] = best
                period_end[q, first : last + 1] = last + 1
                spare = max(0, int(up[q, last + 1] - up[q, first]) - instance.t_prog)
                best = max(best, min(self._caps[q], spare // (instance.t_data + instance.w[q])))
                later[q, :first] = best
        ahead = np.take_along_axis(up, period_end, axis=1) - up[:, : self._num_slots]
        self._up_before = model.add_int_table(up.T.tolist())
        self._period_end = model.add_element_table(period_end.T.tolist())
        self._later = model.add_int_table(later.T.tolist())
        self._ahead = model.add_int_table(ahead.T.tolist())

    def _add_expressions(self) -> None:
        """Add the functions of a state that several transitions use."""
        model, instance, t_prog = self.model, self._instance, self._instance.t_prog
        self._has_program = [received >= t_prog for received in self._received]
        self._held = [  # tasks that a worker has the data for
            model.add_int_state_fun(has.if_then_else((received - t_prog) // self._unit, 0))
            for has, received in zip(self._has_program, self._received, strict=True)
        ]
        self._ready = [model.add_int_state_fun(self._is_up(q).if_then_else(self._held[q], 0)) for q in self._workers]
        self._total_held = model.add_int_state_fun(sum(self._held))
        self._total_ready = model.add_int_state_fun(sum(self._ready))
        self._lacks = [
            model.add_bool_state_fun(
                self._is_up(q)
                & (self._received[q] < self._wanted[self._todo, q])
                & (self._received[q] + self._ahead[self._slot, q] >= t_prog + instance.t_data + instance.w[q])
                & ~self._left_out.contains(q)
            )
            for q in self._workers
        ]
        self._lacking_from: list[Any] = []  # how many of the workers q, q + 1, ... lack something
        total: Any = self._dp.IntExpr(0)
        for q in reversed(self._workers):
            total = model.add_int_state_fun(total + self._lacks[q].if_then_else(1, 0))
            self._lacking_from.insert(0, total)

    def _is_up(self, q: int) -> Any:
        return self._up[self._slot, q]

    def _add(self, name: str, cost: int, conditions: Sequence[Any], effects: Sequence[tuple[Any, Any]]) -> None:
        transition = self._dp.Transition(name, self._dp.IntExpr.state_cost() + cost, list(conditions), list(effects))
        self.model.add_transition(transition)
        self._transitions[name] = transition

    def _next_slot(self, received: Callable[[int], Any], *, is_communicating: bool) -> list[tuple[Any, Any]]:
        """Return the effects of the end of a slot, after which worker q has ``received(q)`` units if it is not DOWN."""
        is_given = is_communicating and not self._instance.t_prog
        return [
            (self._slot, self._slot + 1),
            *(
                (
                    self._received[q],
                    self._alive[self._slot + 1, q].if_then_else(received(q), self._given[q] if is_given else 0),
                )
                for q in self._workers
            ),
        ]

    def _add_communication(self) -> None:
        model, channels, t_prog = self.model, self._instance.channels, self._instance.t_prog
        is_communicating = self._computing == 0
        nothing = model.create_set_const(self._num_workers, [])

        def served(q: int) -> Any:
            received = self._received[q]
            more = received + 1
            if self._given[q]:
                more = (received == t_prog - 1).if_then_else(t_prog + self._given[q], more)
            return self._lacks[q].if_then_else(more, received)

        self._add(
            "serve",
            1,
            [is_communicating, self._lacking_from[0] <= channels],
            [*self._next_slot(served, is_communicating=True), (self._left_out, nothing)],
        )
        for q in self._workers:
            before = model.create_set_const(self._num_workers, list(range(q)))
            self._add(
                f"leave {q}",
                0,
                [
                    is_communicating,
                    self._lacking_from[0] > channels,
                    self._lacks[q],
                    self._left_out.issubset(before),
                    self._lacking_from[q] >= self._lacking_from[0] - channels,
                ],
                [(self._left_out, self._left_out.add(q))],
            )

    def _add_computation(self) -> None:
        instance, t_prog = self._instance, self._instance.t_prog
        for length in self._lengths:
            able = [self._dp.min(self._ready[q], self._most_in(q, length)) for q in self._workers]
            exact = [
                self._ready[q] >= length // w
                for q, w in enumerate(instance.w)
                if length % w == 0 and length // w <= self._caps[q]
            ]
            after = [
                has.if_then_else(t_prog + self._unit * x, 0) for has, x in zip(self._has_program, able, strict=True)
            ]
            self._add(
                f"begin {length}",
                0,
                [
                    self._computing == 0,
                    self._left_out.is_empty(),
                    self._total_ready >= instance.tasks,
                    self._slot + length <= self._after[self._todo],
                    reduce(or_, exact),
                    sum(able) >= instance.tasks,
                ],
                [(self._computing, 1), (self._left, length), *zip(self._received, after, strict=True)],
            )
        counts = [self._computing == 1, self._total_ready >= instance.tasks]

        def counted(q: int) -> Any:
            return self._is_up(q).if_then_else(self._received[q], self._dp.min(self._received[q], t_prog))

        def finished(q: int) -> Any:
            return self._has_program[q].if_then_else(t_prog + self._given[q], 0)

        self._add(
            "count",
            1,
            [*counts, self._left >= 2],
            [(self._left, self._left - 1), *self._next_slot(counted, is_communicating=False)],
        )
        self._add(
            "finish",
            1,
            [*counts, self._left == 1],
            [
                (self._left, 0),
                (self._computing, 0),
                (self._todo, self._todo - 1),
                *self._next_slot(finished, is_communicating=True),
            ],
        )
        self._add(
            "skip",
            1,
            [self._computing == 1, self._total_ready < self._total_held],
            self._next_slot(lambda q: self._received[q], is_communicating=False),
        )

    def _add_bounds(self) -> None:
        """Add the end, the constraints that windows and tasks put on states, and the dual bounds."""
        model, instance, shortest = self.model, self._instance, self._lengths[0]
        is_computing, latest = self._computing == 1, self._after[self._todo]
        model.add_base_case([self._todo == 0])
        in_time = is_computing.if_then_else(self._slot + self._left, self._slot + shortest) <= latest
        model.add_state_constr(in_time)
        possible = [self._possible_tasks(q) for q in self._workers]
        enough = is_computing.if_then_else(self._total_held, sum(possible)) >= instance.tasks
        model.add_state_constr((self._todo == 0) | enough)

        least = self._least_iteration()
        after = model.add_int_table([0, *(i * least for i in range(len(self._windows)))])[self._todo]
        left = model.add_int_table(list(range(self._lengths[-1] + 1)))[self._left]
        data = sum(
            [(received > instance.t_prog).if_then_else(received - instance.t_prog, 0) for received in self._received]
        )
        missing = self._dp.max(instance.tasks * instance.t_data - data, 0) if instance.t_data else 0
        sending = (missing + (instance.channels - 1)) // instance.channels + shortest
        model.add_dual_bound((self._todo == 0).if_then_else(0, is_computing.if_then_else(left, sending) + after))

        totals = self._least_totals(least)
        slots = np.arange(self._num_slots)
        waiting = np.zeros_like(totals)
        waiting[:, : self._num_slots - shortest] = totals[:, shortest:] - slots[: self._num_slots - shortest]
        waiting[0] = 0
        tails = totals - slots
        by_slot = model.add_int_table(waiting.tolist())[self._todo, self._slot]
        by_end = model.add_int_table(tails.tolist())[self._todo, self._slot + self._left] + left
        model.add_dual_bound(is_computing.if_then_else(by_end, by_slot))

    def _possible_tasks(self, q: int) -> Any:
        """Return the most tasks that worker q can hold in an iteration that communicates, by its own UP slots."""
        instance = self._instance
        end = self._dp.min(self._period_end[self._slot, q], self._after[self._todo])
        spare = self._up_before[end, q] - self._up_before[self._slot, q] + self._received[q] - instance.t_prog
        tasks = self._dp.max(spare, 0) // (instance.t_data + instance.w[q])
        return self._dp.max(self._dp.min(tasks, self._caps[q]), self._later[self._slot, q])

    def _least_iteration(self) -> int:
        """Return a number of slots that every iteration takes: by its parts, and by the slots of each worker."""
        instance = self._instance
        per_task = [w + instance.t_data for w in instance.w]
        spans = sorted({x * own for own, cap in zip(per_task, self._caps, strict=True) for x in range(1, cap + 1)})
        by_workers = next(
            span
            for span in spans
            if sum(min(cap, span // own) for own, cap in zip(per_task, self._caps, strict=True)) >= instance.tasks
        )
        sending = max(instance.t_data, -(-instance.tasks * instance.t_data // instance.channels))
        return max(by_workers, sending + self._lengths[0])

    def _least_totals(self, least: int) -> npt.NDArray[np.int64]:
        """Return the least slots of a schedule, by iterations left and the least slots until the present one ends."""
        never = 4 * self._num_slots
        totals = np.full((len(self._windows) + 1, self._num_slots), never)
        totals[0] = np.arange(self._num_slots)
        for todo, window in enumerate(reversed(self._windows), 1):
            ends = np.maximum(totals[0], window.earliest + 1)
            following = ends + (0 if todo == 1 else least)
            found = totals[todo - 1, np.minimum(following, self._num_slots - 1)]
            totals[todo] = np.where(ends <= window.latest + 1, found, never)
        return totals

    # ------------------------------------------------------------------------------------------------ reading

    def plan(self, solution: Any) -> list[IterationPlan]:
        """Return the plan of a solution of didppy."""
        instance, t_prog = self._instance, self._instance.t_prog
        state = self.model.target_state
        plan: list[IterationPlan] = []
        units: list[list[int]] = [[] for _ in self._workers]  # slots in which a worker received what it has not lost
        is_holder = [t_prog == 0] * instance.num_workers  # since an earlier iteration
        start = 0
        for transition in solution.transitions:
            name = transition.name
            slot = state[self._slot]
            for q in self._workers:
                if instance.states[q, slot] == DOWN:
                    units[q].clear()
                    is_holder[q] = t_prog == 0
            if name == "serve":
                for q in self._workers:
                    if self._lacks[q].eval(state, self.model):
                        units[q].append(slot)
            elif name.startswith("begin"):
                start = slot
            elif name == "finish":
                room = {q: self._ready[q].eval(state, self.model) for q in self._workers}
                tasks = _give_out(instance.tasks, room)
                service = {}
                for q in self._workers:
                    own = 0 if is_holder[q] else t_prog
                    if len(units[q]) >= own:
                        service[q] = units[q][: own + instance.t_data * tasks.get(q, 0)]
                        is_holder[q] = True
                    units[q] = []
                plan.append(IterationPlan(tasks, {q: slots for q, slots in service.items() if slots}, start))
            state = self._transitions[name].apply(state, self.model)
        return plan


def _give_out(tasks: int, room: Mapping[int, int]) -> dict[int, int]:
    """Return how many of the tasks each worker takes, in the order of ``room``."""
    taken = {}
    for q, most in room.items():
        taken[q] = min(most, tasks)
        tasks -= taken[q]
    return {q: count for q, count in taken.items() if count}
