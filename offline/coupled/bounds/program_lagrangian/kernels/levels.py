"""The compiled side of the bound by rents: one level of the graph at a time, best box first.

A *box* of arcs into a node (k, e + 1) is a range of slots c to compute from, a range of slots in which the iteration
may start, and a range of W. It takes the task counts, the programs and ``old`` of its loosest member (docs/model.md
section 3), so what it costs is at most what any of its arcs costs. The cheapest box is halved until a box of one arc is
the cheapest: then that is the least arc. Where that takes too many halvings, the cheapest box stands for the arc, which
only relaxes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel
from hindsched.offline.coupled.bounds.fractional_knapsack import pay
from hindsched.offline.coupled.bounds.program_lagrangian.kernels.instance_facts import FAR, Facts, programs_sent

__all__ = [
    "Items",
    "Level",
    "cost",
    "find_able",
    "lay_floor",
    "make_items",
    "make_level",
    "sweep",
]

#: Slots c that are looked at together first.
BLOCK = 16
#: Lists of all workers for which there is room, for boxes of one node.
_MOST_LISTS = 16


class Level(NamedTuple):
    """The nodes of one k, and what leads to them.

    ``far[t]`` is the distance of node (k, t); the box that gives it computes from a slot ``soon``..``c`` on, starts in
    a slot ``first``..``last`` and has a W in ``low``..``high``.
    """

    far: Ints
    soon: Ints
    first: Ints
    last: Ints
    c: Ints
    low: Ints
    high: Ints


def make_level(slots: int) -> Level:
    """Room for nodes in slots 0..slots."""
    ints = (np.zeros(slots + 1, np.int64) for _ in range(6))
    return Level(np.full(slots + 1, FAR, np.int64), *ints)


class Items(NamedTuple):
    """Working memory: who is UP in the last slot, the items of a knapsack, tasks by count, and a heap of boxes.

    ``able`` are the workers, ``begun`` and ``ended`` their UP slots before their life and before the end of the last
    slot, ``due`` what their life pays if it computes. ``kept`` holds lists of indices of ``able``: first all, then for
    each box those that have tasks in it; in parts of the box others have none either. ``worth[-1 - n]`` is what the
    programs of n slots of communication are worth, ``edge[s]`` the slot before which a program is old in an iteration
    that starts in slot s, negative if none is or no iteration starts there. A row of ``box`` is c, the first and the
    last start, the least and the greatest W, the soonest c, and where its list in ``kept`` begins and how long it is.
    """

    able: Ints
    begun: Ints
    ended: Ints
    due: Ints
    worker: Ints
    tasks: Ints
    rent: Ints
    counted: Ints
    listed: Ints
    kept: Ints
    floor: Ints
    worth: Ints
    edge: Ints
    key: Ints
    id: Ints
    box: Ints
    effort: Ints


def make_items(workers: int, tasks: int, slots: int, halvings: int) -> Items:
    """Room for so many workers, slots, and halvings for a node."""

    def ints(*shape: int) -> Ints:
        return np.zeros(shape, np.int64)

    boxes = slots + halvings + 3
    return Items(
        able=ints(workers),
        begun=ints(workers),
        ended=ints(workers),
        due=ints(workers),
        worker=ints(workers),
        tasks=ints(workers),
        rent=ints(workers),
        counted=ints(tasks + 1),
        listed=ints(1),
        kept=ints(workers * (_MOST_LISTS + 1)),
        floor=ints(slots + 1),
        worth=ints(slots + 1),
        edge=ints(slots + 1),
        key=ints(boxes),
        id=ints(boxes),
        box=ints(boxes, 8),
        effort=ints(1),
    )


@kernel
def find_able(facts: Facts, items: Items, rents: Ints, e: int, c: int) -> int:
    """List who is UP in slot e and has been alive since slot c or longer; return how many. ``rents`` are by life."""
    up, born = facts.before, facts.born
    n = 0
    for q in range(facts.numbers[0]):
        a = born[e, q]
        if up[e + 1, q] > up[e, q] and a <= c:
            items.able[n], items.begun[n], items.ended[n] = q, up[a, q], up[e + 1, q]
            items.due[n] = rents[facts.life[e, q]]
            items.kept[n] = n
            n += 1
    return n


@kernel
def cost(
    facts: Facts,
    items: Items,
    at: int,
    num: int,
    top: int,
    soon: int,
    c: int,
    first: int,
    edge: int,
    low: int,
    high: int,
) -> int:
    """Return the least rents of an iteration by listed workers, in a box of which the loosest is given; -1: none can.

    The list is ``kept[at : at + num]``; those of it who have tasks are listed from ``kept[top]`` on, as many as
    ``listed`` tells then. The iteration computes from a slot soon..c on, starts in slot ``first`` for what can be
    received, ``edge`` is the slot before which a program is old, negative if none is, W lies in low..high. Items that
    are taken then stand in front.
    """
    before, most, w, received = facts.before, facts.most, facts.w, facts.received
    m, t_prog = facts.numbers[1], facts.numbers[3]
    until = max(0, edge)
    n = 0
    total = 0
    new = 0
    num_new = 0
    largest = 0
    for i in range(at, at + num):
        j = items.kept[i]
        q = items.able[j]
        begun = items.begun[j]
        since = max(begun, before[soon, q])
        if before[c + 1, q] <= since:
            continue
        up = items.ended[j] - since
        if up < low:
            continue
        have = before[c, q] - max(begun, before[first, q])
        lacks_program = before[until, q] - begun < t_prog
        if lacks_program:
            have -= t_prog
        if have < 0:
            continue
        x = min(most[q], min(high, up) // w[q], received[have])
        if x <= 0:
            continue
        items.worker[n], items.tasks[n], items.rent[n] = q, x, items.due[j]
        items.kept[top + n] = j
        n += 1
        total += x
        if lacks_program:
            new += x
            num_new += 1
            items.counted[x] += 1
            largest = max(largest, x)
    items.listed[0] = n
    programs = programs_sent(facts, c - first)
    enough = total >= m
    if enough and num_new > programs:
        best = 0
        left = programs
        x = largest
        while left > 0 and x > 0:
            some = min(left, items.counted[x])
            best += some * x
            left -= some
            x -= 1
        enough = total - new + best >= m
    for x in range(largest + 1):
        items.counted[x] = 0
    if not enough:
        return -1
    return pay(items.worker, items.tasks, items.rent, n, m)


@kernel
def _least(far: Ints, worth: Ints, first: int, last: int, c: int) -> int:
    """Return the least distance of a start in slots first..last, less what programs sent before slot c are worth."""
    shift = worth.size - 1 - c
    fars = far[first : last + 1]
    worths = worth[first + shift : last + 1 + shift]
    least = FAR
    for i in range(fars.size):
        least = min(least, fars[i] - worths[i])
    return least


@kernel
def _value(facts: Facts, items: Items, before: Level, b: int, top: int) -> int:
    """Return the least distance that box b of the heap's storage gives, at most; narrow it to starts that exist.

    Who has tasks in it is listed from ``kept[top]`` on, if there is room for another list behind that.
    """
    box, far = items.box, before.far
    soon, c, first, last = box[b, 5], box[b, 0], box[b, 1], box[b, 2]
    while first <= last and far[first] >= FAR:
        first += 1
    while first <= last and far[last] >= FAR:
        last -= 1
    if first > last:
        return FAR
    box[b, 1], box[b, 2] = first, last
    edge = -1
    edges = items.edge[first : last + 1]
    for i in range(edges.size):
        edge = max(edge, edges[i])
    base = _least(far, items.worth, first, last, c)
    at, num = box[b, 6], box[b, 7]
    v = cost(facts, items, at, num, top, soon, c, first, edge, box[b, 3], box[b, 4])
    if top + items.listed[0] + items.able.size <= items.kept.size:
        box[b, 6], box[b, 7] = top, items.listed[0]
    items.effort[0] += 4 + num // 4
    return FAR if v < 0 else base + v


@kernel
def _push(items: Items, n: int, key: int, b: int) -> None:
    """Put box b into the heap, which has n boxes."""
    keys, ids = items.key, items.id
    i = n
    while i > 0:
        above = (i - 1) // 2
        if keys[above] <= key:
            break
        keys[i], ids[i] = keys[above], ids[above]
        i = above
    keys[i], ids[i] = key, b


@kernel
def _pop(items: Items, n: int) -> int:
    """Take the cheapest box from the heap of n boxes."""
    keys, ids = items.key, items.id
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
def _enter(after: Level, items: Items, t: int, far: int, b: int) -> None:
    """Let box b give node t its distance."""
    box = items.box
    after.far[t] = far
    after.soon[t], after.c[t], after.first[t], after.last[t] = box[b, 5], box[b, 0], box[b, 1], box[b, 2]
    after.low[t], after.high[t] = box[b, 3], box[b, 4]


@kernel
def lay_floor(facts: Facts, items: Items, before: Level, pi: int, first_start: int, last_start: int, late: int) -> int:
    """Fill ``items.worth``, ``items.edge`` and ``items.floor`` for nodes up to slot ``late``; return the effort.

    ``floor[c]`` is the least distance before slot c less what its programs are worth.
    """
    m, n_com, t_data = facts.numbers[1], facts.numbers[2], facts.numbers[4]
    wait = (m * t_data + n_com - 1) // n_com
    floor, edge, worth = items.floor, items.edge, items.worth
    for s in range(first_start, last_start + 1):
        edge[s] = -1 if before.far[s] >= FAR else s - facts.shortest[s]
    for n in range(wait, late + 1):
        worth[worth.size - 1 - n] = pi * programs_sent(facts, n)
    effort = 0
    for c in range(first_start + wait, late):
        floor[c] = _least(before.far, worth, first_start, min(last_start, c - wait), c)
        effort += 1 + (min(last_start, c - wait) - first_start) // 64
    return effort


@kernel
def sweep(
    facts: Facts,
    items: Items,
    before: Level,
    after: Level,
    rents: Ints,
    early: int,
    late: int,
    first_start: int,
    last_start: int,
    halvings: int,
) -> int:
    """Find the distances of nodes (k, early..late) from those of k - 1, in slots first_start..last_start.

    ``rents`` are those of index k, by life. At most ``halvings`` boxes are halved for a node; `lay_floor` was called.
    Returns the effort, in units of four looks at a worker.
    """
    _, m, n_com, _, t_data = facts.numbers
    wait = (m * t_data + n_com - 1) // n_com
    box, floor = items.box, items.floor
    items.effort[0] = 0
    guess = early - 1
    for t in range(early, late + 1):
        e = t - 1
        after.far[t] = FAR
        shortest_ = facts.shortest[t]
        if shortest_ >= FAR:
            continue
        able = find_able(facts, items, rents, e, e + 1 - shortest_)
        used = 0
        best = FAR
        # An arc like the last node's, so that most of the others need not be looked at.
        if guess >= early:
            c = after.soon[guess] + t - guess
            s = min(last_start, max(first_start, after.first[guess]))
            if s + wait <= c <= e + 1 - shortest_:  # a box may start too late for the first of its slots c
                box[0, 0] = box[0, 5] = c
                box[0, 3] = box[0, 4] = after.high[guess]
                box[0, 1] = box[0, 2] = s
                box[0, 6], box[0, 7] = 0, able
                best = _value(facts, items, before, 0, able)
                if best < FAR:
                    _enter(after, items, t, best, 0)
                    used = 1
        n = 0
        top = able
        c = e + 1 - shortest_
        while c >= first_start + wait:
            soon = max(first_start + wait, c - BLOCK + 1)
            least = FAR
            for i in range(soon, c + 1):
                least = min(least, floor[i])
            if least < best:
                box[used, 0], box[used, 1], box[used, 2] = c, first_start, min(last_start, c - wait)
                box[used, 3], box[used, 4], box[used, 5] = 1, e - soon + 1, soon
                box[used, 6], box[used, 7] = 0, able
                v = _value(facts, items, before, used, top)
                if v < best:
                    _push(items, n, v, used)
                    n += 1
                    top = max(top, box[used, 6] + box[used, 7])
                    used += 1
            c = soon - 1
        halved = 0
        while n > 0 and items.key[0] < best:
            v = items.key[0]
            b = _pop(items, n)
            n -= 1
            slots, starts, works = box[b, 0] - box[b, 5], box[b, 2] - box[b, 1], box[b, 4] - box[b, 3]
            if halved >= halvings or (slots == 0 and starts == 0 and works == 0):
                best = v
                _enter(after, items, t, best, b)
                break
            halved += 1
            for j in range(8):
                box[used, j] = box[b, j]
            if slots > 0:
                middle = box[b, 5] + slots // 2
                box[b, 0], box[used, 5] = middle, middle + 1
                box[b, 2] = min(box[b, 2], middle - wait)
                box[used, 4] = min(box[used, 4], e - middle)
            elif starts >= works:
                middle = box[b, 1] + starts // 2
                box[b, 2], box[used, 1] = middle, middle + 1
            else:
                middle = box[b, 3] + works // 2
                box[b, 4], box[used, 3] = middle, middle + 1
            for half in (b, used):
                v = _value(facts, items, before, half, top)
                if v < best:
                    _push(items, n, v, half)
                    n += 1
                    top = max(top, box[half, 6] + box[half, 7])
            used += 1
        if best < FAR:
            guess = t
    return int(items.effort[0])
