"""From a plan to a schedule in the text form (MODEL section 4).

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

from instances.coupled.model import Instance
from instances.coupled.schedule import COMPUTE, DATA, ENROLLED_IDLE, NOT_ENROLLED, PROGRAM, Configuration, Schedule
from instances.states import DOWN, UP

__all__ = ["IterationPlan", "emit", "end_of"]


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
    left = max(count * instance.w[q] for q, count in iteration.tasks.items())
    members = list(iteration.tasks)
    for slot in range(iteration.start, instance.slots):
        left -= bool((instance.states[members, slot] == UP).all())
        if left == 0:
            return slot
    return None


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
    last = 0
    writer = _Writer(instance)
    for iteration in plan:
        last = writer.add(iteration, first=last)
    return writer.schedule(last if slots is None else slots)


class _Writer:
    """Letters and configurations, slot by slot."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._letters = [[NOT_ENROLLED] * instance.slots for _ in range(instance.num_workers)]
        self._enrolled: list[dict[int, int]] = [{} for _ in range(instance.slots)]
        self._program_at: dict[int, int] = {}  # slot in which the program a worker holds, or held, was complete
        self._ends: set[int] = set()

    def add(self, iteration: IterationPlan, first: int) -> int:
        """Write one iteration that begins in slot ``first``; return the slot after it."""
        instance = self._instance
        end = end_of(instance, iteration)
        if end is None or min((slots[0] for slots in iteration.service.values()), default=first) < first:
            raise ValueError("an iteration of the plan has no room")
        members = list(iteration.tasks)
        computing = [t for t in range(iteration.start, end + 1) if (instance.states[members, t] == UP).all()]
        for q, tasks in iteration.tasks.items():
            served = iteration.service.get(q, ())
            self._enrol(q, tasks, served[0] if served else computing[0], end)
            for slot in computing:
                self._letters[q][slot] = COMPUTE
        for q, served in iteration.service.items():
            if q not in iteration.tasks:
                self._enrol(q, 0, served[0], served[-1])
            units = 0 if self._holds_program(q, served[0]) else instance.t_prog
            for i, slot in enumerate(served):
                self._letters[q][slot] = PROGRAM if i < units else DATA
            if 0 < units <= len(served):
                self._program_at[q] = served[units - 1]
        self._pause(iteration)
        self._ends.add(end)
        return end + 1

    def schedule(self, slots: int) -> Schedule:
        """Return what is written of the first ``slots`` slots."""
        entries = []
        carried: dict[int, int] = {}
        for slot in range(slots):
            states = self._instance.states[:, slot]
            carried = {q: tasks for q, tasks in carried.items() if states[q] != DOWN}
            if carried != self._enrolled[slot]:
                entries.append(Configuration(slot, self._enrolled[slot]))
            carried = {} if slot in self._ends else self._enrolled[slot]
        letters = tuple("".join(row[:slots]) for row in self._letters)
        return Schedule(self._instance.fingerprint, letters, tuple(entries))

    def _enrol(self, q: int, tasks: int, first: int, last: int) -> None:
        for slot in range(first, last + 1):
            self._enrolled[slot][q] = tasks
            self._letters[q][slot] = ENROLLED_IDLE

    def _pause(self, iteration: IterationPlan) -> None:
        if not iteration.tasks.keys() <= iteration.service.keys():
            return  # a member joins in the first computing slot
        ready = max(iteration.service[q][-1] for q in iteration.tasks) + 1
        for slot in range(ready, iteration.start):
            self._enrolled[slot][min(iteration.tasks)] = 0

    def _holds_program(self, q: int, slot: int) -> bool:
        complete = self._program_at.get(q)
        return complete is not None and not (self._instance.states[q, complete:slot] == DOWN).any()
