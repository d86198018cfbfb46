"""The largest number of tasks that each worker can hold if a computation begins or ends in a given slot.

Let an iteration start in slot s, begin its computation in c and end in e after L computing slots, the first of them c
and the last e. A member q with x_q tasks is UP in all the L slots, and c and e lie in one availability period g of it.
It receives x_q T_data units of data in UP slots of g from s to c - 1, and these and T_prog units of program in UP slots
of g before c, one in a slot. So x_q is at most

- most(q,g,c), the least of mu_q, u / T_data and (u' - T_prog) / T_data, where u counts the UP slots of q in g from s
  to c - 1, and u' those before c;
- most(q,g,L,e), the least of L / w_q and most(q,g,c'), where c' is the L-th last UP slot of q in g up to e: c <= c',
  and most(q,g,c) does not fall with c.

If these sum to less than m over all workers, no iteration begins in c, or ends in e with length L. And c is at most the
*deadline* of (L, e): the last slot c such that the workers with c' >= c can hold m tasks.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from hindsched.instances.coupled.model import Instance
from hindsched.instances.states import DOWN, UP

__all__ = ["Capacities", "Period"]

#: First and last slot of an availability period.
Period = tuple[int, int]
_Key = tuple[int, Period]


class Capacities:
    """The numbers above, for any iteration within the first ``horizon`` slots.

    Parameters
    ----------
    instance
        The instance.
    horizon
        Number of slots that are considered.
    """

    def __init__(self, instance: Instance, horizon: int) -> None:
        self._instance = instance
        states = instance.prefix(horizon)
        self.is_up = states == UP
        self.periods = [_periods(row) for row in states]
        self._up = np.zeros((states.shape[0], states.shape[1] + 1), dtype=np.int64)  # UP slots before slot t
        np.cumsum(self.is_up, axis=1, out=self._up[:, 1:])

    def num_up(self, q: int, first: int, after: int) -> int:
        """Return the number of UP slots of worker q from ``first`` to ``after`` - 1."""
        return int(self._up[q, after] - self._up[q, first])

    def at_begin(self, first: int, latest: int) -> dict[_Key, dict[int, int]]:
        """Return most(q,g,c) by (q, g), then c <= ``latest``, where it is positive and the sum reaches m.

        O(p N) for N slots.
        """
        most: dict[_Key, dict[int, int]] = {}
        total: dict[int, int] = defaultdict(int)
        for q, periods in enumerate(self.periods):
            for period in periods:
                table = most[q, period] = {}
                for c in range(max(period[0], first), min(period[1], latest) + 1):
                    tasks = self._most(q, period, first, c) if self.is_up[q, c] else 0
                    if tasks > 0:
                        table[c] = tasks
                        total[c] += tasks
        enough = {c for c, tasks in total.items() if tasks >= self._instance.tasks}
        return {key: {c: tasks for c, tasks in table.items() if c in enough} for key, table in most.items()}

    def at_end(
        self, first: int, earliest: int, latest: int
    ) -> tuple[dict[_Key, dict[tuple[int, int], int]], dict[tuple[int, int], int]]:
        """Return most(q,g,L,e) by (q, g), then (L, e), and the deadline of each (L, e).

        Only for ends from ``earliest`` to ``latest``, where it is positive and the sum reaches m. O(p m N) for each
        of at most p m lengths.
        """
        lengths = self._lengths(latest - first + 1)
        found: dict[tuple[int, int], list[tuple[int, int, _Key]]] = defaultdict(list)
        for q, periods in enumerate(self.periods):
            for period in periods:
                ups = [t for t in range(max(first, period[0]), min(period[1], latest) + 1) if self.is_up[q, t]]
                for position, e in enumerate(ups):
                    for length in lengths:
                        if e < earliest or length > position + 1:
                            break
                        c = ups[position + 1 - length]
                        tasks = min(self._most(q, period, first, c), length // self._instance.w[q])
                        if tasks > 0:
                            found[length, e].append((c, tasks, (q, period)))
        most: dict[_Key, dict[tuple[int, int], int]] = defaultdict(dict)
        deadline: dict[tuple[int, int], int] = {}
        for pair, entries in found.items():
            missing = self._instance.tasks
            for c, tasks, _ in sorted(entries, reverse=True):
                missing -= tasks
                if missing <= 0:
                    deadline[pair] = c
                    break
            else:
                continue
            for _, tasks, key in entries:
                most[key][pair] = tasks
        return dict(most), deadline

    def _lengths(self, largest: int) -> list[int]:
        pairs = zip(self._instance.w, self._instance.capacities, strict=True)
        return sorted({count * w for w, cap in pairs for count in range(1, min(cap, largest // w) + 1)})

    def _most(self, q: int, period: Period, first: int, c: int) -> int:
        """Return the number of tasks whose data, with the program, worker q can receive before slot c in the period."""
        instance = self._instance
        spare = min(self.num_up(q, max(first, period[0]), c), self.num_up(q, period[0], c) - instance.t_prog)
        if spare < 0:
            return 0
        return min(instance.capacities[q], spare // instance.t_data) if instance.t_data else instance.capacities[q]


def _periods(row: npt.NDArray[np.uint8]) -> list[Period]:
    downs = [-1, *np.flatnonzero(row == DOWN).tolist(), row.size]
    return [(a + 1, b - 1) for a, b in pairwise(downs) if b > a + 1]
