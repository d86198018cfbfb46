"""The nodes of the bound by rents: tables of the slots, whatever the horizon, and the windows within one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hindsched.instances.array_types import Ints
from hindsched.instances.coupled.model import Instance
from hindsched.instances.states import DOWN, UP
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.first_ends import first_end, reach
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.instance_facts import FAR, Facts, make_facts, shorten
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.levels import Items

__all__ = ["Graph", "Tables"]

Reals = NDArray[np.float64]

#: Slots tabulated between two looks at the clock.
_SLOTS_AT_ONCE = 16


class Tables:
    """What the bound knows of an instance in its first slots, whatever the horizon.

    Parameters
    ----------
    instance
        The instance; T_prog >= 1.
    slots
        How many slots are looked at.

    The first iteration may end before slot ``first_end``, not sooner; ``latest[t]`` is the last slot in which a later
    one may start that ends before slot t, -1 if there is none. ``owner``, ``first`` and ``last`` tell of each life
    whose it is and its slots.
    """

    def __init__(self, instance: Instance, slots: int) -> None:
        self.instance, self.slots = instance, slots
        numbers = (instance.num_workers, instance.tasks, instance.channels, instance.t_prog, instance.t_data)
        states = instance.prefix(slots).T
        up = (states == UP).astype(np.int8) + 2 * (states == DOWN).astype(np.int8)
        most = np.minimum(np.array(instance.capacities, np.int64), instance.tasks)
        self.facts: Facts = make_facts(np.array(numbers, np.int64), np.array(instance.w, np.int64), most, up)
        self.first_end = FAR
        self.latest = np.full(slots + 1, -1, np.int64)
        life = self.facts.life
        count = int(life.max(initial=-1)) + 1
        times, workers = np.nonzero(life >= 0)
        ids = life[times, workers]
        self.owner = np.zeros(count, np.int64)
        self.last = np.zeros(count, np.int64)
        self.owner[ids], self.last[ids] = workers, times  # the last of equal places counts
        self.first = self.facts.born[self.last, self.owner].astype(np.int64)
        self.least_work = self._least_work(most)

    def _least_work(self, most: Ints) -> int:
        """Return the least W within which all workers together compute m tasks."""
        w = self.facts.w
        low, high = 0, int((w * most).max())
        while high - low > 1:
            middle = (low + high) // 2
            if int(np.minimum(most, middle // w).sum()) >= self.instance.tasks:
                high = middle
            else:
                low = middle
        return high

    def fill(self, items: Items) -> Iterator[int]:
        """Fill the tables, a few slots at a time; yields the effort."""
        for first in range(0, self.slots, _SLOTS_AT_ONCE):
            stop = min(self.slots, first + _SLOTS_AT_ONCE)
            shorten(self.facts, first, stop)
            yield (stop - first) * self.instance.num_workers
        free = np.zeros(len(self.owner), np.int64)
        for first in range(0, self.slots + 1, _SLOTS_AT_ONCE):
            stop = min(self.slots + 1, first + _SLOTS_AT_ONCE)
            self.first_end = first_end(self.facts, items, free, first, stop)
            yield int(items.effort[0])
            if self.first_end < FAR:
                break
        for first in range(0, self.slots + 1, _SLOTS_AT_ONCE):
            yield reach(self.facts, items, free, self.latest, first, min(self.slots + 1, first + _SLOTS_AT_ONCE))

    def ends_from(self, starts: Ints) -> Ints:
        """Return for each slot the one before which no later iteration ends that starts there.

        One more than the slots known where none ends within them.
        """
        return np.searchsorted(self.latest, starts)

    def first_ends(self) -> Ints:
        """Return the same for each slot known; in slot 0 the first iteration starts."""
        ends = self.ends_from(np.arange(self.slots + 1))
        ends[0] = min(self.first_end, self.slots + 1)
        return ends

    def up_slots(self, low: Ints | int, high: Ints | int) -> Ints:
        """Return the UP slots of each life in slots low..high-1."""
        start = np.maximum(low, self.first)
        stop = np.maximum(start, np.minimum(high, self.last + 1))
        before = self.facts.before
        return (before[stop, self.owner] - before[start, self.owner]).astype(np.int64)

    def nbytes(self) -> int:
        """Memory taken."""
        return sum(array.nbytes for array in self.facts) + 3 * self.owner.nbytes


class Graph:
    """The nodes within a horizon: iterations 1..k end before slot t, for t from ``early[k]`` to ``late[k]``.

    ``sendable[i, l]`` tells whether life l can be sent a whole program in iteration i of a schedule within the horizon.
    Where there are no nodes, ``excluded`` is the bound that this proves.

    Parameters
    ----------
    tables
        Of the horizon's slots at least.
    iterations
        K.
    horizon
        V.
    soonest, latest
        (K + 1,), limits for the slot of a node, by k; those of k = 0 do not count, nor does the latest of K.
    """

    def __init__(self, tables: Tables, iterations: int, horizon: int, soonest: Ints, latest: Ints) -> None:
        self.tables, self.iterations, self.horizon = tables, iterations, horizon
        self.early, self.late = [0], [horizon]
        for k in range(1, iterations + 1):
            end = tables.first_end if k == 1 else int(tables.ends_from(np.array(self.early[-1])))
            self.early.append(max(int(soonest[k]), end))
            back = int(tables.latest[max(0, self.late[-1])])
            self.late.append(min(int(latest[iterations - k]), back))
        self.late.reverse()
        self.is_empty = any(early > late for early, late in zip(self.early[1:], self.late[1:], strict=True))
        if self.is_empty:
            never = any(early > late for early, late in zip(self.early[1:-1], latest[1:-1], strict=True))
            self.excluded = tables.slots + 1 if never else min(self.early[-1], tables.slots + 1)
            return
        self.late[0] = 0
        self.sendable = np.zeros((iterations + 1, len(tables.owner)), bool)
        for i in range(1, iterations + 1):
            room = tables.up_slots(self.early[i - 1], self.late[i] - tables.least_work)
            self.sendable[i] = (room >= tables.instance.t_prog) & (tables.last >= self.early[i] - 1)

    def caps(self, pi: NDArray[np.int64]) -> Ints:
        """Return what the rents of each life from each index on may sum up to: never more for a later one."""
        most = np.where(self.sendable, pi[:, None], FAR)
        most = np.minimum.accumulate(most, axis=0)
        most[most == FAR] = 0
        return most

    def nearness(self) -> Reals:
        """Return each life's UP slots near the middle of each index's window, as shares of their sum."""
        tables = self.tables
        near = np.zeros(self.sendable.shape)
        for k in range(1, self.iterations + 1):
            low, high = self.early[k - 1] + self.early[k], self.late[k - 1] + self.late[k]
            half = max(10, (self.late[k] - self.early[k - 1]) // 4)
            middle = (low + high) // 4
            near[k] = tables.up_slots(max(0, middle - half), min(tables.slots, middle + half))
        near /= np.maximum(1.0, near.sum(axis=0))
        return near
