"""What the kernels know of an instance, and in which slots an iteration can end at all (docs/model.md section 3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Int32s, Ints
from hindsched.instances.compiling import kernel

__all__ = ["FAR", "Facts", "make_facts", "programs_sent", "shorten"]

#: Farther than every node: it cannot be reached.
FAR = 1 << 60


class Facts(NamedTuple):
    """What the kernels know of an instance: numbers, and tables of the slots up to a horizon.

    ``numbers`` are p, m, n_com, T_prog and T_data. ``received[n]`` tells how many tasks' data n slots are, ``before[t,
    q]`` how many UP slots worker q has before t, ``born[t, q]`` the first slot of the life that contains t, t + 1 where
    it is DOWN. ``life[t, q]`` is the number of that life, -1 where it is DOWN. ``shortest[t]`` is the least number of
    slots that an iteration which ends with slot t - 1 computes in, `FAR` if none can.
    """

    numbers: Ints
    w: Ints
    most: Ints
    received: Int32s
    before: Int32s
    born: Int32s
    life: Int32s
    shortest: Ints


def make_facts(numbers: Ints, w: Ints, most: Ints, up: np.ndarray) -> Facts:
    """Tabulate the slots of ``up``, a (slots, p) array of 0 (RECLAIMED), 1 (UP) and 2 (DOWN)."""
    slots, workers = up.shape
    before = np.zeros((slots + 1, workers), np.int32)
    np.cumsum(up == 1, axis=0, out=before[1:])
    is_down = up == 2
    marks = np.where(is_down, np.arange(1, slots + 1, dtype=np.int32)[:, None], 0).astype(np.int32)
    born = np.maximum.accumulate(marks, axis=0)
    is_first = ~is_down & np.vstack([np.ones((1, workers), bool), is_down[:-1]])
    number = np.cumsum(is_first.T.ravel()).reshape(workers, slots).T - 1
    life = np.where(is_down, -1, number).astype(np.int32)
    n = np.arange(slots + 1)
    tasks, t_data = int(numbers[1]), int(numbers[4])
    received = np.minimum(n // t_data, tasks).astype(np.int32) if t_data else np.full(slots + 1, tasks, np.int32)
    return Facts(
        numbers,
        w,
        most,
        received,
        before,
        born,
        np.ascontiguousarray(life),
        np.full(slots + 1, FAR, np.int64),
    )


@kernel
def shorten(facts: Facts, first: int, stop: int) -> None:
    """Fill ``facts.shortest`` for ends in first..stop-1: all who are UP in c and e count, with what they compute."""
    before, born, most, w = facts.before, facts.born, facts.most, facts.w
    p, m = facts.numbers[0], facts.numbers[1]
    for e in range(first, stop):
        facts.shortest[e + 1] = FAR
        for c in range(e, -1, -1):
            total = 0
            alive = 0
            for q in range(p):
                if before[e + 1, q] > before[e, q] and born[e, q] <= c:
                    alive += 1
                    if before[c + 1, q] > before[c, q]:
                        total += min(most[q], (before[e + 1, q] - before[c, q]) // w[q])
            if total >= m:
                facts.shortest[e + 1] = e - c + 1
                break
            if alive == 0:
                break


@kernel
def programs_sent(facts: Facts, slots: int) -> int:
    """Return how many programs fit beside the data into so many slots (g); negative where the data do not fit."""
    p, m, n_com, t_prog, t_data = facts.numbers
    return int(min(p, (n_com * slots - m * t_data) // t_prog)) if slots >= t_prog else 0
