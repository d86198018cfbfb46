"""When iterations can end: what the arcs of the bound by rents allow (docs/model.md section 3, windows)."""

from __future__ import annotations

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.instance_facts import FAR, Facts
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.levels import BLOCK, Items, cost, find_able

__all__ = ["first_end", "reach"]

#: Boxes that are looked at for the last start of an iteration that ends in a slot.
_MOST_BOXES = 1 << 12


@kernel
def _last_start(facts: Facts, items: Items, free: Ints, t: int, after: int, is_first: bool) -> int:
    """Return the last slot > ``after`` in which an iteration that ends in slot t - 1 may start; ``after`` if none.

    That is, the last start of an arc to t, if each worker may have a W of its own; of the first iteration or of a later
    one, which starts where an iteration can end. Boxes are halved until they have one arc; where that takes too many, a
    box stands for the arc.
    """
    m, n_com, t_data = facts.numbers[1], facts.numbers[2], facts.numbers[4]
    wait = (m * t_data + n_com - 1) // n_com
    box, e, shortest = items.box, t - 1, facts.shortest
    if shortest[t] >= FAR:
        return after
    able = find_able(facts, items, free, e, t - shortest[t])
    best = after
    top = t - shortest[t]
    looked_at = 0
    while top > best + wait:
        box[0, 0], box[0, 1], box[0, 2], box[0, 5] = top, best + 1, 0 if is_first else top - wait, top - BLOCK + 1
        n = 1
        while n > 0:
            n -= 1
            first, last = max(box[n, 1], best + 1), box[n, 2]
            c, soon = box[n, 0], max(box[n, 5], first + wait)
            last = min(last, c - wait)
            if first > last or soon > c:
                continue
            edge = -1
            if not is_first:
                for s in range(first, last + 1):
                    edge = max(edge, s - shortest[s])
                if edge < 0:
                    continue
            items.effort[0] += 4 + able // 4 + (last - first) // 16
            looked_at += 1
            if cost(facts, items, 0, able, able, soon, c, first, edge, 1, e - soon + 1) < 0:
                continue
            if (first == last and soon == c) or looked_at > _MOST_BOXES:
                best = last
                continue
            for j in (0, 1, 2, 5):
                box[n + 1, j] = box[n, j]
            if last > first:
                middle = (first + last) // 2
                box[n, 1], box[n, 2], box[n + 1, 1], box[n + 1, 2] = first, middle, middle + 1, last
            else:
                middle = (soon + c) // 2
                box[n, 5], box[n, 0], box[n + 1, 5], box[n + 1, 0] = soon, middle, middle + 1, c
            n += 2
        top -= BLOCK
    return int(best)


@kernel
def reach(facts: Facts, items: Items, free: Ints, latest: Ints, first: int, stop: int) -> int:
    """Fill ``latest[t]`` for first <= t < stop: the last start of a later iteration that ends before slot t, or -1.

    ``free`` are rents of 0, by life. Returns the effort, in units of four looks at a worker.
    """
    items.effort[0] = 0
    for t in range(first, stop):
        latest[t] = -1 if t == 0 else _last_start(facts, items, free, t, latest[t - 1], False)
    return int(items.effort[0])


@kernel
def first_end(facts: Facts, items: Items, free: Ints, first: int, stop: int) -> int:
    """Return the least t with first <= t < stop before which the first iteration may end, `FAR` if there is none.

    ``free`` are rents of 0, by life. The effort is that of `reach`, in ``items.effort``.
    """
    items.effort[0] = 0
    for t in range(max(1, first), stop):
        if _last_start(facts, items, free, t, -1, True) == 0:
            return t
    return FAR
