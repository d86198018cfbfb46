"""Exhaustive search tick by tick, for tiny instances: the oracle for all other solvers.

It shares nothing with them: no availability period, no position, no bound, and it tries replicas and idle machines like
any other choice. It relies on these facts only:

- Not on demand, every event is an integer if every decision is taken at an integer. A decision between two ticks gains
  nothing over the same decision at the tick before, since the copy ends its segments no earlier. So decisions are at
  ticks.
- A copy never gains from a smaller saved state than the greatest one, nor from being dropped without another task.
  Where moves are paid, it starts from the greatest state that its machine has saved, or fetches the greatest of all.
- On demand with private stores everything is saved at once; then the ticks of a machine on a task add up.

On demand with a shared store tasks may change machines at any rational instant. There the search is over the time that
each machine serves each task in each slot, a linear program: within a slot, machines and tasks that are busy at most L
ticks each can be arranged without overlap (a preemptive open shop; Gonzalez and Sahni 1976).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import ceil
from typing import TypeAlias

import numpy as np

from hindsched.instances.bags import Instance
from hindsched.instances.errors import InputError
from hindsched.instances.states import DOWN, UP

__all__ = ["MAX_STATES", "optimum"]

#: Largest number of states that the search visits.
MAX_STATES = 2_000_000

_OUT = (-1, 0, 0)
_Copy: TypeAlias = tuple[int, int, int]  # task, segments done, ticks done of the next
# The saved state of each task (shared: one number; private: one for each machine), and the copy on each machine.
_State: TypeAlias = tuple[tuple[tuple[int, ...], ...], tuple[_Copy, ...]]


def optimum(instance: Instance) -> int | None:
    """Return the least turnaround; None if no schedule ends within the slots.

    Raises
    ------
    InputError
        If the search would visit more than `MAX_STATES` states.

    Examples
    --------
    >>> pair = Instance.from_letters(["uuu", "udu"], ticks=[2, 1], slot=2, tasks=2, segments=2)
    >>> optimum(pair), optimum(pair.replace(store="private")), optimum(pair.replace(on_demand=True))
    (4, 4, 4)
    """
    if instance.on_demand and instance.is_move_paid:
        raise InputError("paid moves and saves on demand, expected one of them", place="brute")
    if instance.on_demand:
        return _shared_on_demand(instance) if instance.is_shared else _private_on_demand(instance)
    return _not_on_demand(instance)


def _not_on_demand(instance: Instance) -> int | None:
    disks = _disks(instance)
    states: set[_State] = {(((0,) * disks,) * instance.tasks, (_OUT,) * instance.num_machines)}
    visited = 0
    for tick in range(instance.horizon):
        slot = instance.states[:, tick // instance.slot]
        after: set[_State] = set()
        for saved, copies in states:
            here = tuple(_OUT if letter == DOWN else copy for letter, copy in zip(slot, copies, strict=True))
            for chosen in product(*(_choices(instance, saved, here, q, slot[q] == UP) for q in range(len(here)))):
                state = _advance(instance, saved, chosen, slot)
                if not state[0]:
                    return tick + 1
                after.add(state)
        visited += len(after)
        if visited > MAX_STATES:
            raise InputError(f"more than {MAX_STATES} states, expected a tiny instance", place="brute")
        states = after
    return None


def _choices(
    instance: Instance, saved: tuple[tuple[int, ...], ...], copies: tuple[_Copy, ...], q: int, is_up: bool
) -> Iterator[_Copy]:
    yield copies[q]
    if is_up:
        disk = q if _disks(instance) > 1 else 0
        starts = {(task, done[disk], 0) for task, done in enumerate(saved)}
        if instance.is_move_paid:  # ticks are negative while a state is fetched
            starts |= {(task, max(done), -instance.move) for task, done in enumerate(saved) if max(done) > done[disk]}
        yield from starts - {copies[q]}


def _disks(instance: Instance) -> int:
    """Return the number of disks that the search tells apart."""
    return instance.num_machines if instance.is_move_paid or not instance.is_shared else 1


def _advance(
    instance: Instance,
    saved: tuple[tuple[int, ...], ...],
    copies: tuple[_Copy, ...],
    slot: np.ndarray[tuple[int], np.dtype[np.uint8]],
) -> _State:
    """Return the state one tick later, tasks that are done left out and the others in a canonical order."""
    disks = [list(row) for row in saved]
    moved = list(copies)
    for q, (task, done, ticks) in enumerate(copies):
        if task < 0 or slot[q] != UP:
            continue
        if ticks + 1 < instance.ticks[q]:
            moved[q] = (task, done, ticks + 1)
            continue
        moved[q] = (task, done + 1, 0)
        disk = q if len(disks[task]) > 1 else 0
        disks[task][disk] = max(disks[task][disk], done + 1)
    going = [task for task, row in enumerate(disks) if max(row) < instance.segments]
    order = sorted(going, key=lambda task: (disks[task], [copy[1:] if copy[0] == task else _OUT for copy in moved]))
    name = {task: new for new, task in enumerate(order)}
    running = tuple((name[c[0]], c[1], c[2]) if c[0] in name else _OUT for c in moved)
    return tuple(tuple(disks[task]) for task in order), running


def _private_on_demand(instance: Instance) -> int | None:
    """Private stores, on demand: every machine serves some task in each of its UP ticks, and nothing is lost."""
    states: set[tuple[tuple[int, ...], ...]] = {((0,) * instance.num_machines,) * instance.tasks}
    goal = [instance.segments * ticks for ticks in instance.ticks]
    visited = 0
    for tick in range(instance.horizon):
        up = np.flatnonzero(instance.states[:, tick // instance.slot] == UP)
        after = set()
        for state in states:
            for chosen in product(range(len(state)), repeat=up.size):
                rows = [list(row) for row in state]
                for q, task in zip(up, chosen, strict=True):
                    rows[task][q] += 1
                left = tuple(sorted(tuple(row) for row in rows if all(x < y for x, y in zip(row, goal, strict=True))))
                if not left:
                    return tick + 1
                after.add(left)
        visited += len(after)
        if visited > MAX_STATES:
            raise InputError(f"more than {MAX_STATES} states, expected a tiny instance", place="brute")
        states = after
    return None


def _shared_on_demand(instance: Instance) -> int | None:
    """Shared store, on demand: linear programs over the time that each machine serves each task in each slot."""
    for slots in range(1, instance.slots + 1):
        length = _last_slot(instance, slots)
        if length is not None:
            return (slots - 1) * instance.slot + max(1, ceil(round(length, 6)))
    return None


def _last_slot(instance: Instance, slots: int) -> float | None:
    """Return the least part of the last of these slots that is needed; None if the slots do not suffice."""
    from scipy.optimize import linprog

    n, length = instance.tasks, instance.slot
    cells = [(i, int(q), int(t)) for q, t in np.argwhere(instance.states[:, :slots] == UP) for i in range(n)]
    if not cells:
        return None
    column = {cell: j for j, cell in enumerate(cells)}
    last = len(cells)  # the variable: ticks of the last slot
    rows: list[dict[int, float]] = []
    limits: list[float] = []
    for t in range(slots):
        groups = [[c for c in cells if c[2] == t and c[1] == q] for q in range(instance.num_machines)]
        groups += [[c for c in cells if c[2] == t and c[0] == i] for i in range(n)]
        for group in groups:
            row = {column[cell]: 1.0 for cell in group}
            rows.append(row | {last: -1.0} if t == slots - 1 else row)
            limits.append(0.0 if t == slots - 1 else float(length))
    for i in range(n):
        rows.append({column[c]: -1.0 / instance.ticks[c[1]] for c in cells if c[0] == i})
        limits.append(-float(instance.segments))
    matrix = np.zeros((len(rows), last + 1))
    for r, row in enumerate(rows):
        matrix[r, list(row)] = list(row.values())
    costs = np.zeros(last + 1)
    costs[last] = 1.0
    bounds = [(0, None)] * last + [(0, length)]
    found = linprog(costs, A_ub=matrix, b_ub=np.array(limits), bounds=bounds, method="highs")
    return None if found.fun is None else float(found.fun)
