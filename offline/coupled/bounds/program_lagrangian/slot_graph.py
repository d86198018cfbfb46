"""The nodes (k, t) of the program Lagrangian: tables of the slots, and the windows within a horizon."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hindsched.instances.array_types import Ints, Reals
from hindsched.instances.coupled.model import Instance
from hindsched.instances.states import DOWN, UP
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.box_search import BoxScratch
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.first_ends import find_first_end, find_latest_starts
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.instance_facts import (
    InstanceFacts,
    find_shortest_spans,
    make_facts,
)
from hindsched.offline.coupled.bounds.sentinels import UNREACHABLE

__all__ = ["SlotGraph", "SlotTables"]

#: Slots tabulated between two looks at the clock.
_SLOTS_AT_ONCE = 16


class SlotTables:
    """Tables of an instance's first slots that do not depend on the horizon.

    Parameters
    ----------
    instance
        With T_prog >= 1.
    slots
        Number of slots.

    Attributes
    ----------
    first_end
        Least number of slots after which the first iteration can be complete.
    latest
        ``latest[t]`` is the last start of a later iteration that ends before slot t, -1 if there is none.
    owner, first, last
        Worker, first and last slot of each availability period.
    least_work
        The least W within which all workers together compute m tasks.
    """

    def __init__(self, instance: Instance, slots: int) -> None:
        self.instance, self.slots = instance, slots
        numbers = (instance.num_workers, instance.tasks, instance.channels, instance.t_prog, instance.t_data)
        states = instance.prefix(slots).T
        up = (states == UP).astype(np.int8) + 2 * (states == DOWN).astype(np.int8)
        max_tasks = np.minimum(np.array(instance.capacities, np.int64), instance.tasks)
        self.facts: InstanceFacts = make_facts(
            np.array(numbers, np.int64), np.array(instance.w, np.int64), max_tasks, up
        )
        self.first_end = UNREACHABLE
        self.latest = np.full(slots + 1, -1, np.int64)
        times, workers = np.nonzero(self.facts.period >= 0)
        periods = self.facts.period[times, workers]
        count = int(self.facts.period.max(initial=-1)) + 1
        self.owner, self.last = np.zeros((2, count), np.int64)
        self.owner[periods], self.last[periods] = workers, times  # the last assignment to a period counts
        self.first = self.facts.period_start[self.last, self.owner].astype(np.int64)
        self.least_work = self._least_work(max_tasks)

    def _least_work(self, max_tasks: Ints) -> int:
        w = self.facts.w
        low, high = 0, int((w * max_tasks).max())
        while high - low > 1:
            middle = (low + high) // 2
            if int(np.minimum(max_tasks, middle // w).sum()) >= self.instance.tasks:
                high = middle
            else:
                low = middle
        return high

    def fill(self, scratch: BoxScratch) -> Iterator[int]:
        """Fill the tables, a few slots at a time; yield the effort."""
        for first in range(0, self.slots, _SLOTS_AT_ONCE):
            stop = min(self.slots, first + _SLOTS_AT_ONCE)
            find_shortest_spans(self.facts, first, stop)
            yield (stop - first) * self.instance.num_workers
        zeros = np.zeros(len(self.owner), np.int64)
        for first in range(0, self.slots + 1, _SLOTS_AT_ONCE):
            stop = min(self.slots + 1, first + _SLOTS_AT_ONCE)
            self.first_end = find_first_end(self.facts, scratch, zeros, first, stop)
            yield int(scratch.effort[0])
            if self.first_end < UNREACHABLE:
                break
        for first in range(0, self.slots + 1, _SLOTS_AT_ONCE):
            stop = min(self.slots + 1, first + _SLOTS_AT_ONCE)
            yield find_latest_starts(self.facts, scratch, zeros, self.latest, first, stop)

    def ends_from(self, starts: Ints) -> Ints:
        """Return for each start the least slot before which a later iteration ends; ``slots + 1`` if none ends."""
        return np.searchsorted(self.latest, starts)

    def first_ends(self) -> Ints:
        """Return the same for all starts 0..slots; in slot 0 the first iteration starts."""
        ends = self.ends_from(np.arange(self.slots + 1))
        ends[0] = min(self.first_end, self.slots + 1)
        return ends

    def up_slots(self, low: Ints | int, high: Ints | int) -> Ints:
        """Return the UP slots of each period in slots low..high-1."""
        start = np.maximum(low, self.first)
        stop = np.maximum(start, np.minimum(high, self.last + 1))
        before = self.facts.up_before
        return (before[stop, self.owner] - before[start, self.owner]).astype(np.int64)

    def nbytes(self) -> int:
        """Return the memory taken, in bytes."""
        return sum(array.nbytes for array in self.facts) + 3 * self.owner.nbytes


class SlotGraph:
    """The nodes (k, t) within a horizon, for t from ``early[k]`` to ``late[k]``.

    Parameters
    ----------
    tables
        Tables of at least the horizon's slots.
    iterations
        K.
    horizon
        V.
    earliest, latest
        (K + 1,), limits of the windows, by k. Those of k = 0 and the latest of K are ignored.

    Attributes
    ----------
    is_empty
        Whether some window is empty; ``excluded`` is the bound that this proves.
    can_receive
        ``can_receive[i, l]`` is whether period l can be sent a whole program in iteration i within the horizon.
    """

    def __init__(self, tables: SlotTables, iterations: int, horizon: int, earliest: Ints, latest: Ints) -> None:
        self.tables, self.iterations, self.horizon = tables, iterations, horizon
        self.early, self.late = [0], [horizon]
        for k in range(1, iterations + 1):
            end = tables.first_end if k == 1 else int(tables.ends_from(np.array(self.early[-1])))
            self.early.append(max(int(earliest[k]), end))
            start = int(tables.latest[max(0, self.late[-1])])
            self.late.append(min(int(latest[iterations - k]), start))
        self.late.reverse()
        self.is_empty = any(early > late for early, late in zip(self.early[1:], self.late[1:], strict=True))
        if self.is_empty:
            is_never = any(early > late for early, late in zip(self.early[1:-1], latest[1:-1], strict=True))
            self.excluded = tables.slots + 1 if is_never else min(self.early[-1], tables.slots + 1)
            return
        self.late[0] = 0
        self.can_receive = np.zeros((iterations + 1, len(tables.owner)), bool)
        for i in range(1, iterations + 1):
            room = tables.up_slots(self.early[i - 1], self.late[i] - tables.least_work)
            self.can_receive[i] = (room >= tables.instance.t_prog) & (tables.last >= self.early[i] - 1)

    def multiplier_caps(self, program_values: Ints) -> Ints:
        """Return the largest valid sum of a period's multipliers from each iteration on, which never rises."""
        caps = np.where(self.can_receive, program_values[:, None], UNREACHABLE)
        caps = np.minimum.accumulate(caps, axis=0)
        caps[caps == UNREACHABLE] = 0
        return caps

    def first_shares(self) -> Reals:
        """Return each period's UP slots near the middle of each iteration's window, as shares of their sum."""
        tables = self.tables
        near = np.zeros(self.can_receive.shape)
        for k in range(1, self.iterations + 1):
            low, high = self.early[k - 1] + self.early[k], self.late[k - 1] + self.late[k]
            half = max(10, (self.late[k] - self.early[k - 1]) // 4)
            middle = (low + high) // 4
            near[k] = tables.up_slots(max(0, middle - half), min(tables.slots, middle + half))
        near /= np.maximum(1.0, near.sum(axis=0))
        return near
