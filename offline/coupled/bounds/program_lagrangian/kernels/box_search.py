"""Distances of one level of the slot graph: best-first branch and bound over boxes of arcs.

A *box* of arcs to a node (k, e + 1) is a range of compute starts c, of iteration starts s and of W. Its cost is that of
a relaxation with the task counts, programs and old programs of its loosest arc, so it bounds the cost of every arc
(docs/bounds.md). The cheapest box is halved until it has one arc; after ``max_halvings`` it stands for the
arc, which only relaxes. Kernels take more than eight arguments: tuples of numbers would be allocated for each call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.bounds.fractional_knapsack import solve_fractional
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.instance_facts import InstanceFacts, programs_sent
from hindsched.offline.coupled.bounds.sentinels import UNREACHABLE

__all__ = [
    "BLOCK",
    "BoxScratch",
    "Level",
    "box_cost",
    "compute_distances",
    "list_candidates",
    "make_box_scratch",
    "make_level",
    "prepare_level",
]

#: Compute starts of one box at first.
BLOCK = 16
#: Lists of all workers that fit into ``BoxScratch.lists``.
_MAX_LISTS = 16

C_FIRST, C_LAST, S_FIRST, S_LAST, W_FIRST, W_LAST, LIST, LIST_SIZE = range(8)
"""Columns of ``BoxScratch.box``: ranges of c, s and W; begin and length of the box's list of workers."""


class Level(NamedTuple):
    """The nodes (k, t) of one k: their ``distance`` by t, and the box of arcs that gives it."""

    distance: Ints
    c_first: Ints
    c_last: Ints
    s_first: Ints
    s_last: Ints
    w_first: Ints
    w_last: Ints


def make_level(slots: int) -> Level:
    """Return unreachable nodes in slots 0..slots."""
    ints = (np.zeros(slots + 1, np.int64) for _ in range(6))
    return Level(np.full(slots + 1, UNREACHABLE, np.int64), *ints)


class BoxScratch(NamedTuple):
    """Working memory for the boxes of one node.

    ``candidate`` are the workers that are UP in the last slot, ``up_at_start`` and ``up_at_end`` their UP slots before
    their period and up to the last slot, ``cost`` the multipliers of their periods. ``lists`` holds indices of
    candidates: first all, then for each box those with tasks in it; ``listed[0]`` is the length of the newest list.
    ``item``, ``item_tasks`` and ``item_cost`` are the items of a knapsack, ``num_with[x]`` is a number of workers with
    x tasks. ``program_values[-1 - n]`` is the value of the programs sent in n slots; ``old_before[s]`` the slot before
    which a program is old for an iteration that starts in s, negative if none is. ``floor[c]`` is the least distance of
    a start minus the value of the programs sent before c. ``heap_key`` and ``heap_box`` are a heap of rows of ``box``.
    ``effort[0]`` counts units of four workers read.
    """

    candidate: Ints
    up_at_start: Ints
    up_at_end: Ints
    cost: Ints
    item: Ints
    item_tasks: Ints
    item_cost: Ints
    num_with: Ints
    listed: Ints
    lists: Ints
    floor: Ints
    program_values: Ints
    old_before: Ints
    heap_key: Ints
    heap_box: Ints
    box: Ints
    effort: Ints


def make_box_scratch(workers: int, tasks: int, slots: int, max_halvings: int) -> BoxScratch:
    """Return working memory for this many workers, slots, and halvings for a node."""

    def ints(*shape: int) -> Ints:
        return np.zeros(shape, np.int64)

    boxes = slots + max_halvings + 3
    return BoxScratch(
        candidate=ints(workers),
        up_at_start=ints(workers),
        up_at_end=ints(workers),
        cost=ints(workers),
        item=ints(workers),
        item_tasks=ints(workers),
        item_cost=ints(workers),
        num_with=ints(tasks + 1),
        listed=ints(1),
        lists=ints(workers * (_MAX_LISTS + 1)),
        floor=ints(slots + 1),
        program_values=ints(slots + 1),
        old_before=ints(slots + 1),
        heap_key=ints(boxes),
        heap_box=ints(boxes),
        box=ints(boxes, 8),
        effort=ints(1),
    )


@kernel
def list_candidates(facts: InstanceFacts, scratch: BoxScratch, multipliers: Ints, e: int, c: int) -> int:
    """List the workers that are UP in slot e in a period that contains slot c; return their number.

    ``multipliers`` are by period.
    """
    up, period_start = facts.up_before, facts.period_start
    n = 0
    for q in range(facts.numbers[0]):
        a = period_start[e, q]
        if up[e + 1, q] > up[e, q] and a <= c:
            scratch.candidate[n], scratch.up_at_start[n], scratch.up_at_end[n] = q, up[a, q], up[e + 1, q]
            scratch.cost[n] = multipliers[facts.period[e, q]]
            scratch.lists[n] = n
            n += 1
    return n


@kernel
def box_cost(
    facts: InstanceFacts,
    scratch: BoxScratch,
    at: int,
    num: int,
    top: int,
    c_first: int,
    c: int,
    first: int,
    old_before: int,
    low: int,
    high: int,
) -> int:
    """Return the least cost of the members of an iteration in a box, given its loosest values; -1 if there is none.

    The workers are ``lists[at : at + num]``; those with tasks are listed from ``lists[top]`` on. The iteration computes
    from a slot c_first..c on, receives from slot ``first`` on and has a W in low..high. Programs sent before slot
    ``old_before`` are old; it is negative if there are none. The items taken move to the front.
    """
    before, most, w, received = facts.up_before, facts.max_tasks, facts.w, facts.tasks_received
    m, t_prog = facts.numbers[1], facts.numbers[3]
    until = max(0, old_before)
    n = 0
    total = 0
    new = 0
    num_new = 0
    largest = 0
    for i in range(at, at + num):
        j = scratch.lists[i]
        q = scratch.candidate[j]
        at_start = scratch.up_at_start[j]
        since = max(at_start, before[c_first, q])
        if before[c + 1, q] <= since:
            continue
        up = scratch.up_at_end[j] - since
        if up < low:
            continue
        received_slots = before[c, q] - max(at_start, before[first, q])
        lacks_program = before[until, q] - at_start < t_prog
        if lacks_program:
            received_slots -= t_prog
        if received_slots < 0:
            continue
        x = min(most[q], min(high, up) // w[q], received[received_slots])
        if x <= 0:
            continue
        scratch.item[n], scratch.item_tasks[n], scratch.item_cost[n] = q, x, scratch.cost[j]
        scratch.lists[top + n] = j
        n += 1
        total += x
        if lacks_program:
            new += x
            num_new += 1
            scratch.num_with[x] += 1
            largest = max(largest, x)
    scratch.listed[0] = n
    programs = programs_sent(facts, c - first)
    enough = total >= m
    if enough and num_new > programs:
        best = 0
        left = programs
        x = largest
        while left > 0 and x > 0:
            some = min(left, scratch.num_with[x])
            best += some * x
            left -= some
            x -= 1
        enough = total - new + best >= m
    for x in range(largest + 1):
        scratch.num_with[x] = 0
    if not enough:
        return -1
    return solve_fractional(scratch.item, scratch.item_tasks, scratch.item_cost, n, m)


@kernel
def _least_start_distance(distance: Ints, values: Ints, first: int, last: int, c: int) -> int:
    """Return the least distance of a start in slots first..last, minus the value of the programs sent before slot c."""
    shift = values.size - 1 - c
    distances = distance[first : last + 1]
    sent_values = values[first + shift : last + 1 + shift]
    least = UNREACHABLE
    for i in range(distances.size):
        least = min(least, distances[i] - sent_values[i])
    return least


@kernel
def _box_distance(facts: InstanceFacts, scratch: BoxScratch, before: Level, b: int, top: int) -> int:
    """Return a lower bound on the distances that box b gives; shrink it to starts that exist.

    The workers with tasks in it are listed from ``lists[top]`` on if one more list has room behind them.
    """
    box, distance = scratch.box, before.distance
    c_first, c, first, last = box[b, C_FIRST], box[b, C_LAST], box[b, S_FIRST], box[b, S_LAST]
    while first <= last and distance[first] >= UNREACHABLE:
        first += 1
    while first <= last and distance[last] >= UNREACHABLE:
        last -= 1
    if first > last:
        return UNREACHABLE
    box[b, S_FIRST], box[b, S_LAST] = first, last
    old_before = -1
    slots_before = scratch.old_before[first : last + 1]
    for i in range(slots_before.size):
        old_before = max(old_before, slots_before[i])
    base = _least_start_distance(distance, scratch.program_values, first, last, c)
    at, num = box[b, LIST], box[b, LIST_SIZE]
    v = box_cost(facts, scratch, at, num, top, c_first, c, first, old_before, box[b, W_FIRST], box[b, W_LAST])
    if top + scratch.listed[0] + scratch.candidate.size <= scratch.lists.size:
        box[b, LIST], box[b, LIST_SIZE] = top, scratch.listed[0]
    scratch.effort[0] += 4 + num // 4
    return UNREACHABLE if v < 0 else base + v


@kernel
def _push(scratch: BoxScratch, n: int, key: int, b: int) -> None:
    """Push box b to the heap, which has n boxes."""
    keys, ids = scratch.heap_key, scratch.heap_box
    i = n
    while i > 0:
        above = (i - 1) // 2
        if keys[above] <= key:
            break
        keys[i], ids[i] = keys[above], ids[above]
        i = above
    keys[i], ids[i] = key, b


@kernel
def _pop(scratch: BoxScratch, n: int) -> int:
    """Remove the cheapest box from the heap of n boxes and return it."""
    keys, ids = scratch.heap_key, scratch.heap_box
    least = ids[0]
    key, b = keys[n - 1], ids[n - 1]
    i = 0
    while True:
        below = 2 * i + 1
        if below >= n - 1:
            break
        if below + 1 < n - 1 and keys[below + 1] < keys[below]:
            below += 1
        if keys[below] >= key:
            break
        keys[i], ids[i] = keys[below], ids[below]
        i = below
    keys[i], ids[i] = key, b
    return int(least)


@kernel
def _set_node(after: Level, scratch: BoxScratch, t: int, distance: int, b: int) -> None:
    """Set the distance of node t, and box b as its origin."""
    box = scratch.box
    after.distance[t] = distance
    after.c_first[t], after.c_last[t] = box[b, C_FIRST], box[b, C_LAST]
    after.s_first[t], after.s_last[t] = box[b, S_FIRST], box[b, S_LAST]
    after.w_first[t], after.w_last[t] = box[b, W_FIRST], box[b, W_LAST]


@kernel
def prepare_level(
    facts: InstanceFacts,
    scratch: BoxScratch,
    before: Level,
    program_value: int,
    first_start: int,
    last_start: int,
    late: int,
) -> int:
    """Fill ``program_values``, ``old_before`` and ``floor`` for nodes up to slot ``late``; return the effort."""
    m, n_com, t_data = facts.numbers[1], facts.numbers[2], facts.numbers[4]
    wait = (m * t_data + n_com - 1) // n_com
    floor, old_before, values = scratch.floor, scratch.old_before, scratch.program_values
    for s in range(first_start, last_start + 1):
        old_before[s] = -1 if before.distance[s] >= UNREACHABLE else s - facts.shortest[s]
    for n in range(wait, late + 1):
        values[values.size - 1 - n] = program_value * programs_sent(facts, n)
    effort = 0
    for c in range(first_start + wait, late):
        floor[c] = _least_start_distance(before.distance, values, first_start, min(last_start, c - wait), c)
        effort += 1 + (min(last_start, c - wait) - first_start) // 64
    return effort


@kernel
def compute_distances(
    facts: InstanceFacts,
    scratch: BoxScratch,
    before: Level,
    after: Level,
    multipliers: Ints,
    early: int,
    late: int,
    first_start: int,
    last_start: int,
    max_halvings: int,
) -> int:
    """Compute the distances of nodes (k, early..late) from starts first_start..last_start; return the effort.

    ``multipliers`` are those of iteration k, by period. `prepare_level` was called.
    """
    _, m, n_com, _, t_data = facts.numbers
    wait = (m * t_data + n_com - 1) // n_com
    box, floor = scratch.box, scratch.floor
    scratch.effort[0] = 0
    guess = early - 1
    for t in range(early, late + 1):
        e = t - 1
        after.distance[t] = UNREACHABLE
        shortest = facts.shortest[t]
        if shortest >= UNREACHABLE:
            continue
        num = list_candidates(facts, scratch, multipliers, e, e + 1 - shortest)
        used = 0
        best = UNREACHABLE
        # The previous node's arc, shifted, is often near the best one and so prunes most boxes.
        if guess >= early:
            c = after.c_first[guess] + t - guess
            s = min(last_start, max(first_start, after.s_first[guess]))
            if s + wait <= c <= e + 1 - shortest:  # starts of a box may be too late for its first c
                box[0, C_LAST] = box[0, C_FIRST] = c
                box[0, W_FIRST] = box[0, W_LAST] = after.w_last[guess]
                box[0, S_FIRST] = box[0, S_LAST] = s
                box[0, LIST], box[0, LIST_SIZE] = 0, num
                best = _box_distance(facts, scratch, before, 0, num)
                if best < UNREACHABLE:
                    _set_node(after, scratch, t, best, 0)
                    used = 1
        n = 0
        top = num
        c = e + 1 - shortest
        while c >= first_start + wait:
            c_first = max(first_start + wait, c - BLOCK + 1)
            least = UNREACHABLE
            for i in range(c_first, c + 1):
                least = min(least, floor[i])
            if least < best:
                box[used, C_LAST], box[used, S_FIRST], box[used, S_LAST] = c, first_start, min(last_start, c - wait)
                box[used, W_FIRST], box[used, W_LAST], box[used, C_FIRST] = 1, e - c_first + 1, c_first
                box[used, LIST], box[used, LIST_SIZE] = 0, num
                v = _box_distance(facts, scratch, before, used, top)
                if v < best:
                    _push(scratch, n, v, used)
                    n += 1
                    top = max(top, box[used, LIST] + box[used, LIST_SIZE])
                    used += 1
            c = c_first - 1
        num_halved = 0
        while n > 0 and scratch.heap_key[0] < best:
            v = scratch.heap_key[0]
            b = _pop(scratch, n)
            n -= 1
            slots, starts = box[b, C_LAST] - box[b, C_FIRST], box[b, S_LAST] - box[b, S_FIRST]
            works = box[b, W_LAST] - box[b, W_FIRST]
            if num_halved >= max_halvings or (slots == 0 and starts == 0 and works == 0):
                best = v
                _set_node(after, scratch, t, best, b)
                break
            num_halved += 1
            for j in range(8):
                box[used, j] = box[b, j]
            if slots > 0:
                middle = box[b, C_FIRST] + slots // 2
                box[b, C_LAST], box[used, C_FIRST] = middle, middle + 1
                box[b, S_LAST] = min(box[b, S_LAST], middle - wait)
                box[used, W_LAST] = min(box[used, W_LAST], e - middle)
            elif starts >= works:
                middle = box[b, S_FIRST] + starts // 2
                box[b, S_LAST], box[used, S_FIRST] = middle, middle + 1
            else:
                middle = box[b, W_FIRST] + works // 2
                box[b, W_LAST], box[used, W_FIRST] = middle, middle + 1
            for half in (b, used):
                v = _box_distance(facts, scratch, before, half, top)
                if v < best:
                    _push(scratch, n, v, half)
                    n += 1
                    top = max(top, box[half, LIST] + box[half, LIST_SIZE])
            used += 1
        if best < UNREACHABLE:
            guess = t
    return int(scratch.effort[0])
