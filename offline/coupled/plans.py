"""From a plan to a schedule in the text form (docs/model.md section 4).

A *plan* says, iteration by iteration, what a solver decides: the tasks of the final configuration, the slots in which
the master serves each worker, and the first slot in which the computation may advance. Everything else follows:

- A member is enrolled from its first served slot, or from the first computing slot if it needs nothing, to the end of
  the iteration; both are UP slots, as R2 asks. A worker on stand-by is enrolled from its first served slot to its last.
- While a member lacks something or is not enrolled yet, the slot is a communication slot (R3). Where no member lacks
  anything but ``start`` has not come, because a worker on stand-by is still being served, the first member is put on
  stand-by until then: so the configuration is incomplete, and the member keeps what it has received (R2).
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
    """Return the slot in which the iteration ends by R4; None if the known slots do not suffice."""
    work = max(count * instance.w[q] for q, count in iteration.tasks.items())
    block = 2 * work + _BLOCK
    start = iteration.start
    while start < instance.slots:  # states are looked at only as far as the end
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
    """Return when each worker has last received the whole program, after one more iteration.

    Parameters
    ----------
    instance, iteration
        What is served.
    received
        The slots in which workers had received it before; they hold it until they are DOWN.
    """
    after = dict(received)
    for q, served in iteration.service.items():
        if served and instance.t_prog and not holds_program(instance, q, received, served[0]):
            after[q] = served[instance.t_prog - 1]
    return after


def holds_program(instance: Instance, q: int, received: Mapping[int, int], slot: int) -> bool:
    """Whether worker q still has the program when ``slot`` begins."""
    return q in received and not (instance.prefix(slot)[q, received[q] :] == DOWN).any()


def emit(instance: Instance, plan: Sequence[IterationPlan], *, slots: int | None = None) -> Schedule:
    """Return the schedule of a plan; what it is worth is for the checker to say.

    Parameters
    ----------
    instance
        The instance the plan was made for.
    plan
        Iterations in order, each one with room to end.
    slots
        Slots to cover; None: up to the end of the last iteration.
    """
    ends = [end_of(instance, iteration) for iteration in plan]
    if None in ends:
        raise ValueError("an iteration of the plan has no room")
    last = max((end + 1 for end in ends if end is not None), default=0)
    writer = _Writer(instance, max(last, slots or 0))
    first = 0
    for iteration, end in zip(plan, ends, strict=True):
        assert end is not None
        if min((served[0] for served in iteration.service.values() if served), default=first) < first:
            raise ValueError("an iteration of the plan has no room")
        writer.add(iteration, end)
        first = end + 1
    return writer.schedule(last if slots is None else slots)


class _Writer:
    """Letters, and who is enrolled from when to when."""

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
        """Return what is written of the first ``slots`` slots."""
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
