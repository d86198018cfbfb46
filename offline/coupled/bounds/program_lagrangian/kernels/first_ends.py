"""First slots in which iterations can end: what the arcs of the slot graph allow (docs/bounds.md, Windows)."""

from __future__ import annotations

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.box_search import (
    BLOCK,
    C_FIRST,
    C_LAST,
    S_FIRST,
    S_LAST,
    BoxScratch,
    box_cost,
    list_candidates,
)
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.instance_facts import InstanceFacts
from hindsched.offline.coupled.bounds.sentinels import UNREACHABLE

__all__ = ["find_first_end", "find_latest_starts"]

#: Boxes examined for one end, after which a box stands for an arc.
_MAX_BOXES = 1 << 12


@kernel
def _last_start(facts: InstanceFacts, scratch: BoxScratch, zeros: Ints, t: int, after: int, is_first: bool) -> int:
    """Return the last slot > ``after`` in which an iteration that ends in slot t - 1 can start; else ``after``.

    Each worker has a W of its own. A later iteration starts where an iteration can end. Boxes are halved until they
    have one arc; after `_MAX_BOXES` a box stands for the arc.
    """
    m, n_com, t_data = facts.numbers[1], facts.numbers[2], facts.numbers[4]
    wait = (m * t_data + n_com - 1) // n_com
    box, e, shortest = scratch.box, t - 1, facts.shortest
    if shortest[t] >= UNREACHABLE:
        return after
    num = list_candidates(facts, scratch, zeros, e, t - shortest[t])
    best = after
    top = t - shortest[t]
    num_boxes = 0
    while top > best + wait:
        box[0, C_FIRST], box[0, C_LAST] = top - BLOCK + 1, top
        box[0, S_FIRST], box[0, S_LAST] = best + 1, 0 if is_first else top - wait
        n = 1
        while n > 0:
            n -= 1
            first, last = max(box[n, S_FIRST], best + 1), box[n, S_LAST]
            c, c_first = box[n, C_LAST], max(box[n, C_FIRST], first + wait)
            last = min(last, c - wait)
            if first > last or c_first > c:
                continue
            old_before = -1
            if not is_first:
                for s in range(first, last + 1):
                    old_before = max(old_before, s - shortest[s])
                if old_before < 0:
                    continue
            scratch.effort[0] += 4 + num // 4 + (last - first) // 16
            num_boxes += 1
            if box_cost(facts, scratch, 0, num, num, c_first, c, first, old_before, 1, e - c_first + 1) < 0:
                continue
            if (first == last and c_first == c) or num_boxes > _MAX_BOXES:
                best = last
                continue
            for j in (C_FIRST, C_LAST, S_FIRST, S_LAST):
                box[n + 1, j] = box[n, j]
            if last > first:
                middle = (first + last) // 2
                box[n, S_FIRST], box[n, S_LAST] = first, middle
                box[n + 1, S_FIRST], box[n + 1, S_LAST] = middle + 1, last
            else:
                middle = (c_first + c) // 2
                box[n, C_FIRST], box[n, C_LAST] = c_first, middle
                box[n + 1, C_FIRST], box[n + 1, C_LAST] = middle + 1, c
            n += 2
        top -= BLOCK
    return int(best)


@kernel
def find_latest_starts(
    facts: InstanceFacts, scratch: BoxScratch, zeros: Ints, latest: Ints, first: int, stop: int
) -> int:
    """Fill ``latest[t]`` for first <= t < stop: the last start of a later iteration that ends before slot t, or -1.

    ``zeros`` are multipliers of 0, by period. Returns the effort, in units of four workers read.
    """
    scratch.effort[0] = 0
    for t in range(first, stop):
        latest[t] = -1 if t == 0 else _last_start(facts, scratch, zeros, t, latest[t - 1], False)
    return int(scratch.effort[0])


@kernel
def find_first_end(facts: InstanceFacts, scratch: BoxScratch, zeros: Ints, first: int, stop: int) -> int:
    """Return the least t in first..stop-1 before which the first iteration can end, `UNREACHABLE` if there is none.

    ``zeros`` are multipliers of 0, by period. The effort is in ``scratch.effort``.
    """
    scratch.effort[0] = 0
    for t in range(max(1, first), stop):
        if _last_start(facts, scratch, zeros, t, -1, True) == 0:
            return t
    return UNREACHABLE
