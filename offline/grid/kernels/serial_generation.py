"""Kernels of serial schedule generation, of a priority queue, and of the local search over orders.

A profile is a step function: ``busy[i]`` nodes from slot ``at[i]`` to ``at[i + 1]``, and no busy node at the end. All
decisions use integers, and the kernels draw their own random numbers. Three kernels have nine arguments or more, since
bundled arrays slow them down.
"""

from __future__ import annotations

from hindsched.instances.array_types import Ints
from hindsched.instances.compiling import kernel

__all__ = ["below", "generate", "improve", "queue"]


_MODULUS = (1 << 31) - 1


@kernel
def below(state: Ints, bound: int) -> int:
    """Return a random integer below a bound (Lehmer's generator modulo 2^31 - 1, Park and Miller's factor 48271)."""
    state[0] = state[0] * 48271 % _MODULUS
    drawn: int = state[0] * bound // _MODULUS
    return drawn


@kernel
def _cut(at: Ints, busy: Ints, count: int, i: int, slot: int) -> int:
    """Split step i at a slot, unless it begins there; return the number of steps."""
    if at[i] == slot:
        return count
    for k in range(count, i + 1, -1):
        at[k], busy[k] = at[k - 1], busy[k - 1]
    at[i + 1], busy[i + 1] = slot, busy[i]
    return count + 1


@kernel
def generate(
    submit: Ints, width: Ints, length: Ints, nodes: int, order: Ints, starts: Ints, at: Ints, busy: Ints, limit: int
) -> int:
    """Give each job in the order its least start given the earlier ones; return the total wait.

    ``at`` and ``busy`` are scratch of 2 n + 1 places. The kernel stops where the total exceeds the limit.
    """
    at[0], busy[0] = submit[0], 0
    count = 1
    total = 0
    for j in order:
        low, high = 0, count - 1  # the last step that begins by the submission
        while low < high:
            middle = (low + high + 1) >> 1
            if at[middle] <= submit[j]:
                low = middle
            else:
                high = middle - 1
        start = submit[j]
        i = low
        k = i
        while True:
            if busy[k] + width[j] > nodes:
                i = k + 1
                start = at[i]
                k = i
            elif k == count - 1 or at[k + 1] >= start + length[j]:
                break
            else:
                k += 1
        starts[j] = start
        total += start - submit[j]
        if total > limit:
            break
        before = count
        count = _cut(at, busy, count, i, start)
        if count > before:
            i += 1
            k += 1
        if k == count - 1 or at[k + 1] != start + length[j]:
            count = _cut(at, busy, count, k, start + length[j])
        for step in range(i, k + 1):
            busy[step] += width[j]
    return total


@kernel
def queue(
    submit: Ints,
    width: Ints,
    length: Ints,
    nodes: int,
    rank: Ints,
    starts: Ints,
    waiting: Ints,
    ends: Ints,
    nodes_of: Ints,
) -> None:
    """Start jobs that fit, by rank, in each slot in which a job ends or arrives; the last three arrays are scratch."""
    n = len(submit)
    waits, runs, next_job, free = 0, 0, 0, nodes
    while next_job < n or waits > 0:  # ends of active runs: latest first
        now = ends[runs - 1] if runs > 0 else submit[next_job]
        if next_job < n and submit[next_job] < now:
            now = submit[next_job]
        while runs > 0 and ends[runs - 1] <= now:
            runs -= 1
            free += nodes_of[runs]
        while next_job < n and submit[next_job] <= now:
            i = waits
            while i > 0 and rank[waiting[i - 1]] > rank[next_job]:
                waiting[i] = waiting[i - 1]
                i -= 1
            waiting[i] = next_job
            waits += 1
            next_job += 1
        left = 0
        for i in range(waits):
            j = waiting[i]
            if width[j] > free:
                waiting[left] = j
                left += 1
                continue
            starts[j] = now
            free -= width[j]
            place = runs
            while place > 0 and ends[place - 1] < now + length[j]:
                ends[place], nodes_of[place] = ends[place - 1], nodes_of[place - 1]
                place -= 1
            ends[place], nodes_of[place] = now + length[j], width[j]
            runs += 1
        waits = left


@kernel
def _sort(order: Ints, starts: Ints, fixed: int) -> None:
    """Sort all but the first ``fixed`` jobs by start: an insertion sort, as the order is nearly sorted; ties stay."""
    for i in range(fixed + 1, len(order)):
        job = order[i]
        k = i
        while k > fixed and starts[order[k - 1]] > starts[job]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = job


@kernel
def improve(
    submit: Ints,
    width: Ints,
    length: Ints,
    nodes: int,
    fixed: int,
    best: Ints,
    rounds: int,
    temperature: float,
    state: Ints,
    order: Ints,
    trial: Ints,
    starts: Ints,
    at: Ints,
    busy: Ints,
) -> int:
    """Search orders from that of the best starts for a number of rounds; improve ``best`` and return its total wait.

    A move shifts a job to another place of the order: half of the time the larger of two random ones, to a later place.
    It is accepted if the total wait rises by at most a random fraction of a threshold that decreases to 0. The first
    ``fixed`` jobs fit together at their submissions and stay there. The arrays after ``state`` are scratch: one place a
    job, and as in `generate`.
    """
    n = len(submit)
    for j in range(n):
        order[j] = j
    _sort(order, best, fixed)
    total = 0
    for j in range(n):
        total += best[j] - submit[j]
    current = total
    for step in range(rounds):
        a = fixed + below(state, n - fixed)
        if below(state, 2) == 0:
            other = fixed + below(state, n - fixed)
            if width[order[other]] * length[order[other]] > width[order[a]] * length[order[a]]:
                a = other
            if a == n - 1:
                continue
            reach = n - 1 - a
            if below(state, 4) > 0 and reach > 12:
                reach = 12
            b = a + 1 + below(state, reach)
        else:
            reach = n
            if below(state, 4) > 0 and reach > 12:
                reach = 12
            b = a - 1 - below(state, reach)
            if b < fixed:
                continue
        for i in range(n):
            trial[i] = order[i]
        job = order[a]
        if b > a:
            for i in range(a, b):
                trial[i] = order[i + 1]
        else:
            for i in range(a, b, -1):
                trial[i] = order[i - 1]
        trial[b] = job
        slack = int(temperature * (rounds - step) / rounds * below(state, 1024) / 1024)
        found = generate(submit, width, length, nodes, trial, starts, at, busy, current + slack)
        if found <= current + slack:
            current = found
            for i in range(n):
                order[i] = trial[i]
            _sort(order, starts, fixed)
            if found < total:
                total = found
                for i in range(n):
                    best[i] = starts[i]
    return total
