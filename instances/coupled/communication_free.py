"""Schedules of instances without communication, built from their iterations (docs/model.md section 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from hindsched.instances.coupled.model import Instance
from hindsched.instances.coupled.schedule import COMPUTE, ENROLLED_IDLE, NOT_ENROLLED, Configuration, Schedule
from hindsched.instances.errors import InputError
from hindsched.instances.frozen_dict import FrozenDict
from hindsched.instances.states import UP

__all__ = ["Round", "compute_from", "schedule_rounds"]


@dataclass(frozen=True, slots=True)
class Round:
    """One iteration without communication.

    Parameters
    ----------
    tasks
        x_q >= 1 of each member, by worker.
    slots
        The slots in which the computation advances, increasing; the iteration ends with the last.
    """

    tasks: Mapping[int, int]
    slots: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "tasks", FrozenDict(sorted(self.tasks.items())))


def compute_from(instance: Instance, tasks: Mapping[int, int], start: int) -> Round:
    """Return the round in which the members compute in every common UP slot from ``start`` until they are done.

    R4 leaves no other choice: if all workers that hold tasks are UP, they compute.

    Parameters
    ----------
    instance, tasks
        The instance, and x_q >= 1 of each member.
    start
        The round begins with the first common UP slot from here on.

    Raises
    ------
    InputError
        If the members have fewer than W = max x_q w_q common UP slots left.
    """
    members = sorted(tasks)
    length = max(tasks[q] * instance.w[q] for q in members)
    common = np.flatnonzero((instance.states[members, start:] == UP).all(axis=0))[:length] + start
    if common.size < length:
        raise InputError(f"{common.size} common UP slots from slot {start} on, expected {length}")
    return Round(tasks, tuple(common.tolist()))


def schedule_rounds(instance: Instance, rounds: Iterable[Round], slots: int | None = None) -> Schedule:
    """Return the schedule of consecutive rounds. `hindsched.instances.check` decides whether it obeys the rules.

    Parameters
    ----------
    instance, rounds
        The instance, and its iterations in order.
    slots
        Number of slots; None: until the end of the last round.

    Examples
    --------
    >>> pair = Instance.from_letters(["uruu", "uuur"], w=[1, 1], tasks=2)
    >>> schedule_rounds(pair, [compute_from(pair, {0: 1, 1: 1}, 1)]).letters
    ('..C', '..C')
    """
    rounds = list(rounds)
    if slots is None:
        slots = rounds[-1].slots[-1] + 1 if rounds else 0
    letters = np.full((instance.num_workers, slots), NOT_ENROLLED, dtype="U1")
    for one in rounds:
        for q in one.tasks:
            letters[q, one.slots[0] : one.slots[-1] + 1] = ENROLLED_IDLE
            letters[q, list(one.slots)] = COMPUTE
    entries = tuple(Configuration(one.slots[0], one.tasks) for one in rounds)
    return Schedule(instance.fingerprint, tuple("".join(row) for row in letters.tolist()), entries)
