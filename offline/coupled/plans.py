"""From a plan to a schedule in the text form (docs/model.md section 4).

A *plan* has the decisions of each iteration: the tasks of the final configuration, the slots in which the master serves
each worker, and the first slot in which the computation may advance. The schedule follows:

- A member is enrolled from its first served slot, or from the first computing slot if it needs nothing, to the end of
  the iteration; both are UP slots, as R2 requires. A worker on stand-by is enrolled from its first served slot to its
  last.
- While a member lacks units or is not enrolled yet, the slot is a communication slot (R3). If no member lacks units
  before ``start``, because a worker on stand-by is still served, the first member is put on stand-by until ``start``:
  the configuration is incomplete, and the member keeps what it has received (R2).
- From ``start`` on every slot in which all members are UP advances the computation (R4); the W-th ends the iteration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.schedule import (
    COMPUTE,
    DATA,
    ENROLLED_IDLE,
    NOT_ENROLLED,
    PROGRAM,
    Configuration,
    Schedule,
)
from hindsched.instances.states import DOWN, UP

__all__ = ["IterationPlan", "emit", "end_of", "holds_program", "receive"]

_BLOCK = 64


@dataclass(frozen=True, slots=True)
class IterationPlan:
    """One iteration of a plan.

    Parameters
    ----------
    tasks
        x_q >= 1 of each member q of the final configuration.
    service
        Slots in which each served worker receives one unit, in increasing order; program first, then data.
    start
        First slot in which the computation may advance; after every served slot.
    """

    tasks: Mapping[int, int]
    service: Mapping[int, Sequence[int]]
    start: int


def end_of(instance: Instance, iteration: IterationPlan) -> int | None:
    """Return the slot in which the iteration ends by R4, None if it does not end in the known slots."""
    work = max(count * instance.w[q] for q, count in iteration.tasks.items())
    block = 2 * work + _BLOCK
    start = iteration.start
    while start < instance.slots:  # states are read only up to the end
        computing = _computing(instance, iteration, start, min(start + block, instance.slots))
        if computing.size >= work:
            return int(computing[work - 1])
        work -= computing.size
        start, block = start + block, 2 * block
    return None


def _computing(instance: Instance, iteration: IterationPlan, start: int, stop: int) -> npt.NDArray[np.int64]:
    """Return the slots from ``start`` to before ``stop`` in which all members are UP."""
    states = instance.prefix(stop)[list(iteration.tasks), start:]
    return np.flatnonzero((states == UP).all(axis=0)) + start


def receive(instance: Instance, iteration: IterationPlan, received: Mapping[int, int]) -> dict[int, int]:
    """Return the slot in which each worker last received the complete program, after one more iteration.

    Parameters
    ----------
    instance, iteration
        The instance and the iteration.
    received
        The slots before the iteration; a worker holds the program until it is DOWN.
    """
    after = dict(received)
    for q, served in iteration.service.items():
        if served and instance.t_prog and not holds_program(instance, q, received, served[0]):
            after[q] = served[instance.t_prog - 1]
    return after


def holds_program(instance: Instance, q: int, received: Mapping[int, int], slot: int) -> bool:
    """Return whether worker q holds the program at the start of ``slot``."""
    return q in received and not (instance.prefix(slot)[q, received[q] :] == DOWN).any()


def emit(instance: Instance, plan: Sequence[IterationPlan], *, slots: int | None = None) -> Schedule:
    """Return the schedule of a plan, which the checker has to confirm.

    Parameters
    ----------
    instance
        The instance of the plan.
    plan
        Iterations in order, each of which ends.
    slots
        Slots of the schedule; None: up to the end of the last iteration.

    Raises
    ------
    ValueError
        If an iteration does not end, or is served before the previous one ends.
    """
    ends = [end_of(instance, iteration) for iteration in plan]
    if None in ends:
        raise ValueError(f"iteration {ends.index(None)} of the plan does not end in the known slots")
    last = max((end + 1 for end in ends if end is not None), default=0)
    writer = _Writer(instance, max(last, slots or 0))
    first = 0
    for i, (iteration, end) in enumerate(zip(plan, ends, strict=True)):
        assert end is not None
        if min((served[0] for served in iteration.service.values() if served), default=first) < first:
            raise ValueError(f"iteration {i} of the plan is served before slot {first}, the end of the one before")
        writer.add(iteration, end)
        first = end + 1
    return writer.schedule(last if slots is None else slots)


class _Writer:
    """The letters of a schedule and the changes of its configurations."""

    def __init__(self, instance: Instance, slots: int) -> None:
        self._instance = instance
        self._letters = np.full((instance.num_workers, slots), ord(NOT_ENROLLED), dtype=np.uint8)
        self._received: dict[int, int] = {}  # as in `receive`
        self._changes: dict[int, dict[int, int | None]] = {}  # slot: worker: tasks from then on, None if it leaves
        self._ends: list[int] = []

    def add(self, iteration: IterationPlan, end: int) -> None:
        """Write one iteration that ends in slot ``end``."""
        instance = self._instance
        computing = _computing(instance, iteration, iteration.start, end + 1)
        for q, tasks in iteration.tasks.items():
            served = iteration.service.get(q, ())
            self._enrol(q, tasks, served[0] if served else int(computing[0]), end)
            self._letters[q, computing] = ord(COMPUTE)
        for q, served in iteration.service.items():
            if not served:
                continue
            if q not in iteration.tasks:
                self._enrol(q, 0, served[0], served[-1])
            units = 0 if holds_program(instance, q, self._received, served[0]) else instance.t_prog
            self._letters[q, served[:units]] = ord(PROGRAM)
            self._letters[q, served[units:]] = ord(DATA)
        self._received = receive(instance, iteration, self._received)
        self._pause(iteration)
        self._ends.append(end)

    def schedule(self, slots: int) -> Schedule:
        """Return the schedule of the first ``slots`` slots."""
        entries = []
        held: dict[int, int] = {}
        ends = {end + 1 for end in self._ends}
        for slot in sorted(self._changes):
            before = {} if slot in ends else held
            held = dict(before)
            for q, tasks in self._changes[slot].items():
                if tasks is None:
                    held.pop(q, None)
                else:
                    held[q] = tasks
            if held != before and slot < slots:
                entries.append(Configuration(slot, held))
        letters = tuple(row.tobytes().decode() for row in self._letters[:, :slots])
        return Schedule(self._instance.fingerprint, letters, tuple(entries))

    def _enrol(self, q: int, tasks: int, first: int, last: int) -> None:
        self._changes.setdefault(first, {})[q] = tasks
        self._changes.setdefault(last + 1, {}).setdefault(q, None)
        self._letters[q, first : last + 1] = ord(ENROLLED_IDLE)

    def _pause(self, iteration: IterationPlan) -> None:
        if not iteration.tasks.keys() <= {q for q, served in iteration.service.items() if served}:
            return  # a member joins in the first computing slot
        ready = max(iteration.service[q][-1] for q in iteration.tasks) + 1
        if ready < iteration.start:
            first = min(iteration.tasks)
            self._changes.setdefault(ready, {})[first] = 0
            self._changes.setdefault(iteration.start, {})[first] = iteration.tasks[first]
