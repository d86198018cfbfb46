"""The prefetch relaxation of one iteration: the channel limits only the data in all.

A *relaxed iteration* that starts in slot s and ends in slot e has tasks x and a compute start c such that, with
W = max x_q w_q,

1. every member is UP in W common slots of [c, e], the first of them c and the last e, and no member is DOWN in [c, e];
2. with u the UP slots of member q in [s, c) since its last DOWN, u >= x_q T_data and u + credit_q >= T_prog + x_q
   T_data. The *credit* is the number of program slots that q has received by s; a DOWN in [s, e] makes it 0;
3. the sum of min(n_com, number of UP workers) over [s, c) is at least m T_data.

Every iteration of a schedule is a relaxed one (docs/bounds.md, Proposition 2). To decide whether there is one
contains OFF-LINE-COUPLED(mu=1), so it is NP-hard; the search branches over members with a budget of nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hindsched.instances.coupled.model import Instance
from hindsched.instances.states import DOWN, UP
from hindsched.offline.limits import NO_LIMITS, Stopwatch

__all__ = ["Budget", "PrefetchRelaxation", "RelaxedIteration"]

#: Slots of the first and the largest block that `candidates` reads at once, and the limit of its cells.
_FIRST_BLOCK, _LAST_BLOCK, _BLOCK_CELLS = 32, 1024, 4_000_000


@dataclass(frozen=True, slots=True)
class RelaxedIteration:
    """Tasks by worker of an iteration that computes from slot ``start`` on and ends in slot ``end``."""

    tasks: dict[int, int]
    start: int
    end: int


@dataclass(slots=True)
class Budget:
    """Number of nodes that a search may still visit; ``is_spent`` is whether it needed more."""

    nodes: int
    is_spent: bool = False

    def take(self) -> bool:
        """Take one node from the budget; return False if none is left."""
        if self.nodes <= 0:
            self.is_spent = True
            return False
        self.nodes -= 1
        return True


class PrefetchRelaxation:
    """The search for relaxed iterations of one instance; its tables take O(p N).

    Parameters
    ----------
    instance
        The instance.
    watch
        Stops the tables, `candidates` and `search`; None: no limit.

    Raises
    ------
    OutOfTimeError
        When the time is over.
    """

    def __init__(self, instance: Instance, watch: Stopwatch | None = None) -> None:
        self.instance = instance
        self._watch = Stopwatch(NO_LIMITS) if watch is None else watch
        p, slots = instance.states.shape
        is_up = instance.states == UP
        self._is_up = is_up
        self._up = np.zeros((p, slots + 1), dtype=np.int32)  # UP slots before slot t
        np.cumsum(is_up, axis=1, out=self._up[:, 1:])
        self._watch.check()
        downs = np.where(instance.states == DOWN, np.arange(slots, dtype=np.int32), np.int32(-1))
        self._last_down = np.maximum.accumulate(downs, axis=1)  # last DOWN slot <= t, or -1
        self._watch.check()
        self._since_down = self._up[:, 1:] - np.take_along_axis(self._up, self._last_down + 1, axis=1)
        self._watch.check()
        self._words = [int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little") for row in is_up]
        self._room = np.zeros(slots + 1, dtype=np.int64)  # data slots the master can send before slot t
        np.cumsum(np.minimum(is_up.sum(axis=0), instance.channels), out=self._room[1:])
        # nothing longer than N slots can end, which also keeps every number small
        self._t_prog, self._t_data = min(instance.t_prog, slots + 1), min(instance.t_data, slots + 1)
        pairs = [(min(w, slots + 1), cap) for w, cap in zip(instance.w, instance.capacities, strict=True)]
        self._most = [min(cap, slots // (w + self._t_data)) for w, cap in pairs]
        products = {x * w for (w, _), most in zip(pairs, self._most, strict=True) for x in range(1, most + 1)}
        lengths = np.array(sorted(products), dtype=np.int32)
        most, w = np.array(self._most, dtype=np.int32), np.array([w for w, _ in pairs], dtype=np.int32)
        caps = np.minimum(most, lengths[:, None] // w)
        is_long_enough = caps.sum(axis=1) >= instance.tasks
        self._lengths = lengths[is_long_enough]  # all possible W
        self._caps = caps[is_long_enough]  # most tasks of each worker, by W

    def prefetched(self, start: int) -> npt.NDArray[np.int32]:
        """Return the credit at ``start`` of workers that received program in all UP slots since their last DOWN."""
        if start == 0:
            return np.zeros(self.instance.num_workers, dtype=np.int32)
        return np.asarray(self._since_down[:, start - 1])

    def candidates(self, start: int, credit: npt.ArrayLike) -> Iterator[tuple[int, int]]:
        """Yield (e, W) that satisfy a necessary condition, by increasing e, then W; O(p m) per pair.

        The code looks at the clock before each block of slots.

        The condition: each worker on its own can have x_q tasks with W more UP slots after its transfers, all since its
        last DOWN, and these x_q sum to at least m.
        """
        tasks, slots = self.instance.tasks, self.instance.slots
        credit = np.minimum(credit, self._t_prog).astype(np.int32)[:, None]
        lengths = self._lengths[:, None, None]
        position, block = start, _FIRST_BLOCK
        largest = max(1, min(_LAST_BLOCK, _BLOCK_CELLS // max(1, self._caps.size)))
        while position < slots and self._lengths.size:
            self._watch.check()
            ends = slice(position, min(position + min(block, largest), slots))
            usable = np.minimum(
                self._up[:, ends.start + 1 : ends.stop + 1] - self._up[:, [start]], self._since_down[:, ends]
            )
            credited = usable + np.where(self._last_down[:, ends] < start, credit, 0) - self._t_prog
            spare = np.where(self._is_up[:, ends], np.minimum(usable, credited), -1) - lengths
            if self._t_data:
                held = np.minimum(self._caps[:, :, None], np.maximum(spare, 0) // self._t_data)
            else:
                held = np.where(spare >= 0, self._caps[:, :, None], 0)
            before = np.maximum(np.arange(ends.start, ends.stop) + 1 - self._lengths[:, None], start)
            enough = held.sum(axis=1) >= tasks
            enough &= self._room[before] - self._room[start] >= tasks * self._t_data
            for offset, index in np.argwhere(enough.T).tolist():
                yield position + offset, int(self._lengths[index])
            position, block = ends.stop, 2 * block

    def search(
        self, start: int, credit: Sequence[int], end: int, length: int, budget: Budget
    ) -> Iterator[RelaxedIteration]:
        """Yield relaxed iterations with W <= ``length``, at most one per set of members, until the budget is spent.

        The code looks at the clock in each node.

        A node is pruned if its members have fewer than W common UP slots, or if all other workers together cannot hold
        the missing tasks before the first of those slots.
        """
        instance = self.instance
        window = (1 << (end - start + 1)) - 1
        since = np.maximum(self._last_down[:, end] + 1, start).tolist()
        kept = [units if self._last_down[q, end] < start else 0 for q, units in enumerate(credit)]
        caps = [min(most, length // w) for most, w in zip(self._most, instance.w, strict=True)]
        words = {}
        for q in np.flatnonzero(self._is_up[:, end]).tolist():
            word = ((self._words[q] >> start) & window) >> (since[q] - start) << (since[q] - start)
            if caps[q] and word.bit_count() >= length:
                words[q] = word

        def tasks_before(q: int, slot: int) -> int:
            usable = int(self._up[q, slot] - self._up[q, since[q]]) if slot > since[q] else 0
            spare = min(usable, usable + kept[q] - self._t_prog)
            if spare < 0:
                return 0
            return int(min(caps[q], spare // self._t_data)) if self._t_data else int(caps[q])

        def branch(members: list[int], common: int, rest: list[int]) -> Iterator[RelaxedIteration]:
            if not budget.take():
                return
            self._watch.check()
            slot = start + _high_bit(common, length)
            held = {q: tasks_before(q, slot) for q in members}
            if not all(held.values()):
                return  # another node has the same members without the one that can hold nothing
            rest = [q for q in rest if tasks_before(q, slot)]
            missing = instance.tasks - sum(held.values())
            if missing <= 0:
                if self._room[slot] - self._room[start] >= instance.tasks * self._t_data:
                    yield RelaxedIteration(_trimmed(held, -missing), slot, end)
                return
            spare = [tasks_before(q, slot) for q in rest]
            possible = sum(spare)
            for i, q in enumerate(rest):
                if possible < missing:
                    return
                possible -= spare[i]
                if (common & words[q]).bit_count() >= length:
                    yield from branch([*members, q], common & words[q], rest[i + 1 :])

        order = sorted(words, key=lambda q: (-tasks_before(q, end), q))
        for i, q in enumerate(order):
            yield from branch([q], words[q], order[i + 1 :])


def _high_bit(word: int, count: int) -> int:
    """Return the position of the ``count``-th set bit from the top."""
    low, high = 0, word.bit_length()
    while high - low > 1:
        middle = (low + high) // 2
        if (word >> middle).bit_count() >= count:
            low = middle
        else:
            high = middle
    return low


def _trimmed(tasks: dict[int, int], surplus: int) -> dict[int, int]:
    """Return the tasks without ``surplus`` of them, taken from the worker with most each time."""
    trimmed = dict(tasks)
    for _ in range(surplus):
        fullest = max(trimmed, key=lambda q: (trimmed[q], -q))
        trimmed[fullest] -= 1
    return {q: count for q, count in trimmed.items() if count}
