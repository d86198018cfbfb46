"""Brute force over the slot-by-slot decisions of R1-R5, for tiny instances.

It is the reference for the other solvers and shares nothing with them: no normal form, no bound, no window. Slot by
slot it keeps every reachable state, and tries every configuration (R2) and every set of served workers (R3).

A state holds, for each worker, whether it is enrolled, its tasks and what it has received, and the computation done in
this iteration. Two equalities reduce the states without losing a decision:

- Of equal states the one with more completed iterations is kept: the same later decisions are worth at least as much.
- While no computation is done, the tasks of an enrolled worker in the slot before make no difference: R1 and R2 use
  them only to remove computation. They are recorded as 0.

``stand_by=False`` means: an iteration may not end while a worker that is not a member of its final configuration (tasks
>= 1) holds units of a program slot of this iteration. A worker that has lost them, by going DOWN (R1) or by leaving
with a part of the program (R2), does not count. Forbidding those slots as well gives the same optimum: remove them and
the data that the worker received after them. At the end of the iteration no worker holds more or less, since the worker
had lost all of it. The only slots that change their kind are computation slots with the worker as a member, whose
computation was lost with the worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from math import prod
from typing import NamedTuple

from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.schedule import Configuration, Schedule
from hindsched.instances.errors import InputError
from hindsched.instances.states import DOWN, UP
from hindsched.offline.coupled.objectives import CoupledResult, Objective
from hindsched.offline.limits import Limit, Limits, Stopwatch
from hindsched.offline.results import Result, Status

__all__ = ["MAX_STATES", "solve"]

#: Largest number of states, over all slots, that the search accepts (see `num_states`).
MAX_STATES = 2_000_000

_OUT = -1  # "tasks" of a worker that is not enrolled
_LEFT = (_OUT, 0, 0, False)
# tasks (or _OUT), program and data slots received, and whether stand_by=False wants it to compute in this iteration
_Worker = tuple[int, int, int, bool]
_State = tuple[int, tuple[_Worker, ...]]  # the computation done, and the workers


class _Step(NamedTuple):
    """One slot: its configuration and letters, the state after it, and whether it ends an iteration."""

    configuration: tuple[int, ...]
    letters: str
    state: _State
    is_end: bool


class _Node(NamedTuple):
    """A reachable state: its completed iterations, and the step and node before it."""

    iterations: int
    step: _Step | None
    parent: _Node | None


def num_states(instance: Instance) -> int:
    """Return the number of possible states over all slots without computation: the size of an instance here.

    A worker that is not enrolled holds the program or not; an enrolled one holds a part of it, or all of it and up to
    x_q T_data units of data. T_data counts as at least 1, so that the configurations are counted too.
    """
    data = max(instance.t_data, 1)
    kinds = [min(instance.t_prog, 1) + 2 + instance.t_prog + cap * data for cap in instance.capacities]
    return prod(kinds) * instance.slots


def solve(instance: Instance, objective: Objective, stand_by: bool, limits: Limits) -> Result:
    """Solve a tiny instance by trying every decision.

    If the time limit stops it after t slots, it has proven that no schedule ends within t slots.

    Raises
    ------
    InputError
        When `num_states` is above `MAX_STATES`.

    Notes
    -----
    Exponential in the number of workers: (configurations) x 2^p steps for each state.
    """
    size = num_states(instance)
    if size > MAX_STATES:
        raise InputError(
            f"{size} states, expected at most {MAX_STATES}: use fewer workers, tasks or slots, or shorter transfers",
            place="solver brute",
        )
    watch = Stopwatch(limits)
    rules = _Rules(instance, stand_by)
    target = instance.iterations if objective is Objective.MAKESPAN else None
    layer = {rules.start: _Node(0, None, None)}
    best = layer[rules.start]
    reached = 0  # slots that are searched completely
    while reached < instance.slots and (target is None or best.iterations < target):
        following = _next_layer(rules, layer, reached, watch)
        if following is None:
            break
        layer = following
        reached += 1
        best = max(layer.values(), key=lambda node: node.iterations)
    counts = {"slots": reached, "steps": rules.num_steps}
    is_complete = reached == instance.slots
    if objective is Objective.ITERATIONS:
        value: int | None = best.iterations
        bound: int | None = best.iterations + instance.slots - reached  # an iteration takes at least one slot
        status = Status.OPTIMAL if value == bound else Status.FEASIBLE
        schedule = _schedule(instance, best, instance.slots)
    elif best.iterations == target:
        value = bound = reached
        status, schedule = Status.OPTIMAL, _schedule(instance, best, reached)
    else:
        value, schedule = None, None
        status, bound = (Status.INFEASIBLE, None) if is_complete else (Status.UNKNOWN, reached + 1)
    return CoupledResult.of(
        status, objective, value, bound, schedule, "brute", watch.elapsed_s(), counts, limit=Limit.TIME
    )


def _next_layer(rules: _Rules, layer: dict[_State, _Node], slot: int, watch: Stopwatch) -> dict[_State, _Node] | None:
    following: dict[_State, _Node] = {}
    for state, node in layer.items():
        if watch.is_over():
            return None
        for step in rules.steps(state, slot):
            iterations = node.iterations + step.is_end
            known = following.get(step.state)
            if known is None or known.iterations < iterations:
                following[step.state] = _Node(iterations, step, node)
    return following


class _Rules:
    """R1-R5 for one slot: every step from a state."""

    def __init__(self, instance: Instance, stand_by: bool) -> None:
        self._instance = instance
        self._stand_by = stand_by
        choices = product(*([_OUT, *range(cap + 1)] for cap in instance.capacities))
        self._configurations = [choice for choice in choices if sum(max(x, 0) for x in choice) <= instance.tasks]
        self._known: dict[tuple[_State, bytes], list[_Step]] = {}
        self.start: _State = (0, (_LEFT,) * instance.num_workers)
        self.num_steps = 0

    def steps(self, state: _State, slot: int) -> list[_Step]:
        """Return one step to every state that the slot can lead to."""
        column = self._instance.states[:, slot]
        key = state, column.tobytes()
        if key not in self._known:
            found: dict[tuple[_State, bool], _Step] = {}
            for step in self._all_steps(state, (column == UP).tolist(), (column == DOWN).tolist()):
                found.setdefault((step.state, step.is_end), step)
            self._known[key] = list(found.values())
            self.num_steps += len(found)
        return self._known[key]

    def _all_steps(self, state: _State, up: list[bool], down: list[bool]) -> Iterator[_Step]:
        done, workers = state
        if any(down[q] and worker[0] >= 1 for q, worker in enumerate(workers)):  # R1
            done = 0
        workers = tuple(_LEFT if down[q] else worker for q, worker in enumerate(workers))
        tables = [self._choices(worker, up[q], q) for q, worker in enumerate(workers)]
        before = [max(worker[0], 0) for worker in workers]
        for choice in self._configurations:  # R2
            try:
                chosen = [table[x] for table, x in zip(tables, choice, strict=True)]
            except KeyError:
                continue  # a worker that enrols has to be UP
            kept = done if done and before == [max(x, 0) for x in choice] else 0
            members = [worker for worker in chosen if worker[0] >= 1]
            if sum(worker[0] for worker in members) == self._instance.tasks and not any(map(self._lacks, members)):
                yield from self._compute(kept, choice, chosen, up)
            else:
                yield from self._communicate(kept, choice, chosen, up)

    def _choices(self, worker: _Worker, is_up: bool, q: int) -> dict[int, _Worker]:
        """Return the worker after R2 for each possible number of tasks."""
        tasks, program, data, owes = worker
        choices = {_OUT: (_OUT, program, 0, owes) if program == self._instance.t_prog else _LEFT}
        if is_up or tasks != _OUT:
            choices |= {x: (x, program, data, owes) for x in range(self._instance.capacities[q] + 1)}
        return choices

    def _lacks(self, worker: _Worker) -> bool:
        tasks, program, data, _ = worker
        return tasks != _OUT and (program < self._instance.t_prog or data < tasks * self._instance.t_data)

    def _communicate(
        self, done: int, choice: tuple[int, ...], workers: list[_Worker], up: list[bool]
    ) -> Iterator[_Step]:
        """R3: every set of workers that the master can serve."""
        waiting = [q for q, worker in enumerate(workers) if up[q] and self._lacks(worker)]
        for count in range(min(self._instance.channels, len(waiting)) + 1):
            for served in combinations(waiting, count):
                after = list(workers)
                letters = ["." if x == _OUT else "I" for x in choice]
                for q in served:
                    tasks, program, data, owes = workers[q]
                    if program < self._instance.t_prog:
                        after[q], letters[q] = (tasks, program + 1, data, not self._stand_by), "P"
                    else:
                        after[q], letters[q] = (tasks, program, data + 1, owes), "D"
                yield _Step(choice, "".join(letters), _state(done, after), False)

    def _compute(self, done: int, choice: tuple[int, ...], workers: list[_Worker], up: list[bool]) -> Iterator[_Step]:
        """R4, and R5 when the computation is complete."""
        advances = all(is_up for x, is_up in zip(choice, up, strict=True) if x >= 1)
        done += advances
        letters = "".join("." if x == _OUT else "C" if x >= 1 and advances else "I" for x in choice)
        if done < max(x * w for x, w in zip(choice, self._instance.w, strict=True)):
            yield _Step(choice, letters, _state(done, workers), False)
        elif not any(owes and tasks < 1 for tasks, _, _, owes in workers):
            complete = self._instance.t_prog
            after = [(_OUT, complete, 0, False) if program == complete else _LEFT for _, program, _, _ in workers]
            yield _Step(choice, letters, (0, tuple(after)), True)


def _state(done: int, workers: list[_Worker]) -> _State:
    if done == 0:
        return 0, tuple([worker if worker[0] < 1 else (0, *worker[1:]) for worker in workers])
    return done, tuple(workers)


def _schedule(instance: Instance, node: _Node, slots: int) -> Schedule:
    steps: list[_Step] = []
    while node.step is not None and node.parent is not None:
        steps.append(node.step)
        node = node.parent
    steps.reverse()
    while steps and not steps[-1].is_end:  # steps after the last iteration are useless
        steps.pop()
    entries = []
    carried: dict[int, int] = {}
    for slot, step in enumerate(steps):
        enrolled = {q: x for q, x in enumerate(step.configuration) if x != _OUT}
        if enrolled != {q: x for q, x in carried.items() if instance.states[q, slot] != DOWN}:
            entries.append(Configuration(slot, enrolled))
        carried = {} if step.is_end else enrolled
    rows = ("".join(step.letters[q] for step in steps) for q in range(instance.num_workers))
    return Schedule(instance.fingerprint, tuple(row.ljust(slots, ".") for row in rows), tuple(entries))
